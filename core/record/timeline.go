package record

import (
	"encoding/json"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// Outcome of an interaction.
type Outcome string

// The outcomes. A record exists only once something was dispatched.
const (
	// Succeeded: dispatched, completed and observed.
	Succeeded Outcome = "succeeded"
	// Degraded: dispatched, but the observation or the record is incomplete.
	Degraded Outcome = "degraded"
	// Failed: dispatched, then failed.
	Failed Outcome = "failed"
)

// Interaction is the record of one dispatched action.
type Interaction struct {
	ID        id.Interaction `json:"interaction_id"`
	SessionID id.Session     `json:"session_id"`
	TargetID  id.Target      `json:"target_id"`
	Operation string         `json:"operation"`
	// Parameters are sanitized: no typed text, selected values, paths, scripts or cookies.
	Parameters   json.RawMessage    `json:"parameters,omitempty"`
	StartedNS    clock.SessionTime  `json:"started_ns"`
	DispatchedNS clock.SessionTime  `json:"dispatched_ns"`
	CompletedNS  *clock.SessionTime `json:"completed_ns,omitempty"`
	ObservedNS   *clock.SessionTime `json:"observed_ns,omitempty"`
	Outcome      Outcome            `json:"outcome"`
	ErrorCode    string             `json:"error_code,omitempty"`
	Navigation   id.Navigation      `json:"nav_id,omitempty"`
	Batch        id.Batch           `json:"batch_id,omitempty"`
	GapWarnings  []id.Gap           `json:"gap_warnings,omitempty"`
	// PageAffecting interactions are candidates for the default anchor.
	PageAffecting bool `json:"page_affecting"`
}

// End is the observation time, else completion, else dispatch.
func (i Interaction) End() clock.SessionTime {
	switch {
	case i.ObservedNS != nil:
		return *i.ObservedNS
	case i.CompletedNS != nil:
		return *i.CompletedNS
	}
	return i.DispatchedNS
}

// Navigation is one navigation of a page's main document.
type Navigation struct {
	ID        id.Navigation      `json:"nav_id"`
	SessionID id.Session         `json:"session_id"`
	TargetID  id.Target          `json:"target_id"`
	StartNS   clock.SessionTime  `json:"start_ns"`
	CommitNS  *clock.SessionTime `json:"commit_ns,omitempty"`
	DOMNS     *clock.SessionTime `json:"dom_ns,omitempty"`
	LoadNS    *clock.SessionTime `json:"load_ns,omitempty"`
	// State is started, committed, dom, complete or failed.
	State string `json:"state"`
	// Kind is document, same_document, reload or history.
	Kind string `json:"kind"`
	// URL is a summary without path, query or fragment.
	URL json.RawMessage `json:"url,omitempty"`
}

// Marker is a caller-supplied label.
type Marker struct {
	ID        id.Marker         `json:"marker_id"`
	SessionID id.Session        `json:"session_id"`
	TargetID  id.Target         `json:"target_id"`
	AtNS      clock.SessionTime `json:"at_ns"`
	Kind      string            `json:"kind"`
	Label     string            `json:"label"`
}

// Observer is an interval in which this program itself ran work in the page or its renderer.
type Observer struct {
	SessionID id.Session        `json:"session_id"`
	TargetID  id.Target         `json:"target_id"`
	StartNS   clock.SessionTime `json:"start_ns"`
	EndNS     clock.SessionTime `json:"end_ns"`
	// Kind is snapshot, screenshot, evaluate, hit_test, wait, rendezvous or query.
	Kind string `json:"kind"`
}

// Severity orders events.
type Severity string

// Severities from low to high.
const (
	Debug   Severity = "debug"
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Rank is 0 for debug up to 3 for error; unknown severities rank as info.
func (s Severity) Rank() int {
	switch s {
	case Debug:
		return 0
	case Warning:
		return 2
	case Error:
		return 3
	}
	return 1
}

// EventClass groups events.
type EventClass string

// The classes of browser events.
const (
	ClassConsole       EventClass = "console"
	ClassException     EventClass = "exception"
	ClassRequest       EventClass = "request"
	ClassResponse      EventClass = "response"
	ClassRequestFailed EventClass = "request_failed"
	ClassNavigation    EventClass = "navigation"
	ClassLifecycle     EventClass = "lifecycle"
	ClassTarget        EventClass = "target"
	ClassVisibility    EventClass = "visibility"
	ClassDialog        EventClass = "dialog"
	ClassDownload      EventClass = "download"
)

// Event is one timestamped observation of an evidence source.
type Event struct {
	SessionID id.Session `json:"session_id"`
	TargetID  id.Target  `json:"target_id"`
	// Source names the evidence adapter; "browser" for the built-in one.
	Source string `json:"source"`
	// Sequence orders the events of one source in one session; assigned by the source, starts at 1.
	Sequence uint64            `json:"sequence"`
	AtNS     clock.SessionTime `json:"at_ns"`
	Class    EventClass        `json:"class"`
	Severity Severity          `json:"severity"`
	// Payload is a bounded (8 KiB), redacted JSON object.
	Payload json.RawMessage `json:"payload"`
}

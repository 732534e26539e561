// Package record is the vocabulary of recorded evidence and the ports through which it is written and read.
//
// Evidence belongs to one session and mostly to one target. All times are session times in nanoseconds
// (clock.SessionTime) unless a name says otherwise. Values are plain data: they are copied freely and
// never changed after they were handed to a sink.
package record

import (
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// Ownership says who started the browser.
type Ownership string

// The two kinds of ownership.
const (
	// Managed browsers were launched by this program and are ended by it.
	Managed Ownership = "managed"
	// Attached browsers belong to somebody else and are only ever detached from.
	Attached Ownership = "attached"
)

// Session is one recording session, from a browser connection to its end.
type Session struct {
	ID        id.Session `json:"session_id"`
	Ownership Ownership  `json:"ownership"`
	Browser   Browser    `json:"browser"`
	// Profile is the managed profile's name, "temporary", or "" for attached browsers.
	Profile   string             `json:"profile,omitempty"`
	StartedAt time.Time          `json:"started_at"`
	EndedAt   *time.Time         `json:"ended_at,omitempty"`
	EndedNS   *clock.SessionTime `json:"ended_ns,omitempty"`
	Capture   CaptureConfig      `json:"capture"`
	// Focus is the immutable focus policy: foreground or preserve.
	Focus        string   `json:"focus"`
	DiskBudget   int64    `json:"disk_budget_bytes"`
	Capabilities []string `json:"capabilities,omitempty"`
	// LastSelected is the page that was selected when the session ended (or is selected now).
	LastSelected id.Target `json:"last_selected,omitempty"`
}

// Browser identifies the recorded browser build.
type Browser struct {
	Product         string `json:"product"`
	ProtocolVersion string `json:"protocol_version"`
	Revision        string `json:"revision,omitempty"`
	JSVersion       string `json:"js_version,omitempty"`
	Headless        bool   `json:"headless"`
}

// CaptureConfig is the immutable capture configuration of a session.
type CaptureConfig struct {
	// EveryNthFrame is the requested relative stride, 1..60. It is a request to Chrome, not a frame rate.
	EveryNthFrame int `json:"every_nth_frame"`
	// Size is balanced (fits 1280x1280), fast (960x960) or full.
	Size string `json:"capture_size"`
	// Format is jpeg or png, as requested; each frame carries what its bytes say.
	Format string `json:"format"`
	// Quality is the requested JPEG quality, 0..100.
	Quality int `json:"quality"`
}

// Target is one page of a session.
type Target struct {
	ID        id.Target         `json:"target_id"`
	SessionID id.Session        `json:"session_id"`
	Opener    id.Target         `json:"opener,omitempty"`
	CreatedNS clock.SessionTime `json:"created_ns"`
	// ClosedNS is absent while the page lives.
	ClosedNS *clock.SessionTime `json:"closed_ns,omitempty"`
	// Name is a short label of the page for lists: origin only, never a path or title.
	Name string `json:"name,omitempty"`
}

// ClockSample pairs the wall clock with session time, so that wall-clock anchors can be resolved
// across suspends and clock jumps.
type ClockSample struct {
	SessionID id.Session        `json:"session_id"`
	WallNS    int64             `json:"wall_unix_ns"`
	AtNS      clock.SessionTime `json:"at_ns"`
}

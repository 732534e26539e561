package page

import (
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// StartRequest launches a browser and begins a session.
type StartRequest struct {
	URL           string `json:"url,omitempty" maxlen:"65536"`
	Profile       string `json:"profile,omitempty" doc:"a name, or temporary; default: the first free managed one" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$"`
	Executable    string `json:"executable,omitempty" doc:"path of a Chrome" maxlen:"4096"`
	EveryNthFrame int    `json:"every_nth_frame,omitempty" doc:"frame stride, not a rate" min:"1" max:"60" default:"1"`
	Focus         string `json:"focus,omitempty" doc:"preserve never brings a page to the front" enum:"foreground,preserve" default:"foreground"`
	Headless      string `json:"headless,omitempty" doc:"auto: when there is no display" enum:"auto,true,false" default:"auto"`
	Viewport      *Size  `json:"viewport,omitempty"`
	CaptureSize   string `json:"capture_size,omitempty" doc:"longest recorded side: 1280, 960, unscaled" enum:"balanced,fast,full" default:"balanced"`
	Trace         bool   `json:"trace,omitempty" default:"false"`
}

// AttachRequest begins a session with a browser that somebody else started.
type AttachRequest struct {
	Endpoint      string `json:"endpoint" doc:"loopback http or ws address, or port" maxlen:"4096"`
	EveryNthFrame int    `json:"every_nth_frame,omitempty" doc:"frame stride, not a rate" min:"1" max:"60" default:"1"`
	CaptureSize   string `json:"capture_size,omitempty" doc:"longest recorded side: 1280, 960, unscaled" enum:"balanced,fast,full" default:"balanced"`
	Trace         bool   `json:"trace,omitempty" default:"false"`
}

// Size is a width and height in CSS pixels.
type Size struct {
	Width  int `json:"width" min:"1" max:"10000"`
	Height int `json:"height" min:"1" max:"10000"`
}

// StatusRequest asks for the status of browser and recording.
type StatusRequest struct{}

// StopRequest ends the session.
type StopRequest struct{}

// ProfilesRequest lists the managed profiles.
type ProfilesRequest struct{}

// State of the browser session.
type State string

// The states.
const (
	// StateNone: never started, or stopped by request.
	StateNone         State = "none"
	StateConnecting   State = "connecting"
	StateReady        State = "ready"
	StateReconnecting State = "reconnecting"
	StateStopping     State = "stopping"
	// StateEnded: the session ended by itself; its evidence stays readable.
	StateEnded State = "ended"
)

// Status is what browser_status, start_browser and attach_browser answer.
type Status struct {
	State     State      `json:"state"`
	SessionID id.Session `json:"session_id,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	// NowNS is the present session time.
	NowNS     clock.SessionTime `json:"now_ns,omitempty"`
	Ownership record.Ownership  `json:"ownership,omitempty"`
	// Profile is the managed profile's name or temporary.
	Profile string          `json:"profile,omitempty"`
	Browser *record.Browser `json:"browser,omitempty"`
	Focus   string          `json:"focus,omitempty"`
	// Sandbox is on, off or unknown; SandboxReason says why it is off.
	Sandbox       string `json:"sandbox,omitempty"`
	SandboxReason string `json:"sandbox_reason,omitempty"`
	// Rendering is default or swiftshader.
	Rendering string        `json:"rendering,omitempty"`
	Selected  id.Target     `json:"selected,omitempty"`
	PageCount int           `json:"page_count"`
	Dialogs   []PageDialog  `json:"dialogs,omitempty"`
	Capture   CaptureStatus `json:"capture"`
	// Viewports lists the pages whose viewport is overridden.
	Viewports []ViewportOverride `json:"viewport_overrides,omitempty"`
	// Retention is nil when it could not be read.
	Retention *record.RetentionStatus `json:"retention,omitempty"`
	// Discovery tells which installed browsers were looked at; no paths.
	Discovery []InstalledBrowser `json:"discovery,omitempty"`
	// EndCause says why the session ended by itself.
	EndCause *fault.Error `json:"end_cause,omitempty"`
	// Reconnects counts the connections that were restored.
	Reconnects int `json:"reconnects,omitempty"`
	// RecordsEvents says whether browser events are recorded.
	RecordsEvents bool `json:"records_browser_events"`

	Capabilities []CapabilityState `json:"capabilities,omitempty"`
	HiddenTools  []string          `json:"hidden_tools,omitempty"`

	// Pages are shown at expanded and full.
	Pages []Page `json:"pages,omitempty"`
	// Probe is shown at full.
	Probe []ProbeRow `json:"compatibility,omitempty"`

	Warnings []*fault.Error `json:"-"`
	Notes    []string       `json:"-"`
}

// PageDialog names a page with an open dialog, or one whose dialogs are not observed.
type PageDialog struct {
	TargetID id.Target `json:"target_id"`
	// Dialog is alert, confirm, prompt, beforeunload, or unknown.
	Dialog string `json:"dialog"`
}

// CaptureStatus is the capture configuration and the state of every stream.
type CaptureStatus struct {
	record.CaptureConfig
	Targets []CaptureTarget `json:"targets,omitempty"`
}

// CaptureTarget is the state of one page's stream.
type CaptureTarget struct {
	TargetID id.Target `json:"target_id"`
	// State is starting, recording, hidden, failed, limited, crashed, or stopped.
	State string `json:"state"`
	// FramesPerSecond is the cadence observed over the last ten seconds.
	FramesPerSecond float64            `json:"frames_per_second"`
	Received        uint64             `json:"received"`
	Persisted       uint64             `json:"persisted"`
	Dropped         uint64             `json:"dropped"`
	Gaps            uint64             `json:"gaps"`
	LastFrameNS     *clock.SessionTime `json:"last_frame_ns,omitempty"`
	// LagP50MS and LagP95MS are presentation to receipt over the recent frames.
	LagP50MS float64 `json:"lag_p50_ms,omitempty"`
	LagP95MS float64 `json:"lag_p95_ms,omitempty"`
	// AckP50US and AckP99US are receipt to written acknowledgement over the recent frames.
	AckP50US float64      `json:"ack_p50_us,omitempty"`
	AckP99US float64      `json:"ack_p99_us,omitempty"`
	Failure  *fault.Error `json:"first_failure,omitempty"`
	// Histogram counts the intervals between frames; shown at full.
	Histogram []Bucket `json:"cadence_histogram,omitempty"`
}

// Bucket counts the frame intervals up to and including UpToMS milliseconds; 0 is the last, open bucket.
type Bucket struct {
	UpToMS float64 `json:"up_to_ms"`
	Count  uint64  `json:"count"`
}

// ViewportOverride is the emulated viewport of one page.
type ViewportOverride struct {
	TargetID          id.Target `json:"target_id"`
	Intent            string    `json:"intent"`
	Width             int       `json:"width"`
	Height            int       `json:"height"`
	DeviceScaleFactor float64   `json:"device_scale_factor"`
	Mobile            bool      `json:"mobile"`
	Touch             bool      `json:"touch"`
}

// InstalledBrowser is one installed browser that discovery looked at.
type InstalledBrowser struct {
	// Source is explicit, environment, platform, path or testing_cache.
	Source  string `json:"source"`
	Ordinal int    `json:"ordinal"`
	// Outcome is selected, absent, not_executable, timed_out, failed or not_tried.
	Outcome   string `json:"outcome"`
	ElapsedMS int64  `json:"elapsed_ms"`
}

// CapabilityState is a capability and why it is not enabled.
type CapabilityState struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// ProbeRow is one command the program needs.
type ProbeRow struct {
	Command string `json:"command"`
	// Outcome is available, missing, or not_tested when the page did not answer.
	Outcome string `json:"outcome"`
}

// StopResult is the answer of stop_browser.
type StopResult struct {
	// Disposition is closed or detached; empty when the session had already ended.
	Disposition string `json:"disposition,omitempty"`
	// Quality is clean or degraded.
	Quality        string     `json:"quality"`
	SessionID      id.Session `json:"session_id,omitempty"`
	RecordedFrames uint64     `json:"recorded_frames"`
	DroppedFrames  uint64     `json:"dropped_frames"`
	// StartNS and EndNS bound the session's recording.
	StartNS clock.SessionTime `json:"start_ns"`
	EndNS   clock.SessionTime `json:"end_ns"`
	// Stage and Cause name the first failure of a degraded stop.
	Stage string       `json:"stage,omitempty"`
	Cause *fault.Error `json:"cause,omitempty"`
	// Zombies counts ended browser processes that nobody collects.
	Zombies int `json:"zombie_processes,omitempty"`
	// AlreadyEnded is set when the session had ended by itself before.
	AlreadyEnded bool `json:"already_ended,omitempty"`
}

// Profile is one managed profile.
type Profile struct {
	Name  string `json:"name"`
	InUse bool   `json:"in_use"`
}

// Profiles is the answer of list_managed_profiles.
type Profiles struct {
	Profiles []Profile `json:"profiles"`
}

package session

import (
	"log/slog"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// Deps are what a Browser is made of.
type Deps struct {
	Clock  clock.Clock
	Frames record.FrameSink
	Facts  record.FactSink
	Admin  record.Admin
	Logger *slog.Logger
	// ProfileRoot is the folder of the managed profiles.
	ProfileRoot string
	// Executable is the operator's browser (KROMETRAIL_CHROME), "" for discovery.
	Executable string
	Sandbox    chrome.SandboxMode
	// Getenv reads the environment: PATH, HOME, DISPLAY and WAYLAND_DISPLAY.
	Getenv func(string) string
	// DiskBudget and Capabilities are noted in the session's record.
	DiskBudget int64
	// CaptureOff leaves the pages' pictures unrecorded.
	CaptureOff    bool
	Capabilities  []string
	RecordsEvents bool
	// AckLimit is how long a browser may take to answer the acknowledgement of a frame before the stream ends; 0 means
	// cdp.AckLimit. Machines with much more to do than they can need longer.
	AckLimit time.Duration
	// Subsystems are started with each session, in this order, and follow its pages.
	Subsystems []Subsystem
	// Launch replaces the start of a browser in tests; nil means a real one.
	Launch func(chrome.Config) (Process, error)
}

// Launched is what is told about a launched browser: its process, for the profile it owns, and how it draws.
type Launched interface {
	PID() int
	// Rendering names the way of drawing the browser was launched with.
	Rendering() string
}

// Process is a launched browser.
type Process interface {
	Launched
	Transport() cdp.Transport
	// Exited is closed when the browser has ended.
	Exited() <-chan struct{}
	// Failure says why the browser could not be used.
	Failure() error
	// End ends the browser and all its processes.
	End(polite bool) chrome.Leftover
}

// Started describes a session to its subsystems.
type Started struct {
	Session id.Session
	Clock   clock.Session
	Browser *page.Browser
	// Facts queues and never blocks.
	Facts record.FactSink
	URLs  *redact.Key
	// Managed browsers were launched by this program; settings of others are not touched.
	Managed bool
}

// Subsystem takes part in sessions, for example by recording events.
type Subsystem interface {
	// Begin is called when the browser has been connected and no page is attached yet, again after each
	// reconnect. The observer follows the pages of this connection; nil for none. It must not wait.
	Begin(s Started) target.Observer
	// End is called when the session is over and the connection is still open or already lost.
	End(s id.Session)
}

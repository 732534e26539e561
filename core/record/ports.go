package record

import (
	"context"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// Fact is anything but frames and events that is put on the timeline. A later Put of the same identity
// replaces the earlier value (an interaction that completes, a gap that ends, a session that stops).
type Fact interface{ fact() }

func (Session) fact()     {}
func (Target) fact()      {}
func (Gap) fact()         {}
func (Interaction) fact() {}
func (Navigation) fact()  {}
func (Marker) fact()      {}
func (Observer) fact()    {}
func (ClockSample) fact() {}

// FrameSink takes captured frames. One goroutine per target calls it; different targets may overlap.
type FrameSink interface {
	// AppendFrame stores one frame whose pixels arrive as Chrome sent them, base64 in standard encoding.
	// The payload is only valid during the call. On return the bytes are in the segment file (not yet
	// necessarily on the platter) and the row will become visible after it. The stored frame carries its
	// sniffed format, size, segment and offset. Errors are faults: persistence_failed, budget_exhausted,
	// resource_limit_exceeded (payload above 16 MiB), invalid_input (not base64, no known image header).
	AppendFrame(ctx context.Context, f Frame, payload []byte) (Frame, error)
}

// FactSink puts facts on the timeline. Put returns once the facts are queued in order; they are visible
// after the next Barrier. Safe for concurrent use.
type FactSink interface {
	Put(ctx context.Context, facts ...Fact) error
}

// EventSink takes events of any evidence source in batches. It cannot touch frames or interactions.
type EventSink interface {
	AppendEvents(ctx context.Context, events []Event) error
}

// Barrier makes everything accepted before the call visible to readers.
type Barrier interface {
	Barrier(ctx context.Context) error
}

// Window selects one target's stretch of time, both ends inclusive.
type Window struct {
	SessionID id.Session
	TargetID  id.Target
	StartNS   clock.SessionTime
	EndNS     clock.SessionTime
}

// SessionReader lists what is retained.
type SessionReader interface {
	// Sessions returns the retained sessions of this process, newest first.
	Sessions(ctx context.Context) ([]Session, error)
	// Session returns one session; not_found when it is unknown or deleted.
	Session(ctx context.Context, s id.Session) (Session, error)
	// Targets returns the session's targets in creation order.
	Targets(ctx context.Context, s id.Session) ([]Target, error)
	// ClockSamples returns the samples of a session in time order.
	ClockSamples(ctx context.Context, s id.Session) ([]ClockSample, error)
}

// TimelineReader reads facts of one target. Results are in time order.
type TimelineReader interface {
	// Interactions returns the newest n interactions of the session, newest first; target "" means all.
	Interactions(ctx context.Context, s id.Session, t id.Target, n int) ([]Interaction, error)
	// Interaction, Navigation and Marker return one fact, not_found when unknown.
	Interaction(ctx context.Context, i id.Interaction) (Interaction, error)
	Navigation(ctx context.Context, n id.Navigation) (Navigation, error)
	Marker(ctx context.Context, m id.Marker) (Marker, error)
	// Within returns the gaps, interactions, navigations, markers and observers that touch w.
	Within(ctx context.Context, w Window) (Facts, error)
}

// Facts are the facts that touch a window, each list in time order.
type Facts struct {
	Gaps         []Gap
	Interactions []Interaction
	Navigations  []Navigation
	Markers      []Marker
	Observers    []Observer
}

// FrameReader reads frames.
type FrameReader interface {
	// Frames returns up to limit frames whose Time lies in w, in ordinal order, from offset on, and how
	// many there are in all. limit 0 means no limit.
	Frames(ctx context.Context, w Window, offset, limit int) (frames []Frame, total int, err error)
	// Frame returns one frame's metadata; not_found when unknown, range_not_retained when evicted.
	Frame(ctx context.Context, f id.Frame) (Frame, error)
	// CarryIn returns the newest frame whose Time is before t, if it is retained.
	CarryIn(ctx context.Context, s id.Session, target id.Target, t clock.SessionTime) (Frame, bool, error)
	// Pixels returns the encoded image of a frame; evidence_invalidated when it was evicted meanwhile.
	// The caller owns the bytes.
	Pixels(ctx context.Context, f Frame) ([]byte, error)
	// Retained returns the bounds of the target's stored frames and whether older ones were evicted.
	Retained(ctx context.Context, s id.Session, target id.Target) (Retained, error)
}

// Retained bounds what is stored of a target.
type Retained struct {
	Frames   int               `json:"frames"`
	OldestNS clock.SessionTime `json:"oldest_ns"`
	NewestNS clock.SessionTime `json:"newest_ns"`
	// EvictedThroughNS is the newest time that was evicted, nil when nothing was.
	EvictedThroughNS *clock.SessionTime `json:"evicted_through_ns,omitempty"`
}

// EventQuery selects events.
type EventQuery struct {
	Window
	// Classes empty means all.
	Classes     []EventClass
	MinSeverity Severity
	// After pages: only events that come later in the order of EventReader; nil means from the start.
	After *EventKey
	Limit int
}

// EventKey is an event's place in the order of EventReader.
type EventKey struct {
	AtNS     clock.SessionTime
	Source   string
	Sequence uint64
}

// EventReader reads events ordered by time, then source, then sequence.
type EventReader interface {
	// Events returns up to q.Limit events and how many match in all.
	Events(ctx context.Context, q EventQuery) (events []Event, total int, err error)
	// CountEvents counts matches by class.
	CountEvents(ctx context.Context, q EventQuery) (map[EventClass]int, error)
}

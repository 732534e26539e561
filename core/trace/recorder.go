package trace

import (
	"encoding/json"
	"sync"

	"github.com/krometrail/krometrail/core/id"
)

// Recorder is the trace of one opened page. Safe for concurrent use.
type Recorder struct {
	session id.Session
	target  id.Target
	trace   id.Trace
	key     *key

	mu        sync.Mutex
	events    []kept
	bytes     int
	next      uint64
	evicted   uint64
	oversized uint64
	cleared   uint64
}

// kept is a retained event, what it looks like in an export, and what validation needs beyond that.
type kept struct {
	event Event
	raw   json.RawMessage
	shape string
}

// NewRecorder starts the trace of one page with a key and an identity of its own.
func NewRecorder(session id.Session, target id.Target) *Recorder {
	return &Recorder{session: session, target: target, trace: id.New[id.Trace](), key: newKey(), next: 1}
}

// ID is the identity of the trace.
func (r *Recorder) ID() id.Trace { return r.trace }

// String is the identity: a recorder that is printed shows nothing of what it holds.
func (r *Recorder) String() string { return string(r.trace) }

// GoString is String.
func (r *Recorder) GoString() string { return r.String() }

// Record keeps one finished action and returns its sequence number. An event above MaxEventBytes takes its
// number and is dropped; the oldest events make room for a new one.
func (r *Recorder) Record(e Entry) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	sequence := r.next
	r.next++
	event := newEvent(r.key, sequence, e)
	raw := event.serialize()
	if raw == nil || len(raw) > MaxEventBytes {
		r.oversized++
		return sequence
	}
	item := kept{event: event, raw: raw}
	if e.Target != nil {
		item.shape = r.key.shape(*e.Target)
	}
	r.makeRoom(len(raw))
	r.events = append(r.events, item)
	r.bytes += len(raw)
	return sequence
}

func (r *Recorder) makeRoom(size int) {
	drop := 0
	for ; drop < len(r.events) && (len(r.events)-drop >= MaxEvents || r.bytes+size > MaxBytes); drop++ {
		r.bytes -= len(r.events[drop].raw)
	}
	r.evicted += uint64(drop)
	// A fresh slice, so that what was dropped is not kept alive by the array.
	if drop > 0 {
		r.events = append(make([]kept, 0, MaxEvents), r.events[drop:]...)
	}
}

// Clear discards the retained events and returns how many they were. Sequence numbers go on.
func (r *Recorder) Clear() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.events)
	r.events, r.bytes = nil, 0
	r.cleared += uint64(n)
	return n
}

// Status is what trace_status answers.
type Status struct {
	Schema         string   `json:"schema"`
	Enabled        bool     `json:"enabled"`
	TraceID        id.Trace `json:"trace_id,omitempty"`
	RetainedEvents int      `json:"retained_events"`
	RetainedBytes  int      `json:"retained_bytes"`
	MaxEvents      int      `json:"max_events"`
	MaxBytes       int      `json:"max_bytes"`
	NextSequence   uint64   `json:"next_sequence"`
	Evicted        uint64   `json:"evicted_events"`
	Oversized      uint64   `json:"oversized_events"`
	Cleared        uint64   `json:"cleared_events"`
	Retention      string   `json:"retention"`
}

// Disabled is the status of a page without a trace.
func Disabled() Status {
	return Status{Schema: Schema, MaxEvents: MaxEvents, MaxBytes: MaxBytes, Retention: Retention}
}

// Status returns the counters.
func (r *Recorder) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.statusLocked()
}

func (r *Recorder) statusLocked() Status {
	s := Disabled()
	s.Enabled, s.TraceID = true, r.trace
	s.RetainedEvents, s.RetainedBytes, s.NextSequence = len(r.events), r.bytes, r.next
	s.Evicted, s.Oversized, s.Cleared = r.evicted, r.oversized, r.cleared
	return s
}

// Export is what trace_export and final_trace answer. Without an action in between two exports are equal to
// the byte; serialized it has at most MaxExport bytes.
type Export struct {
	Schema          string            `json:"schema"`
	TraceID         id.Trace          `json:"trace_id"`
	SessionID       id.Session        `json:"session_id"`
	TargetID        id.Target         `json:"target_id"`
	RetainedEvents  int               `json:"retained_events"`
	RetainedBytes   int               `json:"retained_bytes"`
	MaxEvents       int               `json:"max_events"`
	MaxBytes        int               `json:"max_bytes"`
	NextSequence    uint64            `json:"next_sequence"`
	Evicted         uint64            `json:"evicted_events"`
	Oversized       uint64            `json:"oversized_events"`
	Cleared         uint64            `json:"cleared_events"`
	Retention       string            `json:"retention"`
	RedactionPolicy string            `json:"redaction_policy"`
	Events          []json.RawMessage `json:"events"`
}

// Export returns the retained events, oldest first, with the counters of the same moment.
func (r *Recorder) Export() Export {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.statusLocked()
	x := Export{
		Schema: Schema, TraceID: r.trace, SessionID: r.session, TargetID: r.target,
		RetainedEvents: s.RetainedEvents, RetainedBytes: s.RetainedBytes, MaxEvents: MaxEvents, MaxBytes: MaxBytes, NextSequence: s.NextSequence,
		Evicted: s.Evicted, Oversized: s.Oversized, Cleared: s.Cleared, Retention: Retention, RedactionPolicy: Policy,
		Events: make([]json.RawMessage, 0, len(r.events)),
	}
	for _, e := range r.events {
		x.Events = append(x.Events, e.raw)
	}
	return x
}

package tracing

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/trace"
)

// TraceRequest is the request of trace_status, trace_export and trace_clear.
type TraceRequest struct {
	page.Scope
	SessionID id.Session `json:"session_id,omitempty"`
}

// ValidateRequest is the request of replay_validate.
type ValidateRequest struct {
	page.Scope
	SessionID id.Session `json:"session_id"`
	TraceID   id.Trace   `json:"trace_id"`
	Sequence  uint64     `json:"sequence" min:"1"`
	Confirmed bool       `json:"confirmed,omitempty" doc:"nothing is ever performed" default:"false"`
}

// Validate checks what a schema cannot say.
func (r *ValidateRequest) Validate() error {
	if _, err := id.Parse[id.Session](string(r.SessionID)); err != nil {
		return fault.Input("session_id", err.Error())
	}
	if _, err := id.Parse[id.Trace](string(r.TraceID)); err != nil {
		return fault.Input("trace_id", err.Error())
	}
	if r.Sequence == 0 {
		return fault.Input("sequence", "must be at least 1")
	}
	return nil
}

// Cleared is the result of trace_clear.
type Cleared struct {
	// Discarded is how many events were retained until now.
	Discarded int `json:"discarded_events"`
	trace.Status
}

// Ops are the operations of the capability.
func (t *Tracing) Ops() []capability.Op {
	return []capability.Op{
		capability.Define[TraceRequest, trace.Status](spec("trace_status", "Trace status",
			"Identity and counters of a page's action trace. Tracing is asked for when a page is opened, never afterwards."), t.status),
		capability.Define[TraceRequest, trace.Export](spec("trace_export", "Export a trace",
			"The retained events of a page's action trace: what was done, on which kind of target, with fingerprints of the page before and after. No typed values, paths or page content."), t.export),
		capability.Define[TraceRequest, Cleared](clearing(), t.clear),
		capability.Define[ValidateRequest, trace.Verdict](spec("replay_validate", "Validate a replay",
			"Check whether a traced action would still meet the same page, target and state. Validation only: nothing is performed, confirmed or not."), t.validate),
	}
}

func spec(name, title, summary string) capability.Spec {
	return capability.Spec{
		Name: name, Capability: capability.ActionTrace, Kind: capability.Read, Lane: capability.Observing, Idempotent: true, Title: title, Summary: summary,
	}
}

func clearing() capability.Spec {
	s := spec("trace_clear", "Clear a trace", "Discard the retained events of a page's action trace. The sequence goes on.")
	s.Kind, s.Destructive = capability.Lifecycle, true
	return s
}

// of finds the trace a request is about.
func (t *Tracing) of(ctx context.Context, r *TraceRequest) (*trace.Recorder, error) {
	book, _, err := t.current()
	if err != nil {
		return nil, err
	}
	if r.SessionID != "" && r.SessionID != book.Session() {
		return nil, fault.New(fault.NotFound, "this session has no traces: they end with their session").
			WithRecovery("omit session_id for the running session")
	}
	recorder, _ := t.recorder(ctx, r.Target)
	return recorder, nil
}

func (t *Tracing) traced(ctx context.Context, r *TraceRequest) (*trace.Recorder, error) {
	recorder, err := t.of(ctx, r)
	if err == nil && recorder == nil {
		err = fault.New(fault.NotFound, "this page is not traced").
			WithRecovery("open a page with open_page trace=true; a trace cannot begin afterwards").About(fault.Context{TargetID: r.Target})
	}
	return recorder, err
}

func (t *Tracing) status(ctx context.Context, r *TraceRequest) (capability.Outcome, error) {
	recorder, err := t.of(ctx, r)
	if err != nil {
		return capability.Outcome{Stage: "read"}, err
	}
	if recorder == nil {
		return capability.Outcome{Result: trace.Disabled()}, nil
	}
	return capability.Outcome{Result: recorder.Status()}, nil
}

func (t *Tracing) export(ctx context.Context, r *TraceRequest) (capability.Outcome, error) {
	recorder, err := t.traced(ctx, r)
	if err != nil {
		return capability.Outcome{Stage: "read"}, err
	}
	return capability.Outcome{Result: recorder.Export()}, nil
}

func (t *Tracing) clear(ctx context.Context, r *TraceRequest) (capability.Outcome, error) {
	recorder, err := t.traced(ctx, r)
	if err != nil {
		return capability.Outcome{Stage: "read"}, err
	}
	n := recorder.Clear()
	return capability.Outcome{Result: Cleared{Discarded: n, Status: recorder.Status()}}, nil
}

func (t *Tracing) validate(ctx context.Context, r *ValidateRequest) (capability.Outcome, error) {
	book, clk, err := t.current()
	if err != nil {
		return capability.Outcome{Stage: "read"}, err
	}
	q := trace.Request{SessionID: r.SessionID, TraceID: r.TraceID, Sequence: r.Sequence, Confirmed: r.Confirmed}
	verdict := book.Validate(r.Target, q, trace.Current{})
	if verdict.Refusal != nil && beforeLooking(verdict.Refusal.Drift) {
		return capability.Outcome{Result: verdict}, nil
	}
	now, err := t.look(ctx, clk, r.Target) // a page that cannot be seen is a failure, not a drift
	if err != nil {
		return capability.Outcome{Stage: "observe"}, err
	}
	return capability.Outcome{Result: book.Validate(r.Target, q, now.Current)}, nil
}

// beforeLooking lists the refusals that do not depend on the present page.
func beforeLooking(d trace.Drift) bool {
	return d == trace.CrossSession || d == trace.EventNotRetained || d == trace.UnsupportedAction
}

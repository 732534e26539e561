package control

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

// afterDispatch bounds settling and observing once input was sent, whatever became of the caller.
const afterDispatch = 30 * time.Second

// Kind describes how one operation's interaction is treated.
type Kind struct {
	// Operation is the tool's name.
	Operation string
	// PageAffecting interactions are candidates for the default anchor of temporal questions.
	PageAffecting bool
	// Observe: the answer carries a live observation.
	Observe bool
}

// Result is what a state-changing operation answers: the live observation and, where the operation has
// one, its own outcome.
type Result struct {
	*page.Observation
	Action any `json:"action,omitempty"`
}

// Tracer is told of every action of a traced page. Both calls are made for every traceable action that
// reached a live page; a nil result of Before means that the page is not traced.
type Tracer interface {
	Before(ctx context.Context, a Action) func(ctx context.Context, p Prepared, err error)
}

// Runner runs interactions. Safe for concurrent use; lanes keep the actions of one page apart.
type Runner struct {
	driver   Driver
	sessions Sessions
	facts    record.FactSink
	tracer   Tracer
	log      *slog.Logger
}

// NewRunner returns a runner. tracer may be nil.
func NewRunner(d Driver, s Sessions, facts record.FactSink, tracer Tracer, log *slog.Logger) *Runner {
	return &Runner{driver: d, sessions: s, facts: facts, tracer: tracer, log: log}
}

// run is one interaction under way.
type run struct {
	*Runner
	kind   Kind
	action Action
	clock  clock.Session
	record record.Interaction
	sent   bool
}

// Do runs one action on a page whose lane the caller holds. The outcome names the interaction also when
// err is not nil.
func (r *Runner) Do(ctx context.Context, k Kind, target id.Target, request any) (capability.Outcome, error) {
	session, clk, err := r.sessions.Current()
	if err != nil {
		return capability.Outcome{Stage: "session"}, err
	}
	x := &run{Runner: r, kind: k, clock: clk, action: Action{
		Operation: k.Operation, SessionID: session, TargetID: target, Request: request,
		Interaction: id.New[id.Interaction](), Observe: k.Observe && !inBatch(ctx), Screenshot: !inBatch(ctx),
	}}
	x.record = record.Interaction{
		ID: x.action.Interaction, SessionID: session, TargetID: target, Operation: k.Operation,
		StartedNS: clk.Now(), PageAffecting: k.PageAffecting, Batch: batchOf(ctx),
	}
	return x.perform(ctx)
}

func (x *run) perform(ctx context.Context) (capability.Outcome, error) {
	var traced func(context.Context, Prepared, error)
	if x.tracer != nil {
		traced = x.tracer.Before(ctx, x.action)
	}
	prepared, out, err := x.attempt(ctx)
	if traced != nil {
		traced(context.WithoutCancel(ctx), prepared, err)
	}
	return out, err
}

func (x *run) attempt(ctx context.Context) (Prepared, capability.Outcome, error) {
	prepared, err := x.driver.Resolve(ctx, x.action)
	if err != nil {
		return nil, x.undispatched("resolve"), x.about(err)
	}
	x.record.Parameters = prepared.Parameters()
	value, err := x.driver.Dispatch(ctx, x.action, prepared, func() { x.begin(ctx) })
	if err != nil && !x.sent {
		return prepared, x.undispatched("dispatch"), x.about(err)
	}
	if !x.sent {
		x.begin(ctx)
	}
	ctx, cancel := clock.WithTimeout(context.WithoutCancel(ctx), x.clock.Clock(), afterDispatch)
	defer cancel()
	return prepared, x.finish(ctx, prepared, value, err), x.aboutSent(err)
}

// begin marks the dispatch and starts the record, so that the frames that follow have their anchor even
// when the program dies now.
func (x *run) begin(ctx context.Context) {
	if x.sent {
		return
	}
	x.sent = true
	x.record.DispatchedNS = x.clock.Now()
	x.record.Outcome = record.Degraded
	_ = x.put(ctx) // told by finish, which writes the record again
}

// finish settles, observes and completes the record.
func (x *run) finish(ctx context.Context, p Prepared, value any, failed error) capability.Outcome {
	// What the dispatch itself learned, such as a confirmed write, belongs to the record too.
	x.record.Parameters = p.Parameters()
	settled, err := x.driver.Settle(ctx, x.action, p)
	x.record.CompletedNS = x.now()
	x.record.Navigation = settled.Navigation
	var out capability.Outcome
	var incomplete *fault.Error
	if err != nil {
		incomplete = fault.From(x.aboutSent(err))
	}
	if !settled.Rendezvous && !settled.DialogOpen && incomplete == nil {
		out.Warnings = append(out.Warnings, unconfirmed(x.action.TargetID))
	}
	if n, ok := value.(interface{ Notices() []*fault.Error }); ok {
		out.Warnings = append(out.Warnings, n.Notices()...)
	}
	result := Result{Action: value}
	if x.action.Observe {
		observation, err := x.driver.Observe(ctx, x.action, p, settled)
		result.Observation = &observation
		out.Warnings = append(out.Warnings, observation.Warnings...)
		incomplete = firstFault(incomplete, x.aboutSent(err), observation.Incomplete)
		x.record.ObservedNS = x.now()
		if observation.Picture != nil {
			out.Pictures = append(out.Pictures, *observation.Picture)
		}
	}
	x.conclude(ctx, &out, incomplete, failed)
	out.Result = result
	return out
}

func (x *run) conclude(ctx context.Context, out *capability.Outcome, incomplete *fault.Error, failed error) {
	x.record.GapWarnings = x.sessions.GapsSince(x.action.TargetID, x.record.StartedNS)
	if err := x.sessions.CaptureFailure(x.action.TargetID); err != nil {
		out.Warnings = append(out.Warnings, fault.From(err))
	}
	x.record.Outcome = record.Succeeded
	switch {
	case failed != nil:
		x.record.Outcome, x.record.ErrorCode = record.Failed, string(fault.CodeOf(failed))
		out.Stage = "dispatch"
	case incomplete != nil:
		x.record.Outcome = record.Degraded
		out.Status, out.Err, out.Stage = capability.Degraded, incomplete, "observe"
	}
	if err := x.put(ctx); err != nil && failed == nil && out.Err == nil {
		out.Status, out.Err, out.Stage = capability.Degraded, fault.From(err), "record"
	}
	out.Interaction = x.ref()
}

func (x *run) now() *clock.SessionTime {
	t := x.clock.Now()
	return &t
}

// put stores the record as it stands. A store that refuses does not undo the action.
func (x *run) put(ctx context.Context) error {
	err := x.facts.Put(context.WithoutCancel(ctx), x.record)
	if err != nil {
		x.log.Warn("interaction record was not stored", "operation", x.kind.Operation, "error", err)
	}
	return err
}

func (x *run) ref() *capability.InteractionRef {
	rec := x.record
	return &capability.InteractionRef{
		ID: rec.ID, SessionID: rec.SessionID, TargetID: rec.TargetID, Operation: rec.Operation, Outcome: rec.Outcome,
		StartedNS: &rec.StartedNS, DispatchedNS: &rec.DispatchedNS, CompletedNS: rec.CompletedNS, ObservedNS: rec.ObservedNS,
		Batch: rec.Batch, Record: &rec,
	}
}

// undispatched names the interaction without times: nothing was sent, so nothing is recorded.
func (x *run) undispatched(stage string) capability.Outcome {
	return capability.Outcome{Stage: stage, Interaction: &capability.InteractionRef{
		ID: x.record.ID, SessionID: x.record.SessionID, TargetID: x.record.TargetID, Operation: x.record.Operation, Batch: x.record.Batch,
	}}
}

func (x *run) about(err error) error {
	if err == nil {
		return nil
	}
	return fault.From(err).About(fault.Context{SessionID: x.action.SessionID, TargetID: x.action.TargetID, InteractionID: x.action.Interaction})
}

// aboutSent is about for failures after dispatch: repeating could act twice.
func (x *run) aboutSent(err error) error {
	if err == nil {
		return nil
	}
	f := fault.From(x.about(err))
	if f.Retry == fault.Safe || f.Recovery == "" {
		f = f.WithRecovery("input was sent; look at the page with snapshot_page before anything else")
	}
	return f.WithRetry(fault.Never)
}

func unconfirmed(t id.Target) *fault.Error {
	return fault.New(fault.CompositorRendezvousUnobserved,
		"the renderer's two animation frames were not seen in time; the picture is not confirmed settled, retained frames are the authority").
		About(fault.Context{TargetID: t})
}

func firstFault(have *fault.Error, err error, more *fault.Error) *fault.Error {
	switch {
	case have != nil:
		return have
	case err != nil:
		return fault.From(err)
	}
	return more
}

// Parameters helps drivers to make the sanitized parameters of a record. A value that cannot be encoded
// is a programming error and gives null.
func Parameters(fields map[string]any) json.RawMessage {
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return raw
}

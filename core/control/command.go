package control

import (
	"context"
	"encoding/json"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Command is an operation on the set of pages: it opens, selects, activates or closes one.
type Command struct {
	Kind
	// Target is the page it is about, "" when it makes one.
	Target     id.Target
	Parameters json.RawMessage
	// Run carries it out. It calls sending right before the first command leaves.
	Run func(ctx context.Context, sending func()) (CommandResult, error)
}

// CommandResult is what became of a command.
type CommandResult struct {
	// Target is the page the record belongs to: the opened, selected, activated or closed one.
	Target id.Target
	// Show is the page to observe afterwards, "" for none.
	Show  id.Target
	Value any
}

// Command runs an operation on the set of pages as an interaction.
func (r *Runner) Command(ctx context.Context, c Command) (capability.Outcome, error) {
	session, clk, err := r.sessions.Current()
	if err != nil {
		return capability.Outcome{Stage: "session"}, err
	}
	x := &run{Runner: r, kind: c.Kind, clock: clk, action: Action{
		Operation: c.Operation, SessionID: session, TargetID: c.Target, Interaction: id.New[id.Interaction](),
		Observe: c.Observe && !inBatch(ctx), Screenshot: !inBatch(ctx),
	}}
	x.record = record.Interaction{
		ID: x.action.Interaction, SessionID: session, TargetID: c.Target, Operation: c.Operation, StartedNS: clk.Now(),
		PageAffecting: c.PageAffecting, Batch: batchOf(ctx), Parameters: c.Parameters,
	}
	return x.command(ctx, c)
}

func (x *run) command(ctx context.Context, c Command) (capability.Outcome, error) {
	sending := func() {
		x.sent = true
		x.record.DispatchedNS = x.clock.Now()
	}
	done, err := c.Run(ctx, sending)
	if err != nil && !x.sent {
		return x.undispatched("dispatch"), x.about(err)
	}
	if !x.sent {
		sending()
	}
	if done.Target != "" {
		x.record.TargetID = done.Target
	}
	ctx, cancel := clock.WithTimeout(context.WithoutCancel(ctx), x.clock.Clock(), afterDispatch)
	defer cancel()
	x.record.Outcome = record.Degraded
	if x.record.TargetID != "" {
		_ = x.put(ctx) // logged there; the final put reports it
	}
	x.action.TargetID = done.Show
	if done.Show == "" {
		return x.unobserved(ctx, done, err), x.aboutSent(err)
	}
	prepared, failed := x.driver.Resolve(ctx, x.action)
	if failed != nil {
		out := x.unobserved(ctx, done, err)
		if err == nil {
			out.Status, out.Err, out.Stage = capability.Degraded, fault.From(x.aboutSent(failed)), "observe"
		}
		return out, x.aboutSent(err)
	}
	return x.finish(ctx, prepared, done.Value, err), x.aboutSent(err)
}

// unobserved completes a command after which there is no page to look at.
func (x *run) unobserved(ctx context.Context, done CommandResult, failed error) capability.Outcome {
	x.record.CompletedNS = x.now()
	out := capability.Outcome{Result: Result{Action: done.Value}}
	x.conclude(ctx, &out, nil, failed)
	return out
}

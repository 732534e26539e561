package control

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/record"
)

// Operations is everything that the control capability's operations work on.
type Operations struct {
	Browser    Browser
	PageList   PageList
	PageSet    PageSet
	Inspection Inspection
	Camera     Camera
	Waiter     Waiter
	Transfers  Transfers
	Runner     *Runner
	Batch      *Batch
	Sessions   Sessions
	Timeline   record.TimelineReader
	Stored     record.SessionReader
	Barrier    record.Barrier
	Admin      record.Admin
	Pictures   Pictures
	// Finish completes a status with what the browser does not know: retention, capabilities, hidden tools.
	Finish StatusFinisher
}

// Ops lists the operations in no particular order.
func (o Operations) Ops() []capability.Op {
	var all []capability.Op
	all = append(all, o.lifecycle()...)
	all = append(all, o.sessions()...)
	all = append(all, o.pages()...)
	all = append(all, o.inspection()...)
	all = append(all, o.interactions()...)
	return append(all, o.transfers()...)
}

// read makes a read-only control operation out of a function that returns its result.
func read[Req, Res any](spec capability.Spec, run func(ctx context.Context, r *Req) (Res, error)) capability.Op {
	spec.Capability, spec.Kind, spec.Idempotent = capability.Control, capability.Read, true
	if spec.Lane == "" {
		spec.Lane = capability.Observing
	}
	return capability.Define[Req, Res](spec, func(ctx context.Context, r *Req) (capability.Outcome, error) {
		result, err := run(ctx, r)
		if err != nil {
			return capability.Outcome{Stage: "read"}, err
		}
		return capability.Outcome{Result: result}, nil
	})
}

// scoped requests know their page by the time an operation runs.
type scoped[Req any] interface {
	*Req
	capability.PageScoped
}

// change makes a state-changing operation that runs through the driver.
func change[Req any, P scoped[Req]](runner *Runner, spec capability.Spec) capability.Op {
	spec.Capability, spec.Kind, spec.Batchable = capability.Control, capability.Change, true
	if spec.Lane == "" {
		spec.Lane = capability.Mutating
	}
	spec.Tiers, spec.Pictures, spec.OpenWorld = true, true, true
	kind := Kind{Operation: spec.Name, PageAffecting: spec.Name != "set_viewport" && spec.Name != "write_clipboard", Observe: true}
	return capability.Define[Req, Result](spec, func(ctx context.Context, r *Req) (capability.Outcome, error) {
		return runner.Do(ctx, kind, P(r).PageTarget(), r)
	})
}

// recorded makes an operation that is recorded but answers without an observation.
func recorded[Req any, P scoped[Req]](runner *Runner, spec capability.Spec) capability.Op {
	spec.Capability, spec.Kind = capability.Control, capability.Recorded
	if spec.Lane == "" {
		spec.Lane = capability.Mutating
	}
	kind := Kind{Operation: spec.Name}
	return capability.Define[Req, Result](spec, func(ctx context.Context, r *Req) (capability.Outcome, error) {
		return runner.Do(ctx, kind, P(r).PageTarget(), r)
	})
}

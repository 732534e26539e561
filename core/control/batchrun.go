package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
)

func stepPath(i int) string { return fmt.Sprintf("steps[%d]", i) }

// batchRun is one batch under way.
type batchRun struct {
	*Batch
	req      *page.BatchRequest
	clock    clock.Session
	result   BatchResult
	failed   *StepResult
	any      bool // a step was dispatched
	pictures []evidence.Picture
	resource []evidence.Resource
	warnings []*fault.Error
}

func (x *batchRun) steps(ctx context.Context) {
	x.result.Outcome = BatchCompleted
	for i, step := range x.req.Steps {
		if skip := x.skipReason(ctx); skip != "" {
			x.result.Steps = append(x.result.Steps, StepResult{Index: i, Tool: step.Tool, Status: "skipped", SkipReason: skip})
			continue
		}
		x.step(capability.WithoutProgress(ctx), i, step)
		capability.Progress(ctx, float64(i+1), float64(len(x.req.Steps)), "steps done")
	}
	x.conclude(ctx)
}

func (x *batchRun) skipReason(ctx context.Context) string {
	switch {
	case x.failed != nil && x.req.OnFailure != "continue":
		return fmt.Sprintf("step %d failed", x.failed.Index)
	case ctx.Err() == nil:
		return ""
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return "the batch's time was over"
	}
	return "the batch was cancelled"
}

func (x *batchRun) step(ctx context.Context, i int, step page.Step) {
	started := x.clock.Now()
	out := x.execute(ctx, step.Tool, x.arguments(step))
	ended := x.clock.Now()
	row := StepResult{
		Index: i, Tool: step.Tool, Status: string(out.Status), StartedNS: &started, EndedNS: &ended,
		Interaction: out.Interaction, Result: out.Result, Error: out.Err,
	}
	if out.Interaction != nil && out.Interaction.DispatchedNS != nil {
		x.any = true
	}
	x.warnings = append(x.warnings, out.Warnings...)
	x.resource = append(x.resource, out.Resources...)
	if x.req.StepScreenshots {
		x.stepPicture(ctx, &row)
	}
	x.result.Steps = append(x.result.Steps, row)
	if out.Status == capability.Failed && x.failed == nil {
		x.failed = &row
	}
}

// arguments gives the step the batch's page unless it names its own or a reference's.
func (x *batchRun) arguments(step page.Step) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(step.Arguments) == 0 {
		fields = map[string]json.RawMessage{}
	} else if json.Unmarshal(step.Arguments, &fields) != nil {
		return step.Arguments // the step's own decoding names what is wrong
	}
	if _, own := fields["target"]; own || x.req.Target == "" || !x.takesTarget(step.Tool) || fields["ref"] != nil {
		return orEmpty(step.Arguments)
	}
	target, err := json.Marshal(x.req.Target)
	if err != nil {
		return orEmpty(step.Arguments)
	}
	fields["target"] = target
	raw, err := json.Marshal(fields)
	if err != nil {
		return orEmpty(step.Arguments)
	}
	return raw
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func (x *batchRun) takesTarget(tool string) bool {
	op, ok := x.registry.Op(tool)
	if !ok {
		return false
	}
	_, scoped := op.NewRequest().(capability.PageScoped)
	return scoped
}

func (x *batchRun) stepPicture(ctx context.Context, row *StepResult) {
	observation, err := x.inspector.Observe(context.WithoutCancel(ctx), x.req.Target, true)
	if err != nil {
		x.warnings = append(x.warnings, fault.From(err))
		return
	}
	row.Screenshot = observation.Shot
	if observation.Picture != nil {
		picture := *observation.Picture
		picture.Role = evidence.RoleBatchStep
		x.pictures = append(x.pictures, picture)
	}
}

func (x *batchRun) conclude(ctx context.Context) {
	late := ctx.Err() != nil
	skipped := len(x.result.Steps) > 0 && x.result.Steps[len(x.result.Steps)-1].Status == "skipped"
	switch {
	case x.failed != nil && x.req.OnFailure != "continue" && !(late && timedOut(x.failed.Error)):
		x.result.Outcome = BatchStopped
	case late && (skipped || x.failed != nil) && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		x.result.Outcome = BatchTimedOut
	case late && (skipped || x.failed != nil):
		x.result.Outcome = BatchCancelled
	case x.failed != nil:
		x.result.Outcome = BatchWithFailures
	}
}

func timedOut(f *fault.Error) bool {
	return f != nil && (f.Code == fault.Cancelled || f.Code == fault.PageUnresponsive || f.Code == fault.WaitTimedOut)
}

// answer adds the final observation and names the first failed step.
func (x *batchRun) answer(ctx context.Context) (capability.Outcome, error) {
	ctx, cancel := clock.WithTimeout(context.WithoutCancel(ctx), x.clock.Clock(), afterDispatch)
	defer cancel()
	observation, err := x.inspector.Observe(ctx, x.req.Target, true)
	out := capability.Outcome{Warnings: append(x.warnings, observation.Warnings...), Pictures: x.pictures, Resources: x.resource}
	if err != nil {
		out.Status, out.Err, out.Stage = capability.Degraded, fault.From(err).WithRetry(fault.Never), "observe"
	} else {
		x.result.Final = &observation
	}
	if observation.Picture != nil {
		picture := *observation.Picture
		picture.Role = evidence.RoleBatchFinal
		out.Pictures = append(out.Pictures, picture)
	}
	out.Result = x.result
	switch x.result.Outcome {
	case BatchCompleted:
		return out, nil
	case BatchWithFailures:
		out.Status, out.Err, out.Stage = capability.Degraded, x.batchFault(), "step"
		return out, nil
	}
	out.Stage = "step"
	return out, x.batchFault()
}

func (x *batchRun) batchFault() *fault.Error {
	retry := fault.Never
	message := "the batch " + map[string]string{BatchTimedOut: "ran out of time", BatchCancelled: "was cancelled"}[x.result.Outcome]
	if x.failed != nil && x.failed.Error != nil {
		message = fmt.Sprintf("step %d (%s) failed: %s: %s", x.failed.Index, x.failed.Tool, x.failed.Error.Code, x.failed.Error.Message)
		retry = x.failed.Error.Retry
	}
	if x.any {
		retry = fault.Never
	}
	f := fault.New(fault.BatchFailed, "%s", message).WithRetry(retry)
	if x.any {
		return f.WithRecovery("steps before it were carried out; look at the page with snapshot_page, then send the remaining steps")
	}
	if x.failed != nil && x.failed.Error != nil && x.failed.Error.Recovery != "" {
		return f.WithRecovery("%s", x.failed.Error.Recovery)
	}
	return f.WithRecovery("correct the step and send the batch again")
}

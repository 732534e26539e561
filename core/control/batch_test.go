package control_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

// stepping scripts the steps of a batch by tool name and notes the arguments they got.
type stepping struct {
	clock *coretest.Clock
	seen  []string
}

func (s *stepping) execute(ctx context.Context, name string, raw json.RawMessage) capability.Outcome {
	s.seen = append(s.seen, name+" "+string(raw))
	at := clock.SessionTime(1)
	sent := &capability.InteractionRef{ID: "int_000000000001", DispatchedNS: &at}
	switch name {
	case "refused":
		return capability.Outcome{Status: capability.Failed, Err: fault.New(fault.StaleReference, "gone")}
	case "slow":
		s.clock.Advance(time.Minute)
		<-ctx.Done()
		return capability.Outcome{Status: capability.Succeeded, Interaction: sent}
	}
	return capability.Outcome{Status: capability.Succeeded, Interaction: sent, Result: name}
}

type watching struct{ err error }

func (w watching) Observe(context.Context, id.Target, bool) (page.Observation, error) {
	return page.Observation{Page: page.PageState{TargetID: target, Title: "After"}}, w.err
}

func runBatch(t *testing.T, onFailure string, tools ...string) (*stepping, capability.Outcome, error) {
	t.Helper()
	c := coretest.NewClock(time.Unix(0, 0))
	s := &stepping{clock: c}
	b := control.NewBatch(s.execute, watching{}, &sessions{clock: clock.Begin(c)})
	all, err := capability.Select(nil, nil)
	require.NoError(t, err)
	var ops []capability.Op
	for _, name := range []string{"good", "refused", "slow", "batch", "alone"} {
		ops = append(ops, capability.Define[page.InspectRequest, string](capability.Spec{
			Name: name, Capability: capability.Control, Kind: capability.Change, Lane: capability.Mutating, Batchable: name != "alone", Summary: "x",
		}, func(context.Context, *page.InspectRequest) (capability.Outcome, error) {
			return capability.Outcome{}, nil
		}))
	}
	registry, err := capability.NewRegistry(all, ops...)
	require.NoError(t, err)
	b.SetRegistry(registry)
	request := &page.BatchRequest{OnFailure: onFailure, Scope: page.Scope{Target: target}}
	for _, name := range tools {
		request.Steps = append(request.Steps, page.Step{Tool: name})
	}
	out, err := b.Run(t.Context(), request)
	return s, out, err
}

func statuses(r control.BatchResult) []string {
	var all []string
	for _, s := range r.Steps {
		all = append(all, s.Status)
	}
	return all
}

func TestABatchHasTheSameShapeHoweverItEnds(t *testing.T) {
	for name, c := range map[string]struct {
		onFailure string
		tools     []string
		outcome   string
		status    capability.AnswerStatus
		steps     []string
		failed    bool
		retry     fault.Retry
	}{
		"completed":             {"stop", []string{"good", "good"}, control.BatchCompleted, "", []string{"succeeded", "succeeded"}, false, ""},
		"stopped":               {"stop", []string{"good", "refused", "good"}, control.BatchStopped, "", []string{"succeeded", "failed", "skipped"}, true, fault.Never},
		"stopped before effect": {"stop", []string{"refused", "good"}, control.BatchStopped, "", []string{"failed", "skipped"}, true, fault.AfterRecovery},
		"continued":             {"continue", []string{"refused", "good"}, control.BatchWithFailures, capability.Degraded, []string{"failed", "succeeded"}, false, fault.Never},
		"timed out":             {"stop", []string{"slow", "good"}, control.BatchTimedOut, "", []string{"succeeded", "skipped"}, true, fault.Never},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, err := runBatch(t, c.onFailure, c.tools...)
			result := out.Result.(control.BatchResult)
			assert.Equal(t, c.outcome, result.Outcome)
			assert.Equal(t, c.steps, statuses(result))
			require.NotNil(t, result.Final)
			assert.Equal(t, "After", result.Final.Page.Title)
			assert.Equal(t, c.status, out.Status)
			assert.Equal(t, c.failed, err != nil)
			f := out.Err
			if err != nil {
				f = fault.From(err)
			}
			if c.retry != "" {
				require.NotNil(t, f)
				assert.Equal(t, fault.BatchFailed, f.Code)
				assert.Equal(t, c.retry, f.Retry)
			}
		})
	}
}

func TestAFailedStepIsNamedWithItsCause(t *testing.T) {
	_, _, err := runBatch(t, "stop", "good", "refused")
	assert.Contains(t, err.Error(), "step 1 (refused) failed: stale_reference: gone")
}

func TestStepsGetTheBatchsPageAndOnlyBatchableTools(t *testing.T) {
	s, _, err := runBatch(t, "stop", "good")
	require.NoError(t, err)
	assert.Equal(t, []string{`good {"target":"` + string(target) + `"}`}, s.seen)
	for tool, says := range map[string]string{"batch": "cannot", "alone": "not a batchable", "nothing": "is no tool"} {
		s, _, err := runBatch(t, "stop", "good", tool)
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), tool)
		assert.Contains(t, err.Error(), "steps[1].tool")
		assert.Contains(t, err.Error(), says)
		assert.Empty(t, s.seen, "nothing was carried out")
	}
}

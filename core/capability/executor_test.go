package capability_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

type request struct {
	page.Scope
	Read bool
}

func (r *request) RequestLane() capability.Lane {
	if r.Read {
		return capability.Observing
	}
	return capability.Mutating
}

type pages struct {
	started bool
	err     error
}

func (p *pages) ResolvePage(_ context.Context, t id.Target, _ []string) (id.Target, error) {
	if t == "" {
		t = pageA
	}
	return t, p.err
}

func (p *pages) EnsureStarted(context.Context) (bool, error) {
	fresh := !p.started
	p.started = true
	return fresh, nil
}

type bench struct {
	clock *coretest.Clock
	pages *pages
	exec  *capability.Executor
}

func newBench() bench {
	c, p := coretest.NewClock(time.Unix(0, 0)), &pages{}
	return bench{c, p, capability.NewExecutor(c, p, slog.New(slog.DiscardHandler))}
}

func op(run func(ctx context.Context, r *request) (capability.Outcome, error)) capability.Op {
	return capability.Define[request, string](capability.Spec{
		Name: "act", Capability: capability.Control, Kind: capability.Change, Lane: capability.Mutating, Summary: "acts", StartsBrowser: true,
	}, run)
}

func TestTheRequestIsToldItsPage(t *testing.T) {
	b := newBench()
	out := b.exec.Execute(t.Context(), op(func(_ context.Context, r *request) (capability.Outcome, error) {
		return capability.Outcome{Result: string(r.Target)}, nil
	}), &request{})
	assert.Equal(t, capability.Succeeded, out.Status)
	assert.Equal(t, string(pageA), out.Result)
	assert.Equal(t, []string{"started the default browser"}, out.Notes)
}

func TestEveryFailureIsAFault(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(context.Context, *request) (capability.Outcome, error)
		code fault.Code
	}{
		"fault": {func(context.Context, *request) (capability.Outcome, error) {
			return capability.Outcome{}, fault.New(fault.NotFound, "x")
		}, fault.NotFound},
		"other": {func(context.Context, *request) (capability.Outcome, error) {
			return capability.Outcome{}, errors.New("secret path")
		}, fault.Internal},
		"panic": {func(context.Context, *request) (capability.Outcome, error) { panic("secret path") }, fault.Internal},
		"deadline": {func(context.Context, *request) (capability.Outcome, error) {
			return capability.Outcome{}, context.DeadlineExceeded
		}, fault.PageUnresponsive},
		"cancel": {func(context.Context, *request) (capability.Outcome, error) {
			return capability.Outcome{}, context.Canceled
		}, fault.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			out := newBench().exec.Execute(t.Context(), op(c.run), &request{})
			assert.Equal(t, capability.Failed, out.Status)
			require.NotNil(t, out.Err)
			assert.Equal(t, c.code, out.Err.Code)
			assert.NotContains(t, out.Err.Message, "secret")
		})
	}
}

func TestWhatIsKnownStaysInAFailure(t *testing.T) {
	out := newBench().exec.Execute(t.Context(), op(func(context.Context, *request) (capability.Outcome, error) {
		return capability.Outcome{Result: "half", Stage: "later"}, fault.New(fault.WaitTimedOut, "late")
	}), &request{})
	assert.Equal(t, "half", out.Result)
	assert.Equal(t, "later", out.Stage)
}

func TestAnObservationNeverQueuesBehindAMutation(t *testing.T) {
	b := newBench()
	holding, release := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.exec.Execute(t.Context(), op(func(context.Context, *request) (capability.Outcome, error) {
			close(holding)
			<-release
			return capability.Outcome{}, nil
		}), &request{})
	}()
	<-holding
	out := b.exec.Execute(t.Context(), op(func(context.Context, *request) (capability.Outcome, error) {
		return capability.Outcome{Result: "seen"}, nil
	}), &request{Read: true})
	assert.Equal(t, "seen", out.Result)
	close(release)
	<-ended
}

func TestAStepEntersThroughItsBatchAndAWaitHoldsNothing(t *testing.T) {
	b := newBench()
	var inner, other capability.Outcome
	step := op(func(context.Context, *request) (capability.Outcome, error) {
		return capability.Outcome{Result: "step"}, nil
	})
	out := b.exec.Execute(t.Context(), op(func(ctx context.Context, _ *request) (capability.Outcome, error) {
		inner = b.exec.Execute(ctx, step, &request{})
		err := capability.Yield(ctx, func() error {
			other = b.exec.Execute(t.Context(), step, &request{}) // somebody else's call
			return nil
		})
		return capability.Outcome{}, err
	}), &request{})
	assert.Equal(t, capability.Succeeded, out.Status)
	assert.Equal(t, "step", inner.Result)
	assert.Equal(t, "step", other.Result)
}

func TestAnUnresolvablePageFailsBeforeTheOperation(t *testing.T) {
	b := newBench()
	b.pages.err = fault.New(fault.SessionEnded, "over")
	out := b.exec.Execute(t.Context(), op(func(context.Context, *request) (capability.Outcome, error) {
		panic("must not run")
	}), &request{})
	assert.Equal(t, fault.SessionEnded, out.Err.Code)
	assert.Equal(t, "resolve", out.Stage)
}

func TestTheSameWarningIsGivenOnce(t *testing.T) {
	w := fault.New(fault.CaptureFailed, "stopped")
	out := newBench().exec.Execute(t.Context(), op(func(context.Context, *request) (capability.Outcome, error) {
		return capability.Outcome{Warnings: []*fault.Error{w, w, w.About(fault.Context{TargetID: pageB})}}, nil
	}), &request{})
	assert.Len(t, out.Warnings, 2)
}

func TestSelection(t *testing.T) {
	s, err := capability.Select([]capability.Name{capability.TemporalVideo}, nil)
	require.NoError(t, err)
	assert.True(t, s.Enabled(capability.Control), "control cannot be switched off")
	assert.False(t, s.Enabled(capability.TemporalVideo), "it needs temporal-vision")
	s, err = capability.Select(nil, map[capability.Name]string{capability.TemporalVideo: "no encoder"})
	require.NoError(t, err)
	assert.True(t, s.Enabled(capability.TemporalVision))
	assert.Contains(t, s.Statuses(), capability.Status{Name: capability.TemporalVideo, State: capability.Unavailable, Reason: "no encoder"})
	for _, name := range []capability.Name{capability.PageState, "nonsense"} {
		_, err = capability.Select([]capability.Name{name}, nil)
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
	}
}

func TestRegistryRefusesWhatCannotBeATool(t *testing.T) {
	all, err := capability.Select(nil, nil)
	require.NoError(t, err)
	good := op(nil)
	_, err = capability.NewRegistry(all, good, good)
	require.ErrorContains(t, err, "twice")
	bad := good
	bad.Name = "Act"
	_, err = capability.NewRegistry(all, bad)
	require.Error(t, err)
	bad = good
	bad.Capability = "other"
	_, err = capability.NewRegistry(all, bad)
	require.Error(t, err)
}

package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = id.Session("ses_000000000001")
	target  = id.Target("tgt_000000000001")
)

// driver scripts the four steps; each takes a millisecond of the fake clock.
type driver struct {
	clock                              *coretest.Clock
	resolve, dispatch, settle, observe error
	unsent                             bool
	settled                            control.Settled
	calls                              []string
	cancel                             context.CancelFunc
	observedCtx                        error
}

type prepared struct{}

func (prepared) Parameters() json.RawMessage { return json.RawMessage(`{"length":3}`) }

func (d *driver) step(name string) {
	d.calls = append(d.calls, name)
	d.clock.Advance(time.Millisecond)
}

func (d *driver) Resolve(context.Context, control.Action) (control.Prepared, error) {
	d.step("resolve")
	return prepared{}, d.resolve
}

func (d *driver) Dispatch(_ context.Context, _ control.Action, _ control.Prepared, sending func()) (any, error) {
	d.step("dispatch")
	if d.unsent {
		return nil, d.dispatch
	}
	sending()
	sending()
	if d.cancel != nil {
		d.cancel()
	}
	return "value", d.dispatch
}

func (d *driver) Settle(context.Context, control.Action, control.Prepared) (control.Settled, error) {
	d.step("settle")
	return d.settled, d.settle
}

func (d *driver) Observe(ctx context.Context, _ control.Action, _ control.Prepared, _ control.Settled) (page.Observation, error) {
	d.step("observe")
	d.observedCtx = ctx.Err()
	return page.Observation{Page: page.PageState{TargetID: target, Title: "Title"}}, d.observe
}

type sessions struct {
	clock   clock.Session
	err     error
	capture error
}

func (s *sessions) Current() (id.Session, clock.Session, error) { return session, s.clock, s.err }
func (s *sessions) GapsSince(id.Target, clock.SessionTime) []id.Gap {
	return []id.Gap{"gap_000000000001"}
}
func (s *sessions) CaptureFailure(id.Target) error { return s.capture }

type bench struct {
	driver   *driver
	sessions *sessions
	store    *coretest.Store
	runner   *control.Runner
}

func newBench() *bench {
	c := coretest.NewClock(time.Unix(0, 0))
	b := &bench{driver: &driver{clock: c, settled: control.Settled{Rendezvous: true, Navigation: "nav_000000000001"}}, store: coretest.NewStore()}
	b.sessions = &sessions{clock: clock.Begin(c)}
	b.runner = control.NewRunner(b.driver, b.sessions, b.store, nil, slog.New(slog.DiscardHandler))
	return b
}

func (b *bench) do(ctx context.Context) (capability.Outcome, error) {
	return b.runner.Do(ctx, control.Kind{Operation: "click", PageAffecting: true, Observe: true}, target, nil)
}

func (b *bench) records(t *testing.T) []record.Interaction {
	t.Helper()
	list, err := b.store.Interactions(t.Context(), session, target, 10)
	require.NoError(t, err)
	return list
}

func TestACompleteActionIsRecordedWithAllItsTimes(t *testing.T) {
	b := newBench()
	out, err := b.do(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"resolve", "dispatch", "settle", "observe"}, b.driver.calls)
	recs := b.records(t)
	require.Len(t, recs, 1)
	rec := recs[0]
	assert.Equal(t, record.Succeeded, rec.Outcome)
	assert.Equal(t, clock.SessionTime(0), rec.StartedNS)
	assert.Equal(t, clock.SessionTime(2e6), rec.DispatchedNS)
	assert.Equal(t, clock.SessionTime(3e6), *rec.CompletedNS)
	assert.Equal(t, clock.SessionTime(4e6), *rec.ObservedNS)
	assert.Equal(t, id.Navigation("nav_000000000001"), rec.Navigation)
	assert.Equal(t, []id.Gap{"gap_000000000001"}, rec.GapWarnings)
	assert.JSONEq(t, `{"length":3}`, string(rec.Parameters))
	assert.True(t, rec.PageAffecting)
	assert.Equal(t, rec.ID, out.Interaction.ID)
	result := out.Result.(control.Result)
	assert.Equal(t, "value", result.Action)
	assert.Equal(t, "Title", result.Page.Title)
}

func TestBeforeDispatchNothingIsRecordedAndNoTimeIsInvented(t *testing.T) {
	stale := fault.New(fault.StaleReference, "gone")
	for name, arrange := range map[string]func(*driver){
		"resolve":  func(d *driver) { d.resolve = stale },
		"dispatch": func(d *driver) { d.dispatch, d.unsent = stale, true },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			arrange(b.driver)
			out, err := b.do(t.Context())
			f := fault.From(err)
			assert.Equal(t, fault.StaleReference, f.Code)
			assert.Equal(t, fault.AfterRecovery, f.Retry)
			assert.Equal(t, target, f.Context.TargetID)
			assert.Empty(t, b.records(t))
			require.NotNil(t, out.Interaction)
			assert.Nil(t, out.Interaction.StartedNS)
			assert.Nil(t, out.Interaction.DispatchedNS)
			assert.Equal(t, name, out.Stage)
		})
	}
}

func TestAFailedDispatchNeverSuggestsRepeating(t *testing.T) {
	b := newBench()
	b.driver.dispatch = fault.New(fault.InteractionFailed, "the value did not take")
	out, err := b.do(t.Context())
	f := fault.From(err)
	assert.Equal(t, fault.InteractionFailed, f.Code)
	assert.Equal(t, fault.Never, f.Retry)
	assert.Contains(t, f.Recovery, "snapshot_page")
	assert.Equal(t, record.Failed, b.records(t)[0].Outcome)
	assert.Equal(t, "interaction_failed", b.records(t)[0].ErrorCode)
	assert.NotNil(t, out.Result.(control.Result).Observation, "what became of the page is still shown")
}

func TestAFailedObservationDegradesAProvenAction(t *testing.T) {
	for name, arrange := range map[string]func(*driver){
		"observe": func(d *driver) { d.observe = fault.New(fault.ScreenshotFailed, "refused") },
		"settle":  func(d *driver) { d.settle = errors.New("connection lost") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			arrange(b.driver)
			out, err := b.do(t.Context())
			require.NoError(t, err)
			assert.Equal(t, capability.Degraded, out.Status)
			assert.Equal(t, fault.Never, out.Err.Retry)
			assert.Equal(t, record.Degraded, b.records(t)[0].Outcome)
			assert.NotNil(t, out.Interaction.DispatchedNS)
		})
	}
}

func TestACancelledCallerStillGetsItsActionRecorded(t *testing.T) {
	b := newBench()
	ctx, cancel := context.WithCancel(t.Context())
	b.driver.cancel = cancel
	_, err := b.do(ctx)
	require.NoError(t, err)
	require.NoError(t, b.driver.observedCtx, "observation goes on")
	assert.Equal(t, record.Succeeded, b.records(t)[0].Outcome)
}

func TestAStoreThatRefusesDoesNotUndoTheAction(t *testing.T) {
	b := newBench()
	b.store.Fail = func(method string) error {
		return fault.New(fault.PersistenceFailed, "full").WithPersistence("write", "storage_full", "writer_terminal")
	}
	out, err := b.do(t.Context())
	require.NoError(t, err)
	assert.Equal(t, capability.Degraded, out.Status)
	assert.Equal(t, fault.PersistenceFailed, out.Err.Code)
	assert.NotNil(t, out.Result.(control.Result).Observation)
}

func TestAFailedCaptureIsAWarningOnLaterActions(t *testing.T) {
	b := newBench()
	b.sessions.capture = fault.New(fault.CaptureFailed, "acknowledgement")
	out, err := b.do(t.Context())
	require.NoError(t, err)
	require.Len(t, out.Warnings, 1)
	assert.Equal(t, fault.CaptureFailed, out.Warnings[0].Code)
}

func TestAMissingRendezvousIsSaid(t *testing.T) {
	b := newBench()
	b.driver.settled.Rendezvous = false
	out, err := b.do(t.Context())
	require.NoError(t, err)
	require.Len(t, out.Warnings, 1)
	assert.Equal(t, fault.CompositorRendezvousUnobserved, out.Warnings[0].Code)
	assert.NotEqual(t, capability.Degraded, out.Status)
}

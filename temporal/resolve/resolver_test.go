package resolve_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/resolve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = id.Session("ses_000000000001")
	page    = id.Target("tgt_000000000001")
	other   = id.Target("tgt_000000000002")
)

// live is a session that runs while on is set. The clock stands at the session time given to newBench.
type live struct {
	on    bool
	clock clock.Session
	lag   time.Duration
}

func (l *live) Running() (id.Session, clock.Session, id.Target, bool) {
	return session, l.clock, page, l.on
}
func (l *live) Lag(id.Target) time.Duration { return l.lag }

type bench struct {
	store    *coretest.Store
	clock    *coretest.Clock
	live     *live
	resolver *resolve.Resolver
}

func at(ms float64) clock.SessionTime { return clock.SessionTime(ms * 1e6) }

// newBench has one page whose capture began at 100 ms, with a frame every 100 ms up to 2 s, and a session
// that ended at 3 s.
func newBench(t *testing.T) *bench {
	t.Helper()
	c := coretest.NewClock(time.Unix(1000, 0))
	b := &bench{store: coretest.NewStore(), clock: c, live: &live{clock: clock.Begin(c)}}
	b.put(t, record.Session{ID: session, LastSelected: page, EndedNS: new(at(3000))},
		record.Target{ID: page, SessionID: session}, record.Target{ID: other, SessionID: session})
	for i := 1; i <= 20; i++ {
		b.frame(i, at(float64(i)*100))
	}
	b.resolver = resolve.New(b.store, b.store, b.store, b.live)
	return b
}

func (b *bench) put(t *testing.T, facts ...record.Fact) {
	t.Helper()
	require.NoError(t, b.store.Put(t.Context(), facts...))
}

func (b *bench) frame(ordinal int, presented clock.SessionTime) {
	b.store.AddFrame(record.Frame{
		ID: id.Frame(fmt.Sprintf("frm_%012d", ordinal)), SessionID: session, TargetID: page, Ordinal: uint64(ordinal),
		ReceivedNS: presented + at(80), PresentedNS: &presented,
	}, nil)
}

func (b *bench) act(t *testing.T, n int, dispatched, observed float64, affecting bool) id.Interaction {
	t.Helper()
	i := record.Interaction{
		ID: id.Interaction(fmt.Sprintf("int_%012d", n)), SessionID: session, TargetID: page, Operation: "click",
		StartedNS: at(dispatched - 5), DispatchedNS: at(dispatched), ObservedNS: new(at(observed)), PageAffecting: affecting,
	}
	b.put(t, i)
	return i.ID
}

func codes(list []*fault.Error) []fault.Code {
	all := []fault.Code{}
	for _, f := range list {
		all = append(all, f.Code)
	}
	return all
}

func TestTheDefaultAnchorIsTheNewestPageAffectingAction(t *testing.T) {
	b := newBench(t)
	b.act(t, 1, 500, 700, true)
	want := b.act(t, 2, 1000, 1200, true)
	b.act(t, 3, 1500, 1600, false)
	res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{})
	require.NoError(t, err)
	assert.Equal(t, evidence.AnchorRef{Kind: "interaction", ID: string(want)}, res.Range.Anchor)
	assert.Equal(t, at(850), res.Range.StartNS)
	assert.Equal(t, at(1450), res.Range.EndNS)
	assert.Equal(t, at(1000), *res.Range.AnchorNS)
	assert.Equal(t, "complete", res.Range.Retention)
	assert.Equal(t, "presented", res.Range.TimeSource)
	assert.Empty(t, res.Warnings)
}

func TestABatchCountsAsOneAction(t *testing.T) {
	b := newBench(t)
	for n, d := range []float64{600, 900, 1200} {
		b.put(t, record.Interaction{
			ID: id.Interaction(fmt.Sprintf("int_%012d", n+1)), SessionID: session, TargetID: page,
			DispatchedNS: at(d), CompletedNS: new(at(d + 50)), PageAffecting: true, Batch: "bat_000000000001",
		})
	}
	res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{})
	require.NoError(t, err)
	assert.Equal(t, at(450), res.Range.StartNS)
	assert.Equal(t, at(1500), res.Range.EndNS)
}

func TestEveryAnchor(t *testing.T) {
	b := newBench(t)
	i := b.act(t, 1, 500, 700, true)
	b.put(t,
		record.Navigation{ID: "nav_000000000001", SessionID: session, TargetID: page, StartNS: at(800), CommitNS: new(at(900))},
		record.Marker{ID: "mrk_000000000001", SessionID: session, TargetID: page, AtNS: at(1000)},
		record.ClockSample{SessionID: session, AtNS: at(0), WallNS: time.Unix(1000, 0).UnixNano()},
		record.ClockSample{SessionID: session, AtNS: at(1000), WallNS: time.Unix(2000, 0).UnixNano()},
	)
	for name, c := range map[string]struct {
		anchor     evidence.Anchor
		start, end float64
	}{
		"interaction":         {evidence.Anchor{InteractionID: i}, 350, 950},
		"interaction context": {evidence.Anchor{InteractionID: i, BeforeMS: new(0), AfterMS: new(1000)}, 500, 1700},
		"navigation":          {evidence.Anchor{NavigationID: "nav_000000000001"}, 650, 1150},
		"marker":              {evidence.Anchor{MarkerID: "mrk_000000000001", BeforeMS: new(100)}, 900, 1250},
		"session time":        {evidence.Anchor{StartNS: new(at(200)), EndNS: new(at(300))}, 200, 300},
		"frames":              {evidence.Anchor{StartFrameID: "frm_000000000003", EndFrameID: "frm_000000000007"}, 300, 700},
		"latest":              {evidence.Anchor{LastMS: new(500)}, 2500, 3000},
		"wall time": {evidence.Anchor{
			StartTime: time.Unix(1000, 2e8).UTC().Format(time.RFC3339Nano), EndTime: time.Unix(2000, 5e8).UTC().Format(time.RFC3339Nano),
		}, 200, 1500},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := b.resolver.Resolve(t.Context(), c.anchor)
			require.NoError(t, err)
			assert.Equal(t, at(c.start), res.Range.StartNS, "start")
			assert.Equal(t, at(c.end), res.Range.EndNS, "end")
		})
	}
}

func TestWrongAnchorsAreRefusedByName(t *testing.T) {
	b := newBench(t)
	i := b.act(t, 1, 500, 700, true)
	for name, c := range map[string]struct {
		anchor evidence.Anchor
		code   fault.Code
		says   string
	}{
		"two kinds":        {evidence.Anchor{InteractionID: i, LastMS: new(5)}, fault.InvalidInput, "interaction_id, last_ms"},
		"half a range":     {evidence.Anchor{StartNS: new(at(1))}, fault.InvalidInput, "start_ns, end_ns"},
		"half wall":        {evidence.Anchor{EndTime: "x"}, fault.InvalidInput, "start_time, end_time"},
		"half frames":      {evidence.Anchor{StartFrameID: "frm_000000000001"}, fault.InvalidInput, "start_frame_id"},
		"context":          {evidence.Anchor{LastMS: new(5), BeforeMS: new(1)}, fault.InvalidInput, "before_ms"},
		"too much context": {evidence.Anchor{InteractionID: i, AfterMS: new(120001)}, fault.InvalidInput, "after_ms"},
		"backwards":        {evidence.Anchor{StartNS: new(at(9)), EndNS: new(at(1))}, fault.InvalidTime, "before it starts"},
		"not a time":       {evidence.Anchor{StartTime: "yesterday", EndTime: "now"}, fault.InvalidTime, "clock samples"},
		"unknown action":   {evidence.Anchor{InteractionID: "int_zzzzzzzzzzzz"}, fault.NotFound, "never dispatched"},
		"unknown marker":   {evidence.Anchor{MarkerID: "mrk_zzzzzzzzzzzz"}, fault.NotFound, ""},
		"other page":       {evidence.Anchor{InteractionID: i, Target: other}, fault.RangeWrongTarget, string(page)},
		"unknown page":     {evidence.Anchor{LastMS: new(1), Target: "tgt_zzzzzzzzzzzz"}, fault.RangeWrongTarget, ""},
		"no frames":        {evidence.Anchor{LastMS: new(1), Target: other}, fault.RangeNotCaptured, "no frame"},
		"before capture":   {evidence.Anchor{StartNS: new(at(0)), EndNS: new(at(50))}, fault.RangeNotCaptured, "before capture"},
		"after the end":    {evidence.Anchor{StartNS: new(at(4000)), EndNS: new(at(5000))}, fault.RangeNotCaptured, "after everything"},
		"complete wanted":  {evidence.Anchor{StartNS: new(at(0)), EndNS: new(at(500)), Retention: "require_complete"}, fault.RangeNotCaptured, "+0.100 s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.resolver.Resolve(t.Context(), c.anchor)
			require.Error(t, err)
			assert.Equal(t, c.code, fault.CodeOf(err))
			assert.Contains(t, err.Error(), c.says)
		})
	}
}

func TestAPartIsCutToWhatIsRetainedAndBothEdgesAreNamed(t *testing.T) {
	b := newBench(t)
	res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(0)), EndNS: new(at(9000))})
	require.NoError(t, err)
	assert.Equal(t, at(100), res.Range.StartNS)
	assert.Equal(t, at(3000), res.Range.EndNS)
	assert.Equal(t, fault.Range{StartNS: at(0), EndNS: at(9000)}, res.Range.Requested)
	assert.Equal(t, "partial", res.Range.Retention)
	assert.Equal(t, []fault.Code{fault.PartiallyCaptured, fault.AffectedEdgeStart, fault.AffectedEdgeEnd}, codes(res.Warnings))
}

func TestEvictionIsSaidAndInvalidatesHandles(t *testing.T) {
	b := newBench(t)
	res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(500)), EndNS: new(at(900))})
	require.NoError(t, err)
	again, err := b.resolver.ResolveRef(t.Context(), evidence.RangeRef{RangeHandle: res.Handle})
	require.NoError(t, err)
	assert.Equal(t, res.Range, again.Range)

	b.store.Evict(page, at(650))
	_, err = b.resolver.ResolveRef(t.Context(), evidence.RangeRef{RangeHandle: res.Handle})
	assert.Equal(t, fault.EvidenceInvalidated, fault.CodeOf(err))
	part, err := b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(500)), EndNS: new(at(900))})
	require.NoError(t, err)
	assert.Equal(t, at(700), part.Range.StartNS)
	assert.Contains(t, codes(part.Warnings), fault.PartiallyEvicted)
	_, err = b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(200)), EndNS: new(at(400))})
	assert.Equal(t, fault.RangeNotRetained, fault.CodeOf(err))
	_, err = b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(500)), EndNS: new(at(900)), Retention: "require_complete"})
	assert.Equal(t, fault.RangeNotRetained, fault.CodeOf(err))
}

func TestHandlesEndWithTheirSessionAndDoNotComeFromElsewhere(t *testing.T) {
	b := newBench(t)
	first, err := b.resolver.Resolve(t.Context(), evidence.Anchor{LastMS: new(100)})
	require.NoError(t, err)
	second, err := b.resolver.Resolve(t.Context(), evidence.Anchor{LastMS: new(100)})
	require.NoError(t, err)
	assert.Equal(t, first.Handle, second.Handle, "equal ranges share a handle")
	_, err = b.resolver.ResolveRef(t.Context(), evidence.RangeRef{RangeHandle: "rng_zzzzzzzzzzzz"})
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))
	_, err = b.resolver.ResolveRef(t.Context(), evidence.RangeRef{RangeHandle: first.Handle, Target: page})
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
	b.store.DeleteSession(session)
	_, err = b.resolver.ResolveRef(t.Context(), evidence.RangeRef{RangeHandle: first.Handle})
	assert.Equal(t, fault.EvidenceInvalidated, fault.CodeOf(err))
}

func TestNoHandleIsEvictedAtTheBound(t *testing.T) {
	b := newBench(t)
	var first id.RangeHandle
	for i := range resolve.MaxHandles {
		res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(200)), EndNS: new(at(300) + clock.SessionTime(i))})
		require.NoError(t, err)
		if i == 0 {
			first = res.Handle
		}
	}
	res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(400)), EndNS: new(at(500))})
	require.NoError(t, err)
	assert.Empty(t, res.Handle)
	assert.Equal(t, []fault.Code{fault.HandleNotIssued}, codes(res.Warnings))
	_, err = b.resolver.ResolveRef(t.Context(), evidence.RangeRef{RangeHandle: first})
	require.NoError(t, err)
}

func TestGapsAreCountedAndMayBeRefused(t *testing.T) {
	b := newBench(t)
	b.put(t,
		record.Gap{ID: "gap_000000000001", SessionID: session, TargetID: page, Stream: record.StreamFrames, StartNS: at(450), EndNS: new(at(500))},
		record.Gap{ID: "gap_000000000002", SessionID: session, TargetID: page, Stream: record.StreamEvents, StartNS: at(450), EndNS: new(at(500))},
	)
	ask := evidence.Anchor{StartNS: new(at(400)), EndNS: new(at(600))}
	res, err := b.resolver.Resolve(t.Context(), ask)
	require.NoError(t, err)
	assert.Equal(t, 1, res.Range.GapCount)
	ask.Gaps = "reject"
	_, err = b.resolver.Resolve(t.Context(), ask)
	assert.Equal(t, fault.RangeHasGaps, fault.CodeOf(err))
}

// A state that was presented for 60 ms and reached us 600 ms late lies in the default range, because the
// resolver waits for what is still on its way, and never longer than a second.
func TestTheTailIsAwaited(t *testing.T) {
	b := newBench(t)
	b.live.on, b.live.lag = true, 600*time.Millisecond
	b.clock.Advance(2500 * time.Millisecond)
	b.act(t, 1, 2300, 2400, true)
	got := make(chan resolve.Resolution, 1)
	go func() {
		res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{})
		assert.NoError(t, err)
		got <- res
	}()
	b.clock.BlockUntil(1)
	b.clock.Advance(749 * time.Millisecond)
	select {
	case <-got:
		t.Fatal("answered before the late frames could arrive")
	default:
	}
	b.frame(21, at(2380))
	b.clock.Advance(time.Millisecond)
	res := <-got
	assert.Equal(t, at(2650), res.Range.EndNS)
	assert.Equal(t, "complete", res.Range.Retention)
}

func TestAnEndThatHasNotComeIsToldFromLoss(t *testing.T) {
	b := newBench(t)
	b.live.on = true
	b.clock.Advance(2500 * time.Millisecond)
	got := make(chan resolve.Resolution, 1)
	go func() {
		res, err := b.resolver.Resolve(t.Context(), evidence.Anchor{StartNS: new(at(2000)), EndNS: new(at(60_000))})
		assert.NoError(t, err)
		got <- res
	}()
	b.clock.BlockUntil(1)
	b.clock.Advance(time.Second)
	res := <-got
	assert.Equal(t, at(3500), res.Range.EndNS)
	assert.Equal(t, []fault.Code{fault.PartiallyCaptured, fault.AffectedEdgeEnd, fault.RequestedEndNotYetElapsed}, codes(res.Warnings))
}

func TestTheLifeOfAPageIsMoreThanItsFrames(t *testing.T) {
	b := newBench(t)
	b.put(t, record.Target{ID: page, SessionID: session, CreatedNS: at(20)})
	all := evidence.RangeRef{StartNS: new(at(0)), EndNS: new(at(9000))}
	res, err := b.resolver.ResolveLife(t.Context(), all)
	require.NoError(t, err)
	assert.Equal(t, at(20), res.Range.StartNS, "before the first frame, after the page was made")
	assert.Equal(t, at(3000), res.Range.EndNS)
	assert.Equal(t, "partial", res.Range.Retention)
	assert.Empty(t, res.Handle, "a handle would be good for requests about frames")
	early, err := b.resolver.ResolveLife(t.Context(), evidence.RangeRef{StartNS: new(at(30)), EndNS: new(at(90))})
	require.NoError(t, err)
	assert.Equal(t, "complete", early.Range.Retention)
	_, err = b.resolver.ResolveRef(t.Context(), evidence.RangeRef{StartNS: new(at(30)), EndNS: new(at(90))})
	assert.Equal(t, fault.RangeNotCaptured, fault.CodeOf(err), "of frames there are none")

	inside := evidence.RangeRef{StartNS: new(at(500)), EndNS: new(at(900))}
	framed, err := b.resolver.ResolveRef(t.Context(), inside)
	require.NoError(t, err)
	lived, err := b.resolver.ResolveLife(t.Context(), inside)
	require.NoError(t, err)
	assert.Equal(t, framed, lived, "the same answer where there are frames")
	byHandle, err := b.resolver.ResolveLife(t.Context(), evidence.RangeRef{RangeHandle: framed.Handle})
	require.NoError(t, err)
	assert.Equal(t, framed.Range, byHandle.Range)

	b.store.Evict(page, at(650))
	res, err = b.resolver.ResolveLife(t.Context(), all)
	require.NoError(t, err)
	assert.Equal(t, at(650)+1, res.Range.StartNS, "events go with the frames of their time")
	assert.Contains(t, codes(res.Warnings), fault.PartiallyEvicted)
	_, err = b.resolver.ResolveLife(t.Context(), evidence.RangeRef{StartNS: new(at(100)), EndNS: new(at(600))})
	assert.Equal(t, fault.RangeNotRetained, fault.CodeOf(err))
}

func TestAPageWithoutFramesHasALife(t *testing.T) {
	b := newBench(t)
	b.put(t, record.Target{ID: other, SessionID: session, CreatedNS: at(50), ClosedNS: new(at(700))})
	res, err := b.resolver.ResolveLife(t.Context(), evidence.RangeRef{StartNS: new(at(100)), EndNS: new(at(900)), Target: other})
	require.NoError(t, err)
	assert.Equal(t, at(100), res.Range.StartNS)
	assert.Equal(t, at(700), res.Range.EndNS)
	assert.Empty(t, res.Handle)
	_, err = b.resolver.ResolveLife(t.Context(), evidence.RangeRef{StartNS: new(at(800)), EndNS: new(at(900)), Target: other})
	assert.Equal(t, fault.RangeNotCaptured, fault.CodeOf(err))
}

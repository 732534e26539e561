package capture_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/capture"
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sink stores frames and can be held or made to fail.
type sink struct {
	mu     sync.Mutex
	frames []record.Frame
	fail   func(record.Frame) error
	hold   chan struct{} // nil: never held
}

func (s *sink) AppendFrame(ctx context.Context, f record.Frame, _ []byte) (record.Frame, error) {
	s.mu.Lock()
	hold, fail := s.hold, s.fail
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return f, fault.New(fault.Cancelled, "stopped")
		}
	}
	if fail != nil {
		if err := fail(f); err != nil {
			return f, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, f)
	return f, nil
}

func (s *sink) ordinals() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []uint64
	for _, f := range s.frames {
		list = append(list, f.Ordinal)
	}
	return list
}

type bench struct {
	peer     *cdptest.Peer
	client   *cdp.Client
	clock    *coretest.Clock
	session  clock.Session
	sink     *sink
	facts    *browsertest.Facts
	recorder *capture.Recorder
	registry *target.Registry
}

// monotonic makes Chrome's clock equal to the program's plus 1000 s.
func monotonic(c clock.Clock) capture.Monotonic {
	return func() (time.Duration, bool) { return c.Mono() + 1000*time.Second, true }
}

func newBench(t *testing.T, setup func(*cdptest.Peer)) *bench {
	t.Helper()
	b := &bench{clock: coretest.NewClock(time.Unix(1_700_000_000, 0)), sink: &sink{}, facts: &browsertest.Facts{}}
	b.clock.Advance(time.Minute)
	b.session = clock.Begin(b.clock)
	b.clock.Advance(time.Second)
	b.recorder = capture.New(capture.Config{
		Session: id.New[id.Session](), Clock: b.session, Frames: b.sink, Facts: b.facts, Monotonic: monotonic(b.clock),
		Capture: record.CaptureConfig{EveryNthFrame: 3, Size: "balanced", Format: "jpeg", Quality: 80}, Logger: slog.New(slog.DiscardHandler),
	})
	b.connect(t, setup, nil)
	t.Cleanup(func() {
		_ = b.client.Close()
		<-b.registry.Done()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = b.recorder.Stop(ctx)
	})
	return b
}

func (b *bench) connect(t *testing.T, setup func(*cdptest.Peer), inherit *target.View) {
	t.Helper()
	peer, transport := cdptest.OverPipe(t)
	if setup != nil {
		setup(peer)
	}
	b.peer, b.client = peer, cdp.NewClient(transport, b.clock)
	b.recorder.Bind(b.client)
	var err error
	b.registry, err = target.Start(t.Context(), target.Config{
		Browser: page.NewBrowser(b.client, b.clock, page.Versions{}), Session: "ses_x", Clock: b.session, Facts: b.facts,
		Observers: []target.Observer{b.recorder}, URLs: redact.NewKey(), Logger: slog.New(slog.DiscardHandler), Inherit: inherit,
	})
	require.NoError(t, err)
}

// attach attaches the page and returns its identity and session.
func (b *bench) attach(t *testing.T, name string) (id.Target, string) {
	t.Helper()
	session := b.peer.AttachPage(name, "http://a.test/", "")
	v, err := b.registry.Wait(t.Context(), func(v *target.View) bool { p, ok := v.FindCDP(name); return ok && p.Session != nil })
	require.NoError(t, err)
	row, _ := v.FindCDP(name)
	b.settle(t)
	return row.ID, session
}

// settle returns when the client has read everything the peer sent before, and the frames have reached the sink.
func (b *bench) settle(t *testing.T) {
	t.Helper()
	require.NoError(t, b.client.Call(t.Context(), "", "Test.settle", nil, nil))
}

func (b *bench) flush(t *testing.T) {
	t.Helper()
	b.settle(t)
	require.NoError(t, b.recorder.Flush(t.Context()))
}

// gaps returns the newest state of each gap, in order of appearance.
func (b *bench) gaps() []record.Gap {
	var list []record.Gap
	for _, fact := range b.facts.All() {
		g, ok := fact.(record.Gap)
		if !ok {
			continue
		}
		known := false
		for i := range list {
			if list[i].ID == g.ID {
				list[i], known = g, true
			}
		}
		if !known {
			list = append(list, g)
		}
	}
	return list
}

func (b *bench) status() corepage.CaptureTarget { return b.recorder.Status()[0] }

func TestAFrameIsAcknowledgedBeforeTheHandOver(t *testing.T) {
	b := newBench(t, nil)
	b.sink.hold = make(chan struct{})
	_, session := b.attach(t, "p1")
	for token := 1; token <= 3; token++ {
		b.peer.Frame(session, token, 0)
	}
	b.peer.Await(3, "Page.screencastFrameAck") // although the sink holds the first frame
	assert.Empty(t, b.sink.ordinals())
	close(b.sink.hold)
	b.flush(t)
	assert.Equal(t, []uint64{1, 2, 3}, b.sink.ordinals())
	for i, ack := range b.peer.Commands("Page.screencastFrameAck") {
		var p struct{ SessionID int }
		require.NoError(t, ack.Decode(&p))
		assert.Equal(t, i+1, p.SessionID)
		assert.Equal(t, session, ack.Session)
	}
}

func TestTheScreencastIsStartedAsConfigured(t *testing.T) {
	b := newBench(t, nil)
	b.attach(t, "p1")
	assert.JSONEq(t, `{"format":"jpeg","quality":80,"everyNthFrame":3,"maxFramesInFlight":5,"sendLastFrame":true,"maxWidth":1280,"maxHeight":1280}`,
		string(b.peer.Await(1, "Page.startScreencast").Params))
}

func TestAFullQueueIsAGapThatTheNextGoodFrameEnds(t *testing.T) {
	b := newBench(t, nil)
	b.sink.hold = make(chan struct{})
	target, session := b.attach(t, "p1")
	const sent = capture.QueueFrames + 6 // one more than the queue is in the sink's hands
	b.peer.Frame(session, 1, 0)
	b.settle(t)
	for b.status().Received < 1 {
		b.settle(t)
	}
	for token := 2; token <= sent; token++ {
		b.clock.Advance(time.Millisecond)
		b.peer.Frame(session, token, 0)
		b.settle(t)
	}
	b.peer.Await(sent, "Page.screencastFrameAck")
	status := b.status()
	assert.EqualValues(t, sent, status.Received)
	gaps := b.gaps()
	require.Len(t, gaps, 1)
	assert.Equal(t, record.GapQueueSaturated, gaps[0].Reason)
	assert.Nil(t, gaps[0].EndNS)
	assert.Equal(t, status.Dropped, gaps[0].Count)
	assert.EqualValues(t, sent, gaps[0].LastOrdinal)
	assert.Equal(t, []id.Gap{gaps[0].ID}, b.recorder.GapsSince(target, 0))

	close(b.sink.hold)
	b.flush(t)
	b.clock.Advance(time.Millisecond)
	b.peer.Frame(session, sent+1, 0)
	b.flush(t)
	gaps = b.gaps()
	require.Len(t, gaps, 1, "adjacent losses are one gap")
	require.NotNil(t, gaps[0].EndNS)
	assert.Equal(t, b.session.Now(), *gaps[0].EndNS)
	assert.Contains(t, b.sink.ordinals(), uint64(sent+1), "ordinals count lost frames too")
}

func TestAckFailuresEndOneStreamOnly(t *testing.T) {
	cases := map[string]struct {
		reply   cdptest.Reply
		advance time.Duration
	}{
		"refused":    {reply: cdptest.Fail(-32000, "no")},
		"unanswered": {reply: cdptest.Hang(), advance: cdp.AckLimit},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(p *cdptest.Peer) { p.Nth(2, "Page.screencastFrameAck", c.reply) })
			one, s1 := b.attach(t, "p1")
			two, s2 := b.attach(t, "p2")
			b.peer.Frame(s1, 1, 0)
			b.flush(t)
			b.peer.Frame(s1, 2, 0)
			b.peer.Await(2, "Page.screencastFrameAck")
			b.settle(t)
			b.clock.Advance(c.advance)
			assert.Equal(t, s1, b.peer.Await(1, "Page.stopScreencast").Session)
			b.peer.Frame(s1, 3, 0)
			b.peer.Frame(s2, 1, 0)
			b.flush(t)
			assert.Equal(t, fault.CaptureFailed, fault.CodeOf(b.recorder.Failure(one)))
			assert.Nil(t, b.recorder.Failure(two))
			assert.Equal(t, []uint64{1, 2, 1}, b.sink.ordinals(), "what was handed over stays valid, nothing follows")
			gaps := b.gaps()
			require.Len(t, gaps, 1)
			assert.Equal(t, record.GapAcknowledgement, gaps[0].Reason)
			assert.Nil(t, gaps[0].EndNS)
			require.NoError(t, b.client.Call(t.Context(), s1, "Runtime.evaluate", nil, nil), "control goes on")
		})
	}
}

func TestTimesAreMappedAndChecked(t *testing.T) {
	b := newBench(t, nil)
	_, session := b.attach(t, "p1")
	now := (b.clock.Mono() + 1000*time.Second).Seconds()
	for token, at := range []float64{now - 0.2, now + 1, now - 6} {
		b.peer.Raw(cdptest.FrameEvent(session, token+1, at, cdptest.JPEG(10, 10)))
	}
	b.flush(t)
	frames := b.sink.frames
	require.Len(t, frames, 3)
	require.NotNil(t, frames[0].PresentedNS)
	assert.InDelta(t, float64(b.session.Now())-200e6, float64(*frames[0].PresentedNS), 1e4)
	assert.InDelta(t, 1_700_000_000.5, frames[0].ChromeTimestamp, 1e-3)
	assert.Nil(t, frames[1].PresentedNS, "later than its receipt, and the wall time is a minute off")
	assert.Nil(t, frames[2].PresentedNS, "more than five seconds old")
	assert.False(t, b.recorder.Skewed())
	b.peer.Raw(cdptest.FrameEvent(session, 4, now+9, cdptest.JPEG(10, 10)))
	b.flush(t)
	assert.True(t, b.recorder.Skewed())
}

func TestAnotherSpellingTakesTheSlowWay(t *testing.T) {
	b := newBench(t, nil)
	_, session := b.attach(t, "p1")
	b.peer.Raw([]byte(`{"sessionId":"` + session + `","params":{"sessionId":4,"metadata":{"deviceWidth":10,"deviceHeight":5},"data":"/9j/"},"method":"Page.screencastFrame"}`))
	b.flush(t)
	var p struct{ SessionID int }
	require.NoError(t, b.peer.Await(1, "Page.screencastFrameAck").Decode(&p))
	assert.Equal(t, 4, p.SessionID)
	require.Len(t, b.sink.frames, 1)
	assert.EqualValues(t, 10, b.sink.frames[0].Viewport.Width)
	assert.Nil(t, b.sink.frames[0].PresentedNS)
}

func TestFramesOfUnknownSessionsAreAcknowledged(t *testing.T) {
	b := newBench(t, nil)
	b.peer.Frame("gone", 9, 0)
	assert.Equal(t, "gone", b.peer.Await(1, "Page.screencastFrameAck").Session)
}

func TestGeometry(t *testing.T) {
	b := newBench(t, nil)
	target, session := b.attach(t, "p1")
	b.peer.Frame(session, 1, 0)
	b.settle(t)
	b.recorder.ExpectViewport(target, 390, 844)
	b.peer.Frame(session, 2, 0)
	b.peer.Raw([]byte(`{"method":"Page.screencastFrame","params":{"data":"AA==","metadata":{"deviceWidth":390,"deviceHeight":844},"sessionId":3},"sessionId":"` + session + `"}`))
	b.peer.Raw([]byte(`{"method":"Page.screencastFrame","params":{"data":"AA==","metadata":{},"sessionId":4},"sessionId":"` + session + `"}`))
	b.flush(t)
	frames := b.sink.frames
	require.Len(t, frames, 4)
	assert.Empty(t, frames[0].Warnings)
	assert.Equal(t, []string{record.WarnViewportPending}, frames[1].Warnings)
	assert.Empty(t, frames[2].Warnings)
	assert.Equal(t, []string{record.WarnViewportIncomplete}, frames[3].Warnings)
	assert.EqualValues(t, 390, frames[3].Viewport.Width, "the last known geometry stands in")
}

func TestVisibilityAndCrashAreGaps(t *testing.T) {
	b := newBench(t, nil)
	target, session := b.attach(t, "p1")
	_, known := b.recorder.Visible(target)
	assert.False(t, known)
	b.peer.Event(session, "Page.screencastVisibilityChanged", map[string]any{"visible": false})
	b.settle(t)
	visible, known := b.recorder.Visible(target)
	assert.True(t, known)
	assert.False(t, visible)
	b.clock.Advance(time.Second)
	b.peer.Event(session, "Page.screencastVisibilityChanged", map[string]any{"visible": true})
	b.peer.Event(session, "Inspector.targetCrashed", nil)
	b.settle(t)
	assert.Equal(t, "crashed", b.status().State)
	b.peer.Frame(session, 1, 0)
	b.flush(t)
	gaps := b.gaps()
	require.Len(t, gaps, 2)
	assert.Equal(t, record.GapHidden, gaps[0].Reason)
	assert.Equal(t, time.Second, gaps[0].EndNS.Sub(gaps[0].StartNS))
	assert.Equal(t, record.GapCrashed, gaps[1].Reason)
	assert.NotNil(t, gaps[1].EndNS)
	assert.Equal(t, "recording", b.status().State)
}

func TestAScreenshotOfAHiddenPageIsNoVisibility(t *testing.T) {
	b := newBench(t, nil)
	target, session := b.attach(t, "p1")
	row, _ := b.registry.View().Find(target)
	show := func(visible bool) {
		b.peer.Event(session, "Page.screencastVisibilityChanged", map[string]any{"visible": visible})
		b.settle(t)
	}
	show(false)
	end := row.Session.Observing("screenshot")
	show(true)
	end()
	visible, _ := b.recorder.Visible(target)
	assert.False(t, visible)
	show(false)
	b.clock.Advance(2 * time.Second)
	require.Len(t, b.gaps(), 1)
	assert.Nil(t, b.gaps()[0].EndNS, "one hidden stretch")

	end = row.Session.Observing("screenshot")
	show(true)
	end()
	at := b.session.Now()
	b.clock.Advance(2 * time.Second)
	require.Eventually(t, func() bool { visible, _ := b.recorder.Visible(target); return visible }, time.Minute, time.Millisecond)
	assert.Equal(t, at, *b.gaps()[0].EndNS, "a visibility that lasts is one, from its beginning")
}

func TestRefusalsOfTheSink(t *testing.T) {
	cases := map[string]struct {
		err    error
		reason record.GapReason
		state  string
	}{
		"a bad frame":         {fault.New(fault.InvalidInput, "no header"), record.GapFrameRejected, "recording"},
		"an exhausted budget": {fault.New(fault.BudgetExhausted, "pinned"), record.GapPersistenceRejected, "recording"},
		"a failed store":      {fault.New(fault.PersistenceFailed, "full"), record.GapPersistenceRejected, "failed"},
		"anything else":       {errors.New("x"), record.GapPersistenceRejected, "failed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.sink.fail = func(f record.Frame) error {
				if f.Ordinal == 2 {
					return c.err
				}
				return nil
			}
			target, session := b.attach(t, "p1")
			for token := 1; token <= 3; token++ {
				b.peer.Frame(session, token, 0)
				b.flush(t)
			}
			gaps := b.gaps()
			require.Len(t, gaps, 1)
			assert.Equal(t, c.reason, gaps[0].Reason)
			assert.EqualValues(t, 2, gaps[0].FirstOrdinal)
			assert.Equal(t, c.state, b.status().State)
			if c.state == "failed" {
				assert.NotNil(t, b.recorder.Failure(target))
				assert.Equal(t, session, b.peer.Await(1, "Page.stopScreencast").Session)
				return
			}
			assert.Nil(t, b.recorder.Failure(target))
			assert.NotNil(t, gaps[0].EndNS, "the next good frame ends it")
		})
	}
}

func TestAnOversizedFrameIsRejectedAlone(t *testing.T) {
	b := newBench(t, nil)
	_, session := b.attach(t, "p1")
	b.peer.Raw(cdptest.FrameEvent(session, 1, 0, make([]byte, capture.MaxPayload+3)))
	b.peer.Frame(session, 2, 0)
	b.flush(t)
	assert.Equal(t, []uint64{2}, b.sink.ordinals())
	gaps := b.gaps()
	require.Len(t, gaps, 1)
	assert.Equal(t, record.GapFrameRejected, gaps[0].Reason)
}

func TestARefusedStartIsAFailureOfThatStreamAlone(t *testing.T) {
	b := newBench(t, func(p *cdptest.Peer) { p.Nth(1, "Page.startScreencast", cdptest.Fail(-32000, "no")) })
	one, _ := b.attach(t, "p1")
	two, _ := b.attach(t, "p2")
	b.peer.Await(2, "Page.startScreencast")
	b.settle(t)
	assert.Equal(t, fault.CaptureFailed, fault.CodeOf(b.recorder.Failure(one)))
	assert.Nil(t, b.recorder.Failure(two))
	assert.Equal(t, record.GapCaptureNotStarted, b.gaps()[0].Reason)
}

func TestADisconnectionIsAGapAndOrdinalsGoOn(t *testing.T) {
	b := newBench(t, nil)
	target, session := b.attach(t, "p1")
	b.peer.Frame(session, 1, 0)
	b.flush(t)
	b.peer.Drop()
	<-b.registry.Done()
	b.clock.Advance(2 * time.Second)
	b.connect(t, nil, b.registry.View())
	again, session := b.attach(t, "p1")
	assert.Equal(t, target, again, "the page keeps its identity")
	b.peer.Frame(session, 1, 0)
	b.flush(t)
	assert.Equal(t, []uint64{1, 2}, b.sink.ordinals())
	gaps := b.gaps()
	require.Len(t, gaps, 1)
	assert.Equal(t, record.GapDisconnected, gaps[0].Reason)
	assert.Equal(t, 2*time.Second, gaps[0].EndNS.Sub(gaps[0].StartNS))
}

func TestStopDrainsWhatWasAccepted(t *testing.T) {
	b := newBench(t, nil)
	b.sink.hold = make(chan struct{})
	_, session := b.attach(t, "p1")
	for token := 1; token <= 5; token++ {
		b.peer.Frame(session, token, 0)
	}
	b.settle(t)
	close(b.sink.hold)
	require.NoError(t, b.recorder.Stop(t.Context()))
	assert.Equal(t, []uint64{1, 2, 3, 4, 5}, b.sink.ordinals())
	received, persisted, dropped := b.recorder.Totals()
	assert.Equal(t, [3]uint64{5, 5, 0}, [3]uint64{received, persisted, dropped})
}

func TestAStopThatCannotDrainSaysWhatIsLost(t *testing.T) {
	b := newBench(t, nil)
	b.sink.hold = make(chan struct{})
	_, session := b.attach(t, "p1")
	for token := 1; token <= 5; token++ {
		b.peer.Frame(session, token, 0)
	}
	b.settle(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.recorder.Stop(ctx), capture.ErrUndrained)
	assert.Empty(t, b.sink.ordinals())
	_, _, dropped := b.recorder.Totals()
	assert.EqualValues(t, 5, dropped)
}

func TestASuspendIsAGapOfEveryPage(t *testing.T) {
	b := newBench(t, nil)
	b.attach(t, "p1")
	b.attach(t, "p2")
	b.recorder.Suspended(5, 9)
	gaps := b.gaps()
	require.Len(t, gaps, 2)
	assert.Equal(t, record.GapSystemSuspended, gaps[0].Reason)
	assert.EqualValues(t, 9, *gaps[0].EndNS)
}

func TestFiguresOfAStream(t *testing.T) {
	b := newBench(t, nil)
	_, session := b.attach(t, "p1")
	for token := range 21 {
		b.peer.Frame(session, token, (b.clock.Mono() + 1000*time.Second - 40*time.Millisecond).Seconds())
		b.settle(t)
		b.clock.Advance(50 * time.Millisecond)
	}
	b.flush(t)
	status := b.status()
	assert.InDelta(t, 40, status.LagP50MS, 0.1)
	assert.InDelta(t, 10, status.FramesPerSecond, 1)
	var intervals uint64
	for _, bucket := range status.Histogram {
		intervals += bucket.Count
	}
	assert.EqualValues(t, 20, intervals)
}

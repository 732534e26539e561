package eventquery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/eventquery"
	"github.com/krometrail/krometrail/temporal/resolve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = id.Session("ses_000000000001")
	page    = id.Target("tgt_000000000001")
)

// live is a session that runs while on is set.
type live struct {
	on    bool
	clock clock.Session
}

func (l *live) Running() (id.Session, clock.Session, id.Target, bool) {
	return session, l.clock, page, l.on
}
func (l *live) Lag(id.Target) time.Duration { return 0 }

type bench struct {
	store   *coretest.Store
	clock   *coretest.Clock
	live    *live
	service *eventquery.Service
}

func at(ms float64) clock.SessionTime { return clock.SessionTime(ms * 1e6) }

// newBench has a page that lives from 10 ms to the end of the session at 3 s and has one frame, at 500 ms.
func newBench(t testing.TB) *bench {
	t.Helper()
	c := coretest.NewClock(time.Unix(1000, 0))
	b := &bench{store: coretest.NewStore(), clock: c, live: &live{clock: clock.Begin(c)}}
	require.NoError(t, b.store.Put(context.Background(), record.Session{ID: session, LastSelected: page, EndedNS: new(at(3000))},
		record.Target{ID: page, SessionID: session, CreatedNS: at(10)}))
	b.store.AddFrame(record.Frame{ID: "frm_000000000001", SessionID: session, TargetID: page, Ordinal: 1, ReceivedNS: at(500)}, nil)
	b.service = eventquery.New(b.store, b.store, resolve.New(b.store, b.store, b.store, b.live))
	return b
}

func (b *bench) add(t testing.TB, events ...record.Event) {
	t.Helper()
	require.NoError(t, b.store.AppendEvents(context.Background(), events))
}

// event is one of the page; numbers are unique in a test.
func event(number uint64, ms float64, class record.EventClass, severity record.Severity, payload string) record.Event {
	return record.Event{
		SessionID: session, TargetID: page, Source: "browser", Sequence: number, AtNS: at(ms), Class: class, Severity: severity, Payload: json.RawMessage(payload),
	}
}

func (b *bench) ask(t testing.TB, r eventquery.Request) (evidence.EventsResult, *evidence.ResolvedRange, error) {
	t.Helper()
	out, err := b.service.Op().Run(context.Background(), &r)
	result, _ := out.Result.(evidence.EventsResult)
	return result, out.Range, err
}

func whole() evidence.RangeRef {
	return evidence.RangeRef{StartNS: new(at(0)), EndNS: new(at(60_000))}
}

func sequences(r evidence.EventsResult) []uint64 {
	list := []uint64{}
	for _, e := range r.Events {
		list = append(list, e.Sequence)
	}
	return list
}

func TestEventsBeforeTheFirstFrameAreFound(t *testing.T) {
	b := newBench(t)
	b.add(t,
		event(1, 20, record.ClassTarget, record.Info, `{"name":"attached"}`), event(2, 30, record.ClassNavigation, record.Info, `{"state":"started"}`),
		event(3, 600, record.ClassConsole, record.Warning, `{"text":"careful"}`), event(4, 700, record.ClassRequestFailed, record.Error, `{}`))
	require.NoError(t, b.store.Put(t.Context(), record.Gap{ID: "gap_000000000001", SessionID: session, TargetID: page, Stream: record.StreamEvents, StartNS: at(40), EndNS: new(at(60)), Count: 7},
		record.Gap{ID: "gap_000000000002", SessionID: session, TargetID: page, Stream: record.StreamFrames, StartNS: at(40), EndNS: new(at(60))}))
	got, rng, err := b.ask(t, eventquery.Request{RangeRef: whole()})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1, 2, 3, 4}, sequences(got))
	assert.Equal(t, 4, got.Total)
	assert.Equal(t, map[record.EventClass]int{"target": 1, "navigation": 1, "console": 1, "request_failed": 1}, got.Counts)
	assert.InDelta(t, 10, got.Events[0].OffsetMS, 1e-9, "from the start of the range")
	require.Len(t, got.Gaps, 1, "of events, not of frames")
	assert.Equal(t, uint64(7), got.Gaps[0].Count)
	assert.Equal(t, "partial", rng.Retention)

	got, _, err = b.ask(t, eventquery.Request{RangeRef: whole(), MinSeverity: record.Warning})
	require.NoError(t, err)
	assert.Equal(t, []uint64{3, 4}, sequences(got))
	got, _, err = b.ask(t, eventquery.Request{RangeRef: whole(), Classes: []record.EventClass{record.ClassTarget, record.ClassConsole}})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1, 3}, sequences(got))
	_, _, err = b.ask(t, eventquery.Request{RangeRef: whole(), Limit: 1001})
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
}

// Every page of a list shows the list as it was when its first page was asked for, however much the page says since.
func TestPagesOfAListThatGrows(t *testing.T) {
	b := newBench(t)
	b.live.on = true
	b.clock.Advance(time.Second)
	number := uint64(0)
	say := func(ms float64) {
		number++
		b.add(t, event(number, ms, record.ClassConsole, record.Info, `{"text":"x"}`))
	}
	for i := range 25 {
		say(600 + float64(i/5)) // five at a time
	}
	var seen []uint64
	request := eventquery.Request{RangeRef: evidence.RangeRef{StartNS: new(at(0)), EndNS: new(at(2000))}, Limit: 10}
	for range 3 {
		got, rng, err := b.askLive(t, request)
		require.NoError(t, err)
		assert.Equal(t, 25, got.Total)
		assert.Equal(t, at(2000), rng.EndNS)
		seen = append(seen, sequences(got)...)
		request.Cursor = got.NextCursor
	}
	assert.Empty(t, request.Cursor)
	assert.Len(t, seen, 25)
	assert.True(t, slices.IsSorted(seen))

	request.Cursor, request.EndNS = "", new(at(9000))
	first, rng, err := b.askLive(t, request)
	require.NoError(t, err)
	until := rng.EndNS
	b.clock.Advance(time.Second)
	say(float64(until/1e6) + 500)
	request.Cursor = first.NextCursor
	second, rng, err := b.askLive(t, request)
	require.NoError(t, err)
	assert.Equal(t, until, rng.EndNS)
	assert.Equal(t, 25, second.Total)

	other := request
	other.MinSeverity = record.Warning
	_, _, err = b.askLive(t, other)
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), "a cursor is of one query")
	request.Cursor = request.Cursor[1:] + request.Cursor[:1]
	_, _, err = b.askLive(t, request)
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
}

// askLive asks about a range that may not have ended, and lets the time pass that the answer waits.
func (b *bench) askLive(t *testing.T, r eventquery.Request) (evidence.EventsResult, *evidence.ResolvedRange, error) {
	t.Helper()
	type answer struct {
		result evidence.EventsResult
		rng    *evidence.ResolvedRange
		err    error
	}
	got := make(chan answer, 1)
	waits := *r.EndNS > b.live.clock.Now()
	go func() {
		result, rng, err := b.ask(t, r)
		got <- answer{result, rng, err}
	}()
	if waits {
		b.clock.BlockUntil(1)
		b.clock.Advance(time.Second)
	}
	a := <-got
	return a.result, a.rng, a.err
}

// The events of a bundle do not depend on the order in which evidence arrived; failures come before everything else,
// then what is nearest; and they are shown in the order of time.
func TestNearestEventsAreTheSameForTheSameEvidence(t *testing.T) {
	classes := []record.EventClass{
		record.ClassConsole, record.ClassException, record.ClassRequest, record.ClassResponse, record.ClassRequestFailed, record.ClassNavigation,
		record.ClassLifecycle, record.ClassTarget, record.ClassVisibility, record.ClassDialog, record.ClassDownload,
	}
	severities := []record.Severity{record.Debug, record.Info, record.Warning, record.Error}
	rapid.Check(t, func(t *rapid.T) {
		var events []record.Event
		failures := 0
		for i := range rapid.IntRange(0, 80).Draw(t, "events") {
			e := event(uint64(i+1), float64(rapid.IntRange(0, 20).Draw(t, "ms")*10), rapid.SampledFrom(classes).Draw(t, "class"),
				rapid.SampledFrom(severities).Draw(t, "severity"), fmt.Sprintf(`{"text":"%d"}`, i))
			e.Source = rapid.SampledFrom([]string{"browser", "probe"}).Draw(t, "source")
			if e.Class == record.ClassException || e.Class == record.ClassRequestFailed {
				failures++
			}
			events = append(events, e)
		}
		moments := []clock.SessionTime{at(rapid.Float64Range(0, 200).Draw(t, "moment")), at(100)}
		rng := evidence.ResolvedRange{SessionID: session, TargetID: page, EndNS: at(1000)}
		nearest := func() []evidence.CompactEvent {
			store := coretest.NewStore()
			_ = store.AppendEvents(context.Background(), events)
			chosen, omitted, err := eventquery.New(store, store, nil).Nearest(context.Background(), rng, moments)
			if err != nil || omitted+len(chosen) != len(events) {
				t.Fatalf("%v: %d chosen and %d omitted of %d", err, len(chosen), omitted, len(events))
			}
			return chosen
		}
		first := nearest()
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		slices.Reverse(moments)
		again := nearest()
		if !reflect.DeepEqual(first, again) {
			t.Fatalf("%v\n%v", first, again)
		}
		shown := 0
		for i, e := range first {
			if e.Class == record.ClassException || e.Class == record.ClassRequestFailed {
				shown++
			}
			if i > 0 && e.AtNS < first[i-1].AtNS {
				t.Fatalf("not in the order of time: %v", first)
			}
		}
		if shown != min(failures, len(first)) {
			t.Fatalf("%d of %d failures shown among %d", shown, failures, len(first))
		}
	})
}

func TestWhatACompactEventSays(t *testing.T) {
	b := newBench(t)
	b.add(t,
		event(1, 510, record.ClassConsole, record.Warning, `{"text":"careful\n  now"}`),
		event(2, 520, record.ClassResponse, record.Warning, `{"stage":"headers","method":"GET","status":404,"kind":"fetch","url":{"scheme":"https","origin":"https://a.example"}}`),
		event(3, 530, record.ClassVisibility, record.Info, `{"visible":false}`),
		event(4, 540, record.ClassDialog, record.Info, `{"state":"opened","type":"alert","text":"Saved"}`),
		event(5, 550, record.ClassNavigation, record.Info, `{"nav_id":"nav_1","state":"committed","kind":"new_document"}`),
		event(6, 560, record.ClassLifecycle, record.Debug, `not json`))
	chosen, omitted, err := b.service.Nearest(t.Context(), evidence.ResolvedRange{SessionID: session, TargetID: page, EndNS: at(1000), AnchorNS: new(at(500))}, nil)
	require.NoError(t, err)
	assert.Zero(t, omitted)
	var lines []string
	for _, e := range chosen {
		lines = append(lines, fmt.Sprintf("%+g %s", e.OffsetMS, e.Text))
	}
	assert.Equal(t, []string{
		"+10 careful now", "+20 GET 404 fetch headers https://a.example", "+30 hidden", "+40 alert opened Saved",
		"+50 new_document committed nav_1", "+60 lifecycle",
	}, lines)
}

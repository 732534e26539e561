//go:build unix

package storage_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

func at(d time.Duration) clock.SessionTime { return clock.SessionTime(d) }

func TestFactsOfAWindow(t *testing.T) {
	b := newBench(t)
	other := id.New[id.Target]()
	gap := record.Gap{ID: id.New[id.Gap](), SessionID: b.session, TargetID: b.target, Reason: record.GapHidden, StartNS: at(time.Second), Stream: record.StreamFrames}
	suspended := record.Gap{ID: id.New[id.Gap](), SessionID: b.session, Reason: record.GapSystemSuspended, StartNS: at(2 * time.Second), EndNS: new(at(9 * time.Second)), Stream: record.StreamFrames}
	click := record.Interaction{
		ID: id.New[id.Interaction](), SessionID: b.session, TargetID: b.target, Operation: "click", Parameters: json.RawMessage(`{"button":"left"}`),
		StartedNS: at(3 * time.Second), DispatchedNS: at(3100 * time.Millisecond), Outcome: record.Succeeded, PageAffecting: true,
	}
	elsewhere := click
	elsewhere.ID, elsewhere.TargetID = id.New[id.Interaction](), other
	nav := record.Navigation{ID: id.New[id.Navigation](), SessionID: b.session, TargetID: b.target, StartNS: at(3 * time.Second), State: "started", Kind: "document"}
	mark := record.Marker{ID: id.New[id.Marker](), SessionID: b.session, TargetID: b.target, AtNS: at(4 * time.Second), Kind: "note", Label: "here"}
	look := record.Observer{SessionID: b.session, TargetID: b.target, StartNS: at(4 * time.Second), EndNS: at(5 * time.Second), Kind: "snapshot"}
	sample := record.ClockSample{SessionID: b.session, WallNS: 77, AtNS: at(time.Second)}
	require.NoError(t, b.store.Put(t.Context(), gap, suspended, click, elsewhere, nav, mark, look, sample))
	b.barrier()

	all, err := b.store.Within(t.Context(), record.Window{SessionID: b.session, TargetID: b.target, StartNS: 0, EndNS: math.MaxInt64})
	require.NoError(t, err)
	require.Equal(t, record.Facts{
		Gaps: []record.Gap{gap, suspended}, Interactions: []record.Interaction{click}, Navigations: []record.Navigation{nav},
		Markers: []record.Marker{mark}, Observers: []record.Observer{look},
	}, all)
	early, err := b.store.Within(t.Context(), b.window(0, 1500*time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, record.Facts{Gaps: []record.Gap{gap}}, early)
	late, err := b.store.Within(t.Context(), b.window(time.Minute, time.Hour))
	require.NoError(t, err)
	require.Equal(t, []record.Gap{gap}, late.Gaps, "a gap without an end lasts")

	gap.EndNS = new(at(2 * time.Second))
	click.CompletedNS, click.ObservedNS = new(at(3200*time.Millisecond)), new(at(3500*time.Millisecond))
	require.NoError(t, b.store.Put(t.Context(), gap, click))
	b.barrier()
	late, err = b.store.Within(t.Context(), b.window(time.Minute, time.Hour))
	require.NoError(t, err)
	require.Empty(t, late.Gaps)
	read, err := b.store.Interaction(t.Context(), click.ID)
	require.NoError(t, err)
	require.Equal(t, click, read)
	newest, err := b.store.Interactions(t.Context(), b.session, "", 10)
	require.NoError(t, err)
	require.Len(t, newest, 2)
	newest, err = b.store.Interactions(t.Context(), b.session, other, 10)
	require.NoError(t, err)
	require.Equal(t, []record.Interaction{elsewhere}, newest)
	_, err = b.store.Marker(t.Context(), id.New[id.Marker]())
	require.Equal(t, fault.NotFound, code(err))
	_, err = b.store.Navigation(t.Context(), nav.ID)
	require.NoError(t, err)
	samples, err := b.store.ClockSamples(t.Context(), b.session)
	require.NoError(t, err)
	require.Equal(t, []record.ClockSample{sample}, samples)
}

func TestSessionsAndTargets(t *testing.T) {
	b := newBench(t)
	b.clock.Advance(time.Minute)
	second, tab := id.New[id.Session](), id.New[id.Target]()
	b.begin(second, tab)
	require.NoError(t, b.store.Put(t.Context(), record.Target{ID: id.New[id.Target](), SessionID: second, CreatedNS: 5, Opener: tab}))
	b.append(0, 10_000)
	b.barrier()
	sessions, err := b.store.Sessions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []id.Session{second, b.session}, []id.Session{sessions[0].ID, sessions[1].ID})
	targets, err := b.store.Targets(t.Context(), second)
	require.NoError(t, err)
	require.Len(t, targets, 2)
	require.Equal(t, tab, targets[0].ID)
	_, err = b.store.Session(t.Context(), id.New[id.Session]())
	require.Equal(t, fault.NotFound, code(err))
	require.NoError(t, b.store.EndSession(t.Context(), record.Session{ID: b.session, StartedAt: startWall, EndedAt: new(b.clock.Wall())}))
	usage, err := b.store.Usage(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, usage[1].Frames)
	require.Equal(t, 1, usage[1].Targets)
	require.Greater(t, usage[1].Bytes, int64(10_000))
	require.NotNil(t, usage[1].EndedAt)
}

func TestEventsArePagedAndFiltered(t *testing.T) {
	b := newBench(t)
	var events []record.Event
	for i := range 10 {
		class, severity := record.ClassConsole, record.Info
		if i%2 == 1 {
			class, severity = record.ClassException, record.Error
		}
		events = append(events, record.Event{
			SessionID: b.session, TargetID: b.target, Source: "browser", Sequence: uint64(i + 1),
			AtNS: at(time.Duration(i) * time.Second), Class: class, Severity: severity, Payload: json.RawMessage(`{"n":1}`),
		})
	}
	require.NoError(t, b.store.AppendEvents(t.Context(), events))
	b.barrier()
	q := record.EventQuery{Window: b.window(0, time.Hour), Limit: 3}
	page, total, err := b.store.Events(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, 10, total)
	require.Equal(t, events[:3], page)
	q.After = &record.EventKey{AtNS: events[7].AtNS, Source: "browser", Sequence: 8}
	page, _, err = b.store.Events(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, events[8:], page)
	q = record.EventQuery{Window: b.window(2*time.Second, 5*time.Second), MinSeverity: record.Warning, Classes: []record.EventClass{record.ClassException}}
	page, total, err = b.store.Events(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, []record.Event{events[3], events[5]}, page)
	counts, err := b.store.CountEvents(t.Context(), record.EventQuery{Window: b.window(0, time.Hour)})
	require.NoError(t, err)
	require.Equal(t, map[record.EventClass]int{record.ClassConsole: 5, record.ClassException: 5}, counts)

	big := record.Event{Payload: json.RawMessage(make([]byte, 8<<10+1))}
	require.Equal(t, fault.ResourceLimitExceeded, code(b.store.AppendEvents(t.Context(), []record.Event{big})))
}

func TestRowsBecomeVisibleWithoutABarrier(t *testing.T) {
	b := newBench(t)
	b.barrier()
	f := b.append(0, 100)
	b.clock.BlockUntil(1) // the batch timer
	_, err := b.store.Frame(t.Context(), f.ID)
	require.Equal(t, fault.NotFound, code(err), "not yet committed")
	b.clock.Advance(50 * time.Millisecond)
	require.Eventually(t, func() bool {
		_, err := b.store.Frame(t.Context(), f.ID)
		return err == nil
	}, patience, time.Millisecond)
}

func TestWhatHasNoJSONFormIsRefused(t *testing.T) {
	b := newBench(t)
	click := record.Interaction{ID: id.New[id.Interaction](), SessionID: b.session, Parameters: json.RawMessage(`{`)}
	require.Equal(t, fault.InvalidInput, code(b.store.Put(t.Context(), click)))
	event := record.Event{SessionID: b.session, Payload: json.RawMessage(`{`)}
	require.Equal(t, fault.InvalidInput, code(b.store.AppendEvents(t.Context(), []record.Event{event})))
	f := b.frame(0)
	f.ChromeTimestamp = math.NaN()
	_, err := b.store.AppendFrame(t.Context(), f, payload(0))
	require.Equal(t, fault.InvalidInput, code(err))
	b.append(0, 0)
	b.barrier()
	require.Nil(t, b.status().Failure)
}

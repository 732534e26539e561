//go:build unix

package storage_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/faultfs"
)

const mib = 1 << 20

func budget(n int64) func(*storage.Options) {
	return func(o *storage.Options) { o.BudgetBytes = n }
}

// fill appends frames of a quarter MiB, one a second, and returns them.
func (b *bench) fill(n int) []record.Frame {
	b.t.Helper()
	var out []record.Frame
	for range n {
		b.clock.Advance(time.Second)
		out = append(out, b.append(time.Duration(b.ordinal)*time.Second, mib/4))
		require.LessOrEqual(b.t, b.status().UsedBytes, b.status().ShareBytes)
	}
	return out
}

func (b *bench) retained() record.Retained {
	b.t.Helper()
	b.barrier()
	kept, err := b.store.Retained(b.t.Context(), b.session, b.target)
	require.NoError(b.t, err)
	return kept
}

func (b *bench) gaps() []record.Gap {
	b.t.Helper()
	b.barrier()
	facts, err := b.store.Within(b.t.Context(), b.window(0, 1000*time.Hour))
	require.NoError(b.t, err)
	return facts.Gaps
}

func TestALongSessionIsTrimmedAtTheHighWaterMark(t *testing.T) {
	b := newBench(t, budget(20*mib))
	frames := b.fill(400) // 100 MiB
	kept := b.retained()
	require.Less(t, kept.Frames, 80)
	require.Greater(t, kept.Frames, 40)
	require.NotNil(t, kept.EvictedThroughNS)
	require.Less(t, *kept.EvictedThroughNS, kept.OldestNS)
	require.LessOrEqual(t, b.status().UsedBytes, int64(20*mib*85/100)+mib/4+64<<10)
	require.False(t, b.status().RecordingBlocked)

	// One gap covers everything that went, exactly.
	gaps := b.gaps()
	require.Len(t, gaps, 1)
	gone := len(frames) - kept.Frames
	require.Equal(t, record.GapEvicted, gaps[0].Reason)
	require.EqualValues(t, gone, gaps[0].Count)
	require.Equal(t, [2]uint64{1, uint64(gone)}, [2]uint64{gaps[0].FirstOrdinal, gaps[0].LastOrdinal})
	require.Equal(t, frames[0].Time(), gaps[0].StartNS)
	require.Equal(t, *kept.EvictedThroughNS, *gaps[0].EndNS)

	_, err := b.store.Frame(t.Context(), frames[0].ID)
	require.Equal(t, fault.RangeNotRetained, code(err))
	_, err = b.store.Pixels(t.Context(), frames[0])
	require.Equal(t, fault.EvidenceInvalidated, code(err))
	b.requireReadable(frames[len(frames)-1])
	_, ok, err := b.store.CarryIn(t.Context(), b.session, b.target, kept.OldestNS)
	require.NoError(t, err)
	require.False(t, ok, "the frame before the oldest one is gone")
	b.requireAccounting()
	require.NoError(t, end(b))
	require.True(t, b.reopen().Empty())
	b.requireAccounting()
	require.Equal(t, kept, b.retained())
}

func TestAWriteLargerThanTheShareIsRefused(t *testing.T) {
	b := newBench(t, budget(16*mib))
	_, err := b.store.AppendFrame(t.Context(), b.frame(0), text(picture(8, 8, 15*mib)))
	require.Equal(t, fault.BudgetExhausted, code(err))
	require.NotNil(t, fault.From(err).Limit)
	require.True(t, b.status().RecordingBlocked)
	b.append(0, 1000)
	require.False(t, b.status().RecordingBlocked)
}

func TestTheBaselineOfAQuietPageSurvives(t *testing.T) {
	b := newBench(t, budget(20*mib))
	quiet := id.New[id.Target]()
	b.begin(b.session, quiet)
	f := b.frame(0)
	f.TargetID = quiet
	baseline, err := b.store.AppendFrame(t.Context(), f, text(picture(8, 8, 1000)))
	require.NoError(t, err)
	b.fill(600) // ten minutes of another page, several times the budget

	click := b.frame(10 * time.Minute)
	click.TargetID = quiet
	_, err = b.store.AppendFrame(t.Context(), click, text(picture(8, 8, 1000)))
	require.NoError(t, err)
	b.barrier()
	found, ok, err := b.store.CarryIn(t.Context(), b.session, quiet, clock.SessionTime(10*time.Minute))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, baseline.ID, found.ID)
	b.requireReadable(baseline)

	// Once the page is closed nothing keeps its segment.
	require.NoError(t, b.store.Put(t.Context(), record.Target{ID: quiet, SessionID: b.session, ClosedNS: new(at(time.Hour))}))
	b.fill(100)
	_, err = b.store.Frame(t.Context(), baseline.ID)
	require.Equal(t, fault.RangeNotRetained, code(err))
}

func TestPinsAreNeverEvictedAndPauseRecording(t *testing.T) {
	b := newBench(t, budget(20*mib))
	frames := b.fill(20)
	b.barrier()
	first := b.window(5*time.Second, 12*time.Second)
	result, err := b.store.Pin(t.Context(), first)
	require.NoError(t, err)
	require.True(t, result.Changed)
	require.Nil(t, result.UnrecordedFromNS)
	again, err := b.store.Pin(t.Context(), first)
	require.NoError(t, err)
	require.False(t, again.Changed)
	b.fill(200)
	for _, f := range frames[4:13] { // the window and the frame before it
		b.requireReadable(f)
	}
	require.Equal(t, result.Bytes, b.status().PinnedBytes)

	// Pin until recording has to pause.
	var paused error
	for {
		b.clock.Advance(time.Second)
		f, err := b.store.AppendFrame(t.Context(), b.frame(time.Duration(b.ordinal)*time.Second), payload(mib/4))
		if err != nil {
			paused = err
			break
		}
		_, err = b.store.Pin(t.Context(), record.Window{SessionID: b.session, TargetID: b.target, StartNS: f.Time(), EndNS: f.Time() + 1})
		require.NoError(t, err)
		require.Less(t, b.ordinal, uint64(2000))
	}
	require.Equal(t, fault.BudgetExhausted, code(paused))
	require.Contains(t, fault.From(paused).Recovery, "unpin")
	require.True(t, b.status().RecordingBlocked)
	require.True(t, b.status().EvictionBlocked)
	require.Equal(t, fault.AfterRecovery, b.status().Failure.Retry, "the status says whether and when to try again")
	require.Contains(t, b.status().Failure.Recovery, "unpin")
	require.NoError(t, b.store.Put(t.Context(), record.Gap{ID: id.New[id.Gap](), SessionID: b.session, TargetID: b.target, Reason: record.GapPersistenceRejected, Stream: record.StreamFrames}),
		"that recording is paused can still be recorded")
	b.requireReadable(frames[6])

	pins, err := b.store.Pins(t.Context(), nil)
	require.NoError(t, err)
	touching, err := b.store.Pins(t.Context(), &first)
	require.NoError(t, err)
	require.Len(t, touching, 1)
	for _, p := range pins {
		result, err := b.store.Unpin(t.Context(), p.Window)
		require.NoError(t, err)
		require.True(t, result.Changed)
	}
	b.append(time.Hour, mib/4)
	require.False(t, b.status().RecordingBlocked)
	require.Nil(t, b.status().Failure)
	require.Zero(t, b.status().PinnedBytes)
	none, err := b.store.Unpin(t.Context(), first)
	require.NoError(t, err)
	require.False(t, none.Changed)
	b.requireAccounting()
}

func TestPinOfWhatIsNotRecorded(t *testing.T) {
	b := newBench(t)
	_, err := b.store.Pin(t.Context(), b.window(0, time.Second))
	require.Equal(t, fault.RangeNotCaptured, code(err))
	b.append(time.Second, 100)
	b.barrier()
	result, err := b.store.Pin(t.Context(), b.window(0, time.Minute))
	require.NoError(t, err)
	require.NotNil(t, result.UnrecordedFromNS)
	require.Equal(t, clock.SessionTime(time.Second)+1, *result.UnrecordedFromNS)
	require.Zero(t, b.reopen().SealedSegments)
	pins, err := b.store.Pins(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, pins, 1, "pins survive a reopening")
	_, err = b.store.Pin(t.Context(), b.window(time.Minute, time.Second))
	require.Equal(t, fault.InvalidInput, code(err))
}

func TestPinsLargerThanTheShareWarn(t *testing.T) {
	b := newBench(t, budget(64*mib), func(o *storage.Options) { o.Peers = &peers{live: 1} })
	b.fill(80)
	b.barrier()
	b.options.Peers.(*peers).live = 4
	result, err := b.store.Pin(t.Context(), b.window(0, time.Hour))
	require.NoError(t, err)
	require.Len(t, result.Warnings, 1)
	require.Equal(t, fault.PinnedExceedsShare, result.Warnings[0].Code)
	_, err = b.store.AppendFrame(t.Context(), b.frame(time.Hour), text(picture(8, 8, 1000)))
	require.Equal(t, fault.BudgetExhausted, code(err))
}

func (b *bench) publish(key string, size int, sources ...record.Frame) (record.Artifact, []*fault.Error) {
	b.t.Helper()
	a := record.Artifact{SessionID: b.session, TargetID: b.target, Kind: "storyboard", CacheKey: key}
	for _, f := range sources {
		a.Sources = append(a.Sources, f.ID)
	}
	a, warnings, err := b.store.PublishArtifact(b.t.Context(), a, strings.NewReader(strings.Repeat("x", size)), []byte("{}"))
	require.NoError(b.t, err)
	return a, warnings
}

func TestFreshArtifactsKeepTheirEvidence(t *testing.T) {
	b := newBench(t, budget(20*mib))
	frames := b.fill(20)
	a, _ := b.publish("k", 1000, frames[2])
	b.fill(200) // 220 s: within the grace of 15 minutes
	b.requireReadable(frames[2])
	_, err := b.store.ReadArtifact(t.Context(), a.ID)
	require.NoError(t, err)
	b.clock.Advance(15 * time.Minute)
	b.fill(100)
	_, err = b.store.Artifact(t.Context(), a.ID)
	require.Equal(t, fault.EvidenceInvalidated, code(err))
	_, err = b.store.ReadArtifact(t.Context(), a.ID)
	require.Equal(t, fault.EvidenceInvalidated, code(err))
	_, err = b.store.Frame(t.Context(), frames[2].ID)
	require.Equal(t, fault.RangeNotRetained, code(err))
	require.Nil(t, b.status().GraceOverriddenThrough)
	b.requireAccounting()
}

func TestGraceIsDroppedRatherThanStallingCapture(t *testing.T) {
	b := newBench(t, budget(20*mib))
	var warned record.Frame
	for i := 0; warned.ID == "" && i < 200; i++ {
		f := b.fill(1)[0]
		if len(f.Warnings) > 0 {
			warned = f
			break
		}
		b.publish(fmt.Sprint(i), 1000, f) // every segment backs a fresh artifact
	}
	require.Equal(t, []string{string(fault.ArtifactGraceOverridden)}, warned.Warnings)
	through := b.status().GraceOverriddenThrough
	require.NotNil(t, through)
	require.Equal(t, warned.Time()-clock.SessionTime(time.Second), *through, "the newest retained point known after the override")
	b.barrier()
	stored, err := b.store.Frame(t.Context(), warned.ID)
	require.NoError(t, err)
	require.Empty(t, stored.Warnings)
	b.clock.Advance(time.Hour)
	b.fill(3)
	require.Equal(t, through, b.status().GraceOverriddenThrough, "the fact stays")
	b.requireAccounting()
}

func TestPublicationThatOverridesGraceSaysSo(t *testing.T) {
	b := newBench(t, budget(20*mib))
	for i := range 40 {
		b.publish(fmt.Sprint(i), 1000, b.fill(1)[0])
	}
	_, warnings := b.publish("big", 11*mib, b.fill(1)[0])
	require.Len(t, warnings, 1)
	require.Equal(t, fault.ArtifactGraceOverridden, warnings[0].Code)
	b.requireAccounting()
}

func TestEvidenceExpiresByAgeWithTheNextOperation(t *testing.T) {
	b := newBench(t, func(o *storage.Options) { o.MaxAge = 24 * time.Hour })
	old := b.fill(8)
	a, _ := b.publish("k", 10, old[0])
	event := record.Event{SessionID: b.session, TargetID: b.target, Source: "browser", Sequence: 1, Class: record.ClassConsole, Payload: []byte("{}")}
	require.NoError(t, b.store.AppendEvents(t.Context(), []record.Event{event}))
	click := record.Interaction{ID: id.New[id.Interaction](), SessionID: b.session, TargetID: b.target}
	require.NoError(t, b.store.Put(t.Context(), click))
	b.clock.Advance(25 * time.Hour)
	b.barrier()
	b.requireReadable(old[0])
	require.Equal(t, 8, b.retained().Frames, "nothing happens without an operation")

	b.append(26*time.Hour, 1000)
	_, err := b.store.Artifact(t.Context(), a.ID)
	require.Equal(t, fault.EvidenceInvalidated, code(err))
	_, total, err := b.store.Events(t.Context(), record.EventQuery{Window: b.window(0, time.Hour)})
	require.NoError(t, err)
	require.Zero(t, total)
	_, err = b.store.Interaction(t.Context(), click.ID)
	require.Equal(t, fault.NotFound, code(err))
	// The newest frame of the live page was its baseline until now; with a newer one it may go.
	b.clock.Advance(time.Minute)
	b.append(26*time.Hour+time.Minute, 1000)
	_, err = b.store.Frame(t.Context(), old[0].ID)
	require.Equal(t, fault.RangeNotRetained, code(err))
	b.requireAccounting()

	// An ended session of which nothing is left goes as a whole.
	require.NoError(t, end(b))
	next, page := id.New[id.Session](), id.New[id.Target]()
	b.clock.Advance(48 * time.Hour)
	b.begin(next, page)
	b.session, b.target = next, page
	b.append(0, 1000)
	b.barrier()
	sessions, err := b.store.Sessions(t.Context())
	require.NoError(t, err)
	require.Len(t, sessions, 1)
}

func TestEventsThatWentAreOneGapOfTheirOwn(t *testing.T) {
	b := newBench(t, func(o *storage.Options) { o.MaxAge = 24 * time.Hour })
	event := func(n uint64) record.Event {
		return record.Event{
			SessionID: b.session, TargetID: b.target, Source: "browser", Sequence: n, AtNS: clock.SessionTime(n) * 1000,
			Class: record.ClassConsole, Payload: []byte("{}"),
		}
	}
	require.NoError(t, b.store.AppendEvents(t.Context(), []record.Event{event(1), event(2)}))
	frame := b.fill(1)[0]
	b.clock.Advance(25 * time.Hour)
	require.NoError(t, b.store.AppendEvents(t.Context(), []record.Event{event(3)}))
	b.append(25*time.Hour, 1000) // the operation that lets the first two go
	b.clock.Advance(25 * time.Hour)
	b.append(50*time.Hour, 1000) // and the third
	b.barrier()
	facts, err := b.store.Within(t.Context(), b.window(0, time.Hour))
	require.NoError(t, err)
	var lost []record.Gap
	for _, g := range facts.Gaps {
		if g.Stream == record.StreamEvents {
			lost = append(lost, g)
		}
	}
	require.Len(t, lost, 1)
	require.Equal(t, record.GapEvicted, lost[0].Reason)
	require.EqualValues(t, 3, lost[0].Count)
	require.EqualValues(t, 1000, lost[0].StartNS)
	require.EqualValues(t, 3000, *lost[0].EndNS)
	kept, ok, err := b.store.CarryIn(t.Context(), b.session, b.target, clock.SessionTime(time.Hour))
	require.NoError(t, err)
	if _, err := b.store.Frame(t.Context(), frame.ID); err == nil {
		require.True(t, ok, "lost events say nothing about frames")
		require.Equal(t, frame.ID, kept.ID)
	}
}

func TestAgeZeroKeepsEverything(t *testing.T) {
	b := newBench(t)
	old := b.append(0, 1000)
	b.clock.Advance(10000 * time.Hour)
	b.append(time.Second, 1000)
	b.barrier()
	b.requireReadable(old)
}

func TestAnOpenSegmentIsSealedWhenNothingElseIsLeft(t *testing.T) {
	b := newBench(t, budget(16*mib))
	b.append(0, 100)
	a, _ := b.publish("big", 12*mib, b.append(time.Second, 100))
	_ = a
	other := id.New[id.Session]()
	page := id.New[id.Target]()
	b.begin(other, page)
	b.session, b.target = other, page
	b.append(0, mib/2) // open, in the other session
	b.clock.Advance(time.Hour)
	frame := b.frame(time.Second)
	_, err := b.store.AppendFrame(t.Context(), frame, text(picture(8, 8, 13*mib)))
	require.NoError(t, err, "the artifact, then the open segments make room")
	b.requireAccounting()
}

func TestDeleteSessionRemovesEverythingOfIt(t *testing.T) {
	b := newBench(t)
	frames := b.fill(8)
	a, _ := b.publish("k", 5000, frames[0])
	b.barrier()
	_, err := b.store.Pin(t.Context(), b.window(0, time.Hour))
	require.NoError(t, err)
	event := record.Event{SessionID: b.session, TargetID: b.target, Source: "browser", Sequence: 1, Class: record.ClassConsole, Payload: []byte(`{"secret":"zebra"}`)}
	require.NoError(t, b.store.AppendEvents(t.Context(), []record.Event{event}))
	mine, page := b.session, b.target
	b.session, b.target = id.New[id.Session](), id.New[id.Target]()
	b.begin(b.session, b.target)
	other := b.append(0, 1000)

	before := diskBytes(t, b.root)
	deletion, err := b.store.DeleteSession(t.Context(), mine)
	require.NoError(t, err)
	require.Equal(t, [4]int{8, 1, 1, 1}, [4]int{deletion.Frames, deletion.Events, deletion.Artifacts, deletion.Pins})
	require.Greater(t, deletion.Rows, 11)
	require.Greater(t, deletion.Bytes, int64(2*mib))
	require.Less(t, diskBytes(t, b.root), before)
	_, err = b.store.Session(t.Context(), mine)
	require.Equal(t, fault.NotFound, code(err))
	for _, f := range frames {
		_, err = b.store.Frame(t.Context(), f.ID)
		require.Equal(t, fault.EvidenceInvalidated, code(err))
	}
	_, err = b.store.Artifact(t.Context(), a.ID)
	require.Equal(t, fault.EvidenceInvalidated, code(err))
	_, total, err := b.store.Frames(t.Context(), record.Window{SessionID: mine, TargetID: page, EndNS: 1 << 60}, 0, 0)
	require.NoError(t, err)
	require.Zero(t, total)
	b.requireReadable(other)
	_, err = b.store.DeleteSession(t.Context(), mine)
	require.Equal(t, fault.NotFound, code(err))
	b.requireAccounting()
	require.NoError(t, b.store.Close(t.Context()))
	requireNowhere(t, b.root, string(mine), "zebra")
	require.True(t, b.open().Empty())
}

// requireNowhere looks for words in all files of the root.
func requireNowhere(t *testing.T, root string, words ...string) {
	t.Helper()
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			for _, word := range words {
				require.False(t, bytes.Contains(content, []byte(word)), "%s is still in %s", word, name)
			}
		}
	}
}

func TestAFileThatCannotBeRemovedCountsUntilItCan(t *testing.T) {
	b, tree := faulty(t)
	b.fill(8)
	mine := b.session
	b.session, b.target = id.New[id.Session](), id.New[id.Target]()
	b.begin(b.session, b.target)
	b.barrier()
	before := b.status().UsedBytes
	tree.SetHook(faultfs.FailNth(1, is(faultfs.Remove, "segments"), syscall.EIO))
	deletion, err := b.store.DeleteSession(t.Context(), mine)
	require.NoError(t, err)
	require.Zero(t, deletion.Bytes)
	require.Greater(t, b.status().UsedBytes, before-mib)
	b.requireAccounting()
	require.NoError(t, b.store.Close(t.Context()))

	tree.SetHook(nil)
	report := b.open()
	require.Equal(t, 1, report.RemovedFiles)
	b.requireAccounting()
	require.True(t, b.reopen().Empty())
}

func TestEventsAloneStayWithinTheShare(t *testing.T) {
	b := newBench(t, budget(16*mib))
	payload := []byte(`{"text":"` + strings.Repeat("x", 8000) + `"}`)
	for i := range 60 {
		var batch []record.Event
		for j := range 100 {
			batch = append(batch, record.Event{
				SessionID: b.session, TargetID: b.target, Source: "browser", Sequence: uint64(i*100 + j + 1),
				AtNS: at(time.Duration(i) * time.Second), Class: record.ClassConsole, Severity: record.Info, Payload: payload,
			})
		}
		b.clock.Advance(time.Second)
		require.NoError(t, b.store.AppendEvents(t.Context(), batch))
		b.barrier()
		require.LessOrEqual(t, diskBytes(t, b.root), int64(16*mib))
	}
	_, total, err := b.store.Events(t.Context(), record.EventQuery{Window: b.window(0, time.Hour), Limit: 1})
	require.NoError(t, err)
	require.Greater(t, total, 300)
	require.Less(t, total, 2000)
}

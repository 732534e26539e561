package retention_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/retention"
)

const grace = 15 * time.Minute

var (
	session = id.New[id.Session]()
	streamA = retention.Stream{Session: session, Target: "a"}
	streamB = retention.Stream{Session: session, Target: "b"}
)

// world is a random book with what the test knows about it.
type world struct {
	book     *retention.Book
	now      int64
	segments map[int64]retention.Segment
	pinned   map[int64]bool
	graced   map[int64]bool
	newest   map[retention.Stream]int64
}

func draw(t *rapid.T) *world {
	w := &world{
		book: retention.NewBook(grace), now: int64(24 * time.Hour), segments: map[int64]retention.Segment{},
		pinned: map[int64]bool{}, graced: map[int64]bool{}, newest: map[retention.Stream]int64{},
	}
	count := rapid.IntRange(0, 12).Draw(t, "segments")
	for key := int64(1); key <= int64(count); key++ {
		s := retention.Segment{
			Key: key, ID: id.New[id.Segment](), Session: session, Bytes: 10, CreatedWall: key * 100, LastWall: key*100 + 50,
			NewestNS: clock.SessionTime(key), Sealed: key < int64(count) || rapid.Bool().Draw(t, "last sealed"),
		}
		w.segments[key] = s
		w.book.AddSegment(s)
	}
	if count > 0 {
		keys := rapid.Int64Range(1, int64(count))
		for i := range rapid.IntRange(0, 3).Draw(t, "pins") {
			key := keys.Draw(t, "pinned")
			w.pinned[key] = true
			w.book.AddPin(retention.Pin{Key: int64(i + 1), Segments: []int64{key}})
		}
		for range rapid.IntRange(0, 3).Draw(t, "artifacts") {
			key, fresh := keys.Draw(t, "source"), rapid.Bool().Draw(t, "fresh")
			a := retention.Artifact{ID: id.New[id.Artifact](), Bytes: 1, CreatedWall: w.now - int64(grace), Segments: []int64{key}}
			if fresh {
				a.CreatedWall++
				w.graced[key] = true
			}
			w.book.AddArtifact(a)
		}
		for _, s := range []retention.Stream{streamA, streamB} {
			if rapid.Bool().Draw(t, "live") {
				w.newest[s] = keys.Draw(t, "newest")
				w.book.Newest(s, w.newest[s])
			}
		}
	}
	if rapid.Bool().Draw(t, "events") {
		w.book.EventsFrom(rapid.Int64Range(1, 1500).Draw(t, "events from"))
	}
	return w
}

// follow carries steps out on the book until there is none, and returns them.
func (w *world) follow(next func() (retention.Step, bool)) []retention.Step {
	var steps []retention.Step
	for len(steps) < 100 {
		step, ok := next()
		if !ok || step.Action == retention.DropFacts {
			return steps
		}
		steps = append(steps, step)
		switch step.Action {
		case retention.DropArtifact:
			w.book.RemoveArtifact(step.Artifact)
		case retention.DropEvents:
			w.book.EventsFrom(0)
		case retention.EvictSegments:
			w.book.RemoveSegments(step.Segments...)
		case retention.SealSegment:
			w.book.Segment(step.Segments[0]).Sealed = true
		case retention.DropFacts: // ended the walk above
		}
	}
	panic("the walk does not end")
}

// Whatever the state: pinned segments never go; fresh ones only when the grace is overridden; newest frames only the
// one that is about to be superseded; what may go goes, oldest first; only sealed segments are evicted.
func TestTheWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		force := retention.Force(rapid.IntRange(int(retention.Trim), int(retention.Supersede)).Draw(t, "force"))
		steps := w.follow(func() (retention.Step, bool) { return w.book.Next(force, w.now, streamA) })
		artifacts, last := true, int64(0)
		for _, step := range steps {
			if step.Action != retention.DropArtifact {
				artifacts = false
			}
			require.True(t, artifacts || step.Action != retention.DropArtifact, "artifacts go first")
			if step.Action == retention.EvictSegments {
				require.Len(t, step.Segments, 1)
				require.Greater(t, step.Segments[0], last, "oldest first")
				last = step.Segments[0]
				require.Equal(t, w.segments[last].LastWall, step.Wall)
			}
		}
		for key, s := range w.segments {
			kept := w.pinned[key] || w.graced[key] && force < retention.OverrideGrace || !s.Sealed && force < retention.Press
			for stream, newest := range w.newest {
				if newest == key && (force < retention.Supersede || stream != streamA) {
					kept = true
				}
			}
			require.Equal(t, kept, w.book.Segment(key) != nil, "segment %d under force %d", key, force)
		}
	})
}

func TestAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		cutoff := rapid.Int64Range(0, 1500).Draw(t, "cutoff")
		w.follow(func() (retention.Step, bool) { return w.book.Expired(cutoff) })
		for key, s := range w.segments {
			kept := s.LastWall >= cutoff || w.pinned[key]
			for _, newest := range w.newest {
				kept = kept || newest == key
			}
			require.Equal(t, kept, w.book.Segment(key) != nil, "segment %d with cutoff %d", key, cutoff)
		}
	})
}

func TestPinsAreCountedOnEachSegment(t *testing.T) {
	b := retention.NewBook(grace)
	b.AddSegment(retention.Segment{Key: 1, Bytes: 10, Sealed: true})
	b.AddSegment(retention.Segment{Key: 2, Bytes: 20, Sealed: true})
	window := record.Window{SessionID: session, TargetID: "a", StartNS: 10, EndNS: 30}
	b.AddPin(retention.Pin{Key: 1, Window: window, ThroughNS: 20, Segments: []int64{1}})
	b.AddPin(retention.Pin{Key: 2, Segments: []int64{1}})
	require.EqualValues(t, 10, b.PinnedBytes())
	b.RemovePin(2)
	require.EqualValues(t, 10, b.PinnedBytes(), "the other pin still holds it")
	require.Empty(t, b.ExtendPins(streamA, 25, 2), "behind what was recorded when it was pinned")
	require.Empty(t, b.ExtendPins(streamB, 15, 2))
	require.Equal(t, []int64{1}, b.ExtendPins(streamA, 15, 2), "a late frame inside is protected as well")
	require.EqualValues(t, 30, b.PinnedBytes())
	b.RemovePinsOf(session)
	require.Zero(t, b.PinnedBytes())
	_, ok := b.Next(retention.Trim, 0, streamA)
	require.True(t, ok)
}

// Package sequence reads what is recorded of a range: frames with their baseline from before it, geometry
// epochs, gaps and facts, and says how well the range was captured.
package sequence

import (
	"cmp"
	"context"
	"slices"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/record"
)

// Sequence is what is recorded of one range. It is immutable.
type Sequence struct {
	Range evidence.ResolvedRange
	// Frames are in the order in which they were shown.
	Frames []record.Frame
	// CarryIn is the newest frame before the range with no gap, visibility loss or geometry change between:
	// what the page looked like when the range began. Nil when there is none.
	CarryIn *record.Frame
	Facts   record.Facts
	Epochs  []Epoch
}

// Epoch is a stretch of frames of one geometry: Frames[First:Last+1] of the sequence.
type Epoch struct {
	Index       int
	First, Last int
}

// Reader reads sequences.
type Reader struct {
	frames   record.FrameReader
	timeline record.TimelineReader
}

// NewReader returns a reader.
func NewReader(frames record.FrameReader, timeline record.TimelineReader) *Reader {
	return &Reader{frames: frames, timeline: timeline}
}

// Read reads the range's sequence. The caller has passed a barrier.
func (r *Reader) Read(ctx context.Context, rng evidence.ResolvedRange) (Sequence, error) {
	w := record.Window{SessionID: rng.SessionID, TargetID: rng.TargetID, StartNS: rng.StartNS, EndNS: rng.EndNS}
	frames, _, err := r.frames.Frames(ctx, w, 0, 0)
	if err != nil {
		return Sequence{}, err
	}
	facts, err := r.timeline.Within(ctx, w)
	if err != nil {
		return Sequence{}, err
	}
	order(frames)
	s := Sequence{Range: rng, Frames: frames, Facts: facts}
	if s.CarryIn, err = r.carryIn(ctx, s); err != nil {
		return Sequence{}, err
	}
	s.Epochs = epochs(frames)
	return s, nil
}

// order puts frames into the order in which they were shown. Chrome encodes frames on several threads, so on a
// busy machine they arrive, and are numbered, in another order; the ordinal decides between equal times.
func order(frames []record.Frame) {
	slices.SortStableFunc(frames, func(a, b record.Frame) int {
		return cmp.Or(cmp.Compare(a.Time(), b.Time()), cmp.Compare(a.Ordinal, b.Ordinal))
	})
}

// carryIn finds the baseline frame and checks that nothing is known to be missing up to the first frame.
func (r *Reader) carryIn(ctx context.Context, s Sequence) (*record.Frame, error) {
	f, ok, err := r.frames.CarryIn(ctx, s.Range.SessionID, s.Range.TargetID, s.Range.StartNS)
	if err != nil || !ok {
		return nil, err
	}
	until := s.Range.StartNS
	if len(s.Frames) > 0 {
		if !SameGeometry(f, s.Frames[0]) {
			return nil, nil
		}
		until = s.Frames[0].Time()
	}
	facts, err := r.timeline.Within(ctx, record.Window{
		SessionID: s.Range.SessionID, TargetID: s.Range.TargetID, StartNS: f.Time(), EndNS: until,
	})
	if err != nil {
		return nil, err
	}
	for _, g := range facts.Gaps {
		if g.Stream == record.StreamFrames && after(g, f.Time()) {
			return nil, nil
		}
	}
	return &f, nil
}

// after reports whether the gap reaches beyond t: one that ended when the frame arrived does not separate
// the frame from what follows.
func after(g record.Gap, t clock.SessionTime) bool { return g.EndNS == nil || *g.EndNS > t }

// SameGeometry reports whether two frames belong to one epoch: same picture size and same page geometry.
// Scrolling is not a change of geometry.
func SameGeometry(a, b record.Frame) bool {
	return a.Width == b.Width && a.Height == b.Height &&
		a.Viewport.Width == b.Viewport.Width && a.Viewport.Height == b.Viewport.Height &&
		a.Viewport.DeviceScale == b.Viewport.DeviceScale
}

func epochs(frames []record.Frame) []Epoch {
	var all []Epoch
	for i := range frames {
		if i == 0 || !SameGeometry(frames[i-1], frames[i]) {
			all = append(all, Epoch{Index: len(all), First: i})
		}
		all[len(all)-1].Last = i
	}
	return all
}

// EpochAt is the index of the epoch that holds the frame nearest at or before t, else the first one.
func (s Sequence) EpochAt(t clock.SessionTime) int {
	at := 0
	for _, e := range s.Epochs {
		if s.Frames[e.First].Time() <= t {
			at = e.Index
		}
	}
	return at
}

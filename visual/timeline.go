package visual

import "time"

// frameInfo is everything an Analysis knows about one source frame.
type frameInfo struct {
	FrameMeta
	carry   bool
	read    bool // opened and compared
	kept    bool // its block means are retained: may become a tile
	epoch   int  // index into Analysis.epochs, -1 when not read
	segment int  // index into Analysis.segments, -1 when not read
	hash    [32]byte
	sig     []byte
}

// timeline is the part of a sequence that is known before any frame is opened.
type timeline struct {
	frames   []frameInfo
	rng      Range
	anchor   Anchor
	gaps     []Gap
	before   int // last frame before the anchor, or -1
	after    int // first frame at or after the anchor, or -1
	firstOwn int // first frame that is not carried in: 0 or 1
}

func newTimeline(s *Sequence) (*timeline, error) {
	t := &timeline{before: -1, after: -1, gaps: s.Gaps, rng: s.Range}
	n := s.Source.Len()
	t.frames = make([]frameInfo, n)
	for i := range t.frames {
		t.frames[i] = frameInfo{FrameMeta: s.Source.Meta(i), epoch: -1, segment: -1}
	}
	if s.CarryIn {
		t.frames[0].carry = true
		t.firstOwn = 1
	}
	if t.rng == (Range{}) {
		t.rng = Range{t.frames[t.firstOwn].Time, t.frames[n-1].Time}
	}
	if err := t.checkInside(); err != nil {
		return nil, err
	}
	t.anchor = Anchor{Time: t.rng.Start}
	if s.Anchor != nil {
		t.anchor = *s.Anchor
	}
	t.locateAnchor()
	return t, nil
}

// checkInside requires own frames within the range and a carried one not after its start.
func (t *timeline) checkInside() error {
	for i, f := range t.frames {
		if f.carry && f.Time > t.rng.Start || !f.carry && !t.rng.Contains(f.Time) {
			return &FrameError{i, f.ID, ErrUnordered}
		}
	}
	return nil
}

func (t *timeline) locateAnchor() {
	for i, f := range t.frames {
		if !f.carry && f.Time >= t.anchor.Time {
			t.after = i
			return
		}
		t.before = i
	}
}

// gapBetween reports whether evidence is missing between two frame times.
func (t *timeline) gapBetween(a, b time.Duration) bool {
	for _, g := range t.gaps {
		if g.Start < b && g.End > a || g.Start == g.End && a <= g.Start && g.Start < b {
			return true
		}
	}
	return false
}

// offset is a time relative to the anchor.
func (t *timeline) offset(at time.Duration) time.Duration { return at - t.anchor.Time }

// readSet chooses the frames to open: all of them when they are at most limit,
// else an even spread that keeps both ends, the anchor's neighbours and the
// frames at the edges of gaps and declared epochs.
func (t *timeline) readSet(limit int) []int {
	n := len(t.frames)
	var out []int
	for i := range t.frames {
		if n <= limit || i*limit/n != (i-1)*limit/n || t.isEdge(i) {
			out = append(out, i)
		}
	}
	return out
}

// isEdge reports whether frame i must be read and kept whatever the sampling.
func (t *timeline) isEdge(i int) bool {
	n := len(t.frames)
	if i <= t.firstOwn || i == n-1 || i == t.before || i == t.after {
		return true
	}
	return t.breaks(i-1) || t.breaks(i)
}

// breaks reports whether a gap or declared epoch change lies right after frame i.
func (t *timeline) breaks(i int) bool {
	a, b := &t.frames[i], &t.frames[i+1]
	return a.Epoch != b.Epoch || t.gapBetween(a.Time, b.Time)
}

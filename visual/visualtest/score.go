package visualtest

import "slices"

// Hit reports whether the chosen frames show the defect: one of them has the wrong state. For a reversal two of them,
// in time order, show the element going back by at least half of how far it really did; one frame cannot show that.
// Order and repetition of chosen do not matter; an index outside the sequence panics. A control is never hit.
func (s *Sequence) Hit(chosen []int) bool {
	if s.Spec.Kind == Reversal {
		return s.hitReversal(chosen)
	}
	return slices.ContainsFunc(chosen, func(i int) bool { return s.Truth[i].Defect })
}

func (s *Sequence) hitReversal(chosen []int) bool {
	sorted := slices.Sorted(slices.Values(chosen))
	most := 0
	for _, i := range sorted {
		if 2*(most-s.Truth[i].Position) >= s.Retreat() {
			return true
		}
		most = max(most, s.Truth[i].Position)
	}
	return false
}

// Retreat returns how far the element of a reversal goes back, in pixels; 0 in all other kinds.
func (s *Sequence) Retreat() int {
	most, back := 0, 0
	for _, t := range s.Truth {
		most = max(most, t.Position)
		back = max(back, most-t.Position)
	}
	return back
}

// Uniform returns k indices spread evenly over n frames with both ends: the choice that looks at no picture.
func Uniform(n, k int) []int {
	if k >= n {
		k = n
	}
	if k <= 1 {
		return make([]int, max(k, 0))
	}
	out := make([]int, k)
	for i := range out {
		out[i] = (2*i*(n-1) + k - 1) / (2 * (k - 1))
	}
	return out
}

// CumulativeChange returns at most k indices chosen by a rule that is common and plausible: the frames on both sides of
// the anchor, the first change, the greatest difference from the first frame, the last frame, and then again and again
// the frame whose summed-up change lies furthest from all chosen ones. It sees the truth instead of pictures, so no
// detector can make it better. It never adds a frame that brings no change.
func (s *Sequence) CumulativeChange(k int) []int {
	sum := make([]int, len(s.Truth))
	for i := 1; i < len(sum); i++ {
		sum[i] = sum[i-1] + s.Truth[i].Changed.Count()
	}
	var picks []int
	for _, i := range s.edges() {
		if len(picks) < k && !slices.Contains(picks, i) {
			picks = append(picks, i)
		}
	}
	for len(picks) < k {
		next, far := furthest(sum, picks)
		if far == 0 {
			break
		}
		picks = append(picks, next)
	}
	slices.Sort(picks)
	return picks
}

// edges returns the frames that the rule always takes, most important first.
func (s *Sequence) edges() []int {
	out := []int{s.Anchor - 1, s.Anchor}
	first := slices.IndexFunc(s.Truth, func(t Truth) bool { return t.Changed.Count() > 0 })
	if first >= 0 {
		out = append(out, first, s.mostDifferent())
	}
	return append(out, len(s.Truth)-1)
}

// mostDifferent returns the frame with the most cells that differ from the last frame before the anchor.
func (s *Sequence) mostDifferent() int {
	base := s.Raw(s.Anchor - 1)
	best, most := 0, 0
	for i := range s.Truth {
		if i > 0 && s.script.same(i-1, i) {
			continue
		}
		if n := ChangedBetween(base, s.Raw(i)).Count(); n > most {
			best, most = i, n
		}
	}
	return best
}

func furthest(sum, picks []int) (next, far int) {
	for i := range sum {
		near := sum[len(sum)-1] + 1
		for _, p := range picks {
			near = min(near, max(sum[i]-sum[p], sum[p]-sum[i]))
		}
		if near > far {
			next, far = i, near
		}
	}
	return next, far
}

// MapScore compares a marked set of cells with the truth. Each value is 1 when there was nothing to get wrong.
type MapScore struct{ IoU, Precision, Recall float64 }

// ChangedAny returns the cells that change at any pair of neighbours among the frames from..to, both included.
func (s *Sequence) ChangedAny(from, to int) Grid {
	g := NewGrid(s.Width, s.Height)
	for i := from + 1; i <= to; i++ {
		g.Add(s.Truth[i].Changed)
	}
	return g
}

// ScoreMap compares got with truth, a grid of the same size.
func ScoreMap(truth, got Grid) MapScore {
	both, want, have := truth.Overlap(got), truth.Count(), got.Count()
	return MapScore{IoU: ratio(both, want+have-both), Precision: ratio(both, have), Recall: ratio(both, want)}
}

func ratio(n, d int) float64 {
	if d == 0 {
		return 1
	}
	return float64(n) / float64(d)
}

// PairScore counts pairs of neighbouring frames.
type PairScore struct {
	// Pairs in all, and those that really change.
	Pairs, Changed int
	// Flagged as changed, and those among them that do not really change.
	Flagged, False int
}

// ScorePairs asks flagged about each pair of frame i-1 and frame i.
func (s *Sequence) ScorePairs(flagged func(i int) bool) PairScore {
	var p PairScore
	for i := 1; i < len(s.Truth); i++ {
		p.Pairs++
		changed := s.Truth[i].Changed.Count() > 0
		if changed {
			p.Changed++
		}
		if flagged(i) {
			p.Flagged++
			if !changed {
				p.False++
			}
		}
	}
	return p
}

// Plus returns the sum of both counts.
func (p PairScore) Plus(q PairScore) PairScore {
	return PairScore{Pairs: p.Pairs + q.Pairs, Changed: p.Changed + q.Changed, Flagged: p.Flagged + q.Flagged, False: p.False + q.False}
}

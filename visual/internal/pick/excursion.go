package pick

import "slices"

const (
	excursionSpan   = 6 // frames a short state may last
	excursionWindow = 8 // frames to each side that make the local median
	// A step over more than longestStep usual intervals counts as one of that many: where nothing changes no frame is
	// sent, so a long interval says little about the pace.
	longestStep = 8
)

// paced lists the steps as they would be had all frames come at the usual interval of the frames that changed the
// region. What a recorder lost does not make a motion faster.
func (p *profile) paced(steps []int, dt []int64) []int {
	var moved []int64
	for f := 1; f < len(steps); f++ {
		if steps[f] > p.same {
			moved = append(moved, dt[f])
		}
	}
	if len(moved) == 0 {
		return steps
	}
	slices.Sort(moved)
	usual := max(1, moved[(len(moved)-1)/2])
	out := make([]int, len(steps))
	for f := 1; f < len(steps); f++ {
		out[f] = int(int64(steps[f]) * usual / min(max(dt[f], usual/longestStep, 1), usual*longestStep))
	}
	return out
}

// excursions finds short states: two steps well above their surroundings with quiet between and around them, as they
// are and at an even pace.
func (p *profile) excursions(r, parent *Region, steps, paced []int) {
	n := len(steps)
	for s := 1; s < n; s++ {
		for e := s + 1; e < n && e <= s+excursionSpan; e++ {
			if min(steps[s], steps[e]) < p.floor {
				continue
			}
			value := min(p.stands(r.Local, steps, s, e), p.stands(r.Local, paced, s, e))
			if value == 0 || r.Local && !conserved(parent, s, e, n) {
				continue
			}
			for f := s; f < e; f++ {
				p.exc[f] = max(p.exc[f], value)
			}
		}
	}
}

// stands values how far the steps s and e stand above the ones around and between them; 0 when they do not.
func (p *profile) stands(local bool, steps []int, s, e int) int {
	low := min(steps[s], steps[e])
	if low == 0 || !isolated(local, steps, s, e, low) {
		return 0
	}
	med := p.localMedian(steps, s, e)
	if local && low < 2*med || 3*low < 4*med {
		return 0
	}
	return one - one*med/low
}

// isolated requires quiet inner steps and quiet outer neighbours.
func isolated(local bool, steps []int, s, e, low int) bool {
	for f := s + 1; f < e; f++ {
		if local && 4*steps[f] > low || 4*steps[f] > 3*low {
			return false
		}
	}
	return (s < 2 || 4*steps[s-1] <= 3*low) && (e+1 >= len(steps) || 4*steps[e+1] <= 3*low)
}

// conserved requires that the whole region changes more at s and e than at
// their neighbours: an object that merely crosses a block adds nothing there.
func conserved(parent *Region, s, e, n int) bool {
	return peaks(parent, s, n) && peaks(parent, e, n)
}

func peaks(parent *Region, f, n int) bool {
	here := parent.D.At(f-1, f)
	around := 0
	if f >= 2 {
		around = parent.D.At(f-2, f-1)
	}
	if f+1 < n {
		around = max(around, parent.D.At(f, f+1))
	}
	return 2*here >= 3*around
}

// localMedian is the greater of the median steps before s and after e with the
// steps between. Only steps of one motion count: where a motion begins, the
// stillness before it says nothing about what is usual.
func (p *profile) localMedian(steps []int, s, e int) int {
	var before, after []int
	for f := s - 1; f >= max(1, s-excursionWindow) && (steps[f] > p.same || len(before) == 0); f-- {
		before = append(before, steps[f])
	}
	for f := e + 1; f < min(len(steps), e+1+excursionWindow) && (steps[f] > p.same || len(after) == 0); f++ {
		after = append(after, steps[f])
	}
	before = append(before, steps[s+1:e]...)
	after = append(after, steps[s+1:e]...)
	return max(median(before), median(after))
}

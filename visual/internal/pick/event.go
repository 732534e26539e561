package pick

import "slices"

// Values of transience are in 1/1024.
const one = 1024

// Kinds of event, as they appear in reasons.
const (
	ReturnCandidate = "return_candidate" // the region shows what it showed before, with something else between
	Excursion       = "excursion"        // a short state between two steps
	ReturnedTo      = "returned_to"      // the state that comes back after a return candidate
)

var returnLags = [...]int{1, 2, 3, 4, 6, 8, 12}

// profile is what selection needs to know about one region of one segment.
type profile struct {
	max   int // greatest distance between two frames
	floor int // distances below this are ignored
	same  int // distances up to this count as the same state
	ret   []int
	exc   []int
	// like holds, for each frame with a return, the earlier frame whose state
	// came back: the deepest excursion of all that were accepted.
	like []int
	// transience is the greater of ret and exc at each frame, less the
	// region's usual value: a spinner that returns all the time is no event.
	transience []int
}

func newProfile(r, parent *Region, dt []int64) profile {
	n := len(dt)
	p := profile{max: r.D.Max()}
	p.floor = max(4, p.max/24)
	p.same = max(4, p.max/48)
	p.ret, p.exc, p.transience = make([]int, n), make([]int, n), make([]int, n)
	p.like = make([]int, n)
	if p.max < p.floor {
		return p
	}
	steps := stepsOf(r, n)
	p.returns(r, steps)
	p.excursions(r, parent, steps, p.paced(steps, dt))
	for f := range n {
		p.transience[f] = max(p.ret[f], p.exc[f])
	}
	p.subtractUsual(steps)
	return p
}

// stepsOf lists the distance of each frame to the one before it.
func stepsOf(r *Region, n int) []int {
	steps := make([]int, n)
	for f := 1; f < n; f++ {
		steps[f] = r.D.At(f-1, f)
	}
	return steps
}

// returns finds frames whose surroundings resemble each other more than the
// frame resembles either. Steady motion gives a ratio of zero or less until
// distances saturate and while little has moved yet, hence the conditions for
// middling ratios. A block
// that keeps moving returns to similar states by chance (lines of text
// scroll into each other's places), so there a return means nothing.
func (p *profile) returns(r *Region, steps []int) {
	n := len(steps)
	for f := range n {
		exact := false
		if r.Local {
			changes := p.changesAround(steps, f)
			if changes > maxChanges {
				continue
			}
			exact = changes == maxChanges
		}
		best, deepest := 0, 0
		for _, la := range returnLags {
			if f-la < 0 {
				break
			}
			for _, lb := range returnLags {
				if f+lb >= n {
					break
				}
				v, m := p.ratio(r, f-la, f, f+lb)
				if exact && v < exactReturn {
					continue
				}
				best = max(best, v)
				if v*m > deepest {
					deepest, p.like[f] = v*m, f-la
				}
			}
		}
		p.ret[f] = best
	}
}

// ratio values the return from lo over f to hi, and how far f is from both.
func (p *profile) ratio(r *Region, lo, f, hi int) (value, depth int) {
	m := min(r.D.At(lo, f), r.D.At(f, hi))
	if m < p.floor {
		return 0, m
	}
	rho := one - one*r.D.At(lo, hi)/m
	if rho >= one*85/100 || rho >= one*35/100 && 4*m <= 3*p.max && 10*m >= p.max {
		return rho * rho / one, m
	}
	return 0, m
}

const (
	busyWindow = 6 // steps to each side that decide whether a block is busy
	maxChanges = 3 // a block that changes more often within them is busy
	// exactReturn is the least value of a return that is as good as exact.
	exactReturn = one * 85 / 100 * 85 / 100
)

// changesAround counts the steps around f that change the block; a short event has two. More than two on one side
// count as too many.
func (p *profile) changesAround(steps []int, f int) int {
	before := p.active(steps[max(1, f-busyWindow+1) : f+1])
	after := p.active(steps[f+1 : min(len(steps), f+1+busyWindow)])
	if max(before, after) > 2 {
		return maxChanges + 1
	}
	return before + after
}

func (p *profile) active(steps []int) int {
	n := 0
	for _, s := range steps {
		if s > p.same {
			n++
		}
	}
	return n
}

// subtractUsual lowers every value by the median over the frames at which the
// region moved. A region that never rests and comes back again and again, as a
// spinner does, has no event but what is far larger than all but two.
func (p *profile) subtractUsual(steps []int) {
	var active []int
	for f, s := range steps {
		if s >= 4 {
			active = append(active, p.transience[f])
		}
	}
	// A region that moves a few times only, such as where an object stands for a moment, has no usual value.
	if 2*len(active) < len(steps) {
		return
	}
	usual, least := median(active), 0
	if sizes := p.maxima(steps); len(sizes) >= repetitive && 8*len(active) >= 7*(len(steps)-1) {
		slices.Sort(sizes)
		least = 2 * sizes[len(sizes)-3]
	}
	for f := range p.transience {
		p.transience[f] = max(0, p.transience[f]-usual)
		if sizeAt(steps, f) < least {
			p.transience[f] = 0
		}
	}
}

// repetitive is how many separate events make a region one that comes back again and again.
const repetitive = 4

// maxima lists the sizes of the separate events.
func (p *profile) maxima(steps []int) (sizes []int) {
	for f, t := range p.transience {
		if p.isMaximum(f, t) {
			sizes = append(sizes, sizeAt(steps, f))
		}
	}
	return sizes
}

// sizeAt is the greater of the steps to frame f and from it.
func sizeAt(steps []int, f int) int { return max(steps[f], steps[min(f+1, len(steps)-1)]) }

// isMaximum reports whether t, the transience of frame f, counts as an event and is not below its neighbours'; of
// equal neighbours the first is one.
func (p *profile) isMaximum(f, t int) bool {
	return t >= eventFloor && (f == 0 || p.transience[f-1] < t) && (f+1 == len(p.transience) || p.transience[f+1] <= t)
}

// kind names the stronger reading of frame f.
func (p *profile) kind(f int) string {
	if p.ret[f] >= p.exc[f] {
		return ReturnCandidate
	}
	return Excursion
}

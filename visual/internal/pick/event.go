package pick

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

func newProfile(r, parent *Region, n int) profile {
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
	p.excursions(r, parent, steps)
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
		if r.Local && p.busy(steps, f) {
			continue
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

// busyWindow is how many steps to each side decide whether a block is busy.
const busyWindow = 6

// busy reports whether more than two steps on one side of f change the block:
// a short event has one or two.
func (p *profile) busy(steps []int, f int) bool {
	return p.active(steps[max(1, f-busyWindow+1):f+1]) > 2 || p.active(steps[f+1:min(len(steps), f+1+busyWindow)]) > 2
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

const (
	excursionSpan   = 6 // frames a short state may last
	excursionWindow = 8 // frames to each side that make the local median
)

// excursions finds short states: two steps well above their surroundings with
// quiet between and around them.
func (p *profile) excursions(r, parent *Region, steps []int) {
	n := len(steps)
	for s := 1; s < n; s++ {
		for e := s + 1; e < n && e <= s+excursionSpan; e++ {
			low := min(steps[s], steps[e])
			if low < p.floor || !p.isolated(r.Local, steps, s, e, low) {
				continue
			}
			med := localMedian(steps, s, e)
			if r.Local && (low < 2*med || !conserved(parent, s, e, n)) || 3*low < 4*med {
				continue
			}
			for f := s; f < e; f++ {
				p.exc[f] = max(p.exc[f], one-one*med/low)
			}
		}
	}
}

// isolated requires quiet inner steps and quiet outer neighbours.
func (p *profile) isolated(local bool, steps []int, s, e, low int) bool {
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

// localMedian is the greater of the median steps before s and after e with
// the steps between: where a motion begins, the stillness before it says
// nothing about what is usual.
func localMedian(steps []int, s, e int) int {
	before := append([]int(nil), steps[max(1, s-excursionWindow):s]...)
	after := append([]int(nil), steps[e+1:min(len(steps), e+1+excursionWindow)]...)
	before = append(before, steps[s+1:e]...)
	after = append(after, steps[s+1:e]...)
	return max(median(before), median(after))
}

// subtractUsual lowers every value by the median over the frames at which the
// region moved.
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
	usual := median(active)
	for f := range p.transience {
		p.transience[f] = max(0, p.transience[f]-usual)
	}
}

// kind names the stronger reading of frame f.
func (p *profile) kind(f int) string {
	if p.ret[f] >= p.exc[f] {
		return ReturnCandidate
	}
	return Excursion
}

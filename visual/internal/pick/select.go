package pick

import (
	"cmp"
	"slices"
)

// Region is one changed area of a segment, or a local block of one.
type Region struct {
	Root  int // number of the area; blocks carry their area's
	Local bool
	D     *Matrix
}

// Input is one segment: frames that may be compared with each other.
type Input struct {
	Frames []int // caller's indices, ascending
	// Times are when the frames were shown, in microseconds; nil means at an even pace.
	Times   []int64
	Regions []Region
}

// Want is a frame that must be shown.
type Want struct {
	Frame  int
	Reason string
}

// Novelty is the reason of a tile chosen because it shows something the
// others do not.
const Novelty = "informative"

// Spread is the reason of a tile that only keeps the tiles from being too few.
const Spread = "evenly_spaced"

// Pick is a chosen frame.
type Pick struct {
	Frame   int
	Reasons []string
	Region  int // area that decided an event or novelty pick, else 0
}

// Stand says that Want needed no tile because Frame shows the same picture.
type Stand struct {
	Want
	By int
}

// Result is a selection. Picks ascend by frame.
type Result struct {
	Picks       []Pick
	Represented []Stand
	Unmet       []Want // no tile was left
}

// Request is everything a selection depends on.
type Request struct {
	Segments []Input
	Wants    []Want // most important first
	Limit    int
	Least    int                    // show at least this many frames when they exist
	Same     func(i, j int) bool    // nothing changed from frame i to frame j
	Spread   func(picked []int) int // a frame to fall back on, or -1
}

// chooser is the state of one selection.
type chooser struct {
	req      *Request
	profiles [][]profile // by segment and region
	where    map[int]place
	chosen   []chosen
	out      Result
	spent    map[[2]int]int // novelty picks by segment and region
}

type place struct{ segment, at int }

type chosen struct {
	Pick
	place
}

// Select chooses frames: wanted ones, events, then the most informative rest.
func Select(req *Request) Result {
	c := &chooser{req: req, where: make(map[int]place), spent: make(map[[2]int]int)}
	for s := range req.Segments {
		in := &req.Segments[s]
		for at, f := range in.Frames {
			c.where[f] = place{s, at}
		}
		c.profiles = append(c.profiles, in.profiles())
	}
	c.wants()
	c.events()
	c.fill()
	c.least()
	for _, p := range c.chosen {
		c.out.Picks = append(c.out.Picks, p.Pick)
	}
	return c.out
}

func (in *Input) profiles() []profile {
	out := make([]profile, len(in.Regions))
	intervals := in.intervals()
	var parent *Region
	for i := range in.Regions {
		r := &in.Regions[i]
		if !r.Local {
			parent = r
		}
		out[i] = newProfile(r, parent, intervals)
	}
	return out
}

// intervals are the times from each frame's predecessor.
func (in *Input) intervals() []int64 {
	dt := make([]int64, len(in.Frames))
	for f := range dt {
		dt[f] = 1
		if in.Times != nil && f > 0 {
			dt[f] = in.Times[f] - in.Times[f-1]
		}
	}
	return dt
}

func (c *chooser) wants() {
	for _, w := range c.req.Wants {
		if i := c.index(w.Frame); i >= 0 {
			c.chosen[i].Reasons = append(c.chosen[i].Reasons, w.Reason)
			continue
		}
		if by := c.shownBy(w.Frame); by >= 0 {
			c.out.Represented = append(c.out.Represented, Stand{w, by})
			continue
		}
		if len(c.chosen) == c.req.Limit {
			c.out.Unmet = append(c.out.Unmet, w)
			continue
		}
		c.choose(Pick{Frame: w.Frame, Reasons: []string{w.Reason}})
	}
}

func (c *chooser) index(frame int) int {
	return slices.IndexFunc(c.chosen, func(p chosen) bool { return p.Frame == frame })
}

// shownBy returns a chosen frame between which and frame nothing changed, or -1.
func (c *chooser) shownBy(frame int) int {
	for _, p := range c.chosen {
		if c.req.Same(min(p.Frame, frame), max(p.Frame, frame)) {
			return p.Frame
		}
	}
	return -1
}

func (c *chooser) choose(p Pick) {
	at, _ := slices.BinarySearchFunc(c.chosen, p.Frame, func(q chosen, f int) int { return cmp.Compare(q.Frame, f) })
	c.chosen = slices.Insert(c.chosen, at, chosen{p, c.where[p.Frame]})
}

// neighbours returns the positions, within its segment, of the chosen frames
// around a position; -1 where there is none.
func (c *chooser) neighbours(p place) (before, after int) {
	before, after = -1, -1
	for _, q := range c.chosen {
		switch {
		case q.segment != p.segment:
		case q.at <= p.at:
			before = q.at
		case after < 0:
			after = q.at
		}
	}
	return before, after
}

// contrast is the smaller distance of a position to its chosen neighbours.
func (c *chooser) contrast(m *Matrix, at, before, after int) int {
	switch {
	case before < 0 && after < 0:
		return 0
	case before < 0:
		return m.At(at, after)
	case after < 0:
		return m.At(before, at)
	}
	return min(m.At(before, at), m.At(at, after))
}

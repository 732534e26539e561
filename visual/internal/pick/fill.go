package pick

import (
	"cmp"
	"slices"
)

const (
	eventFloor    = one * 33 / 100
	eventsPerRoot = 2
)

// event is a local maximum of transience in one region.
type event struct {
	place
	region int
	value  int
	kind   string
}

func (c *chooser) events() {
	perRoot := make(map[[2]int]int)
	for _, e := range c.candidates() {
		if len(c.chosen) >= c.req.Limit-1 {
			return
		}
		r := &c.req.Segments[e.segment].Regions[e.region]
		frame := c.req.Segments[e.segment].Frames[e.at]
		if i := c.index(frame); i >= 0 {
			c.chosen[i].addReason(e.kind)
			continue
		}
		key := [2]int{e.segment, r.Root}
		before, after := c.neighbours(e.place)
		if c.contrast(r.D, e.at, before, after) <= c.profiles[e.segment][e.region].same {
			c.annotate(e, before, after)
			continue
		}
		if perRoot[key] >= eventsPerRoot {
			continue
		}
		perRoot[key]++
		c.choose(Pick{Frame: frame, Reasons: []string{e.kind}, Region: r.Root})
		c.companion(e)
	}
}

// annotate gives the event's reason to a neighbouring tile that shows the same
// state during the event.
func (c *chooser) annotate(e event, around ...int) {
	p := &c.profiles[e.segment][e.region]
	in := &c.req.Segments[e.segment]
	for _, at := range around {
		if at < 0 || p.transience[at] < eventFloor || in.Regions[e.region].D.At(at, e.at) > p.same {
			continue
		}
		t := &c.chosen[c.index(in.Frames[at])]
		t.addReason(e.kind)
		if t.Region == 0 {
			t.Region = in.Regions[e.region].Root
		}
	}
}

// companion adds the frame whose state comes back after a return, unless an
// earlier tile shows that state: one frame alone cannot show a reversal.
func (c *chooser) companion(e event) {
	p := &c.profiles[e.segment][e.region]
	in := &c.req.Segments[e.segment]
	d := in.Regions[e.region].D
	if e.kind != ReturnCandidate || len(c.chosen) >= c.req.Limit-1 {
		return
	}
	like := p.like[e.at]
	for _, q := range c.chosen {
		if q.segment == e.segment && q.at < e.at && 4*d.At(q.at, like) <= d.At(like, e.at) {
			return
		}
	}
	c.choose(Pick{Frame: in.Frames[like], Reasons: []string{ReturnedTo}, Region: in.Regions[e.region].Root})
}

func (p *chosen) addReason(r string) {
	if !slices.Contains(p.Reasons, r) {
		p.Reasons = append(p.Reasons, r)
	}
}

// candidates lists events, strongest first.
func (c *chooser) candidates() []event {
	var out []event
	for s := range c.profiles {
		for r := range c.profiles[s] {
			p := &c.profiles[s][r]
			for f, t := range p.transience {
				if !p.isMaximum(f, t) {
					continue
				}
				out = append(out, event{place{s, f}, r, t * (512 + log64(p.max)) / 512, p.kind(f)})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b event) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.segment, b.segment), cmp.Compare(a.at, b.at), cmp.Compare(a.region, b.region))
	})
	return out
}

// fill adds the most informative frames until nothing new is left.
func (c *chooser) fill() {
	for len(c.chosen) < c.req.Limit {
		best, region, score := place{}, -1, 0
		for s := range c.req.Segments {
			for at, f := range c.req.Segments[s].Frames {
				if c.index(f) >= 0 {
					continue
				}
				if r, v := c.score(place{s, at}); v > score {
					best, region, score = place{s, at}, r, v
				}
			}
		}
		if region < 0 {
			return
		}
		in := &c.req.Segments[best.segment]
		root := in.Regions[region].Root
		c.spent[[2]int{best.segment, region}]++
		pick := Pick{Frame: in.Frames[best.at], Reasons: []string{Novelty}, Region: root}
		if p := &c.profiles[best.segment][region]; p.transience[best.at] >= eventFloor {
			pick.Reasons = append(pick.Reasons, p.kind(best.at))
		}
		c.choose(pick)
	}
}

// score is how much a frame adds in the region where it adds most.
func (c *chooser) score(p place) (region, best int) {
	region = -1
	before, after := c.neighbours(p)
	in := &c.req.Segments[p.segment]
	for r := range in.Regions {
		prof := &c.profiles[p.segment][r]
		d := c.contrast(in.Regions[r].D, p.at, before, after)
		if d < prof.floor {
			continue
		}
		v := d * one / prof.max * (256 + log64(prof.max)) / 256
		v = v * (one + 4*prof.transience[p.at]) / one
		v = v * 4 / (4 + 3*c.spent[[2]int{p.segment, r}])
		if c.shown(p, r, prof.same) {
			v = v * 5 / 8
		}
		if v > best {
			region, best = r, v
		}
	}
	return region, best
}

// shown reports whether a chosen frame already shows this state of the region.
func (c *chooser) shown(p place, region, same int) bool {
	d := c.req.Segments[p.segment].Regions[region].D
	for _, q := range c.chosen {
		if q.segment == p.segment && d.At(q.at, p.at) <= same {
			return true
		}
	}
	return false
}

// least adds frames when fewer than asked for are shown: first those that
// were represented by another, then evenly spread ones.
func (c *chooser) least() {
	want := min(c.req.Least, c.req.Limit)
	for i := len(c.out.Represented) - 1; i >= 0 && len(c.chosen) < want; i-- {
		if f := c.out.Represented[i].Frame; c.index(f) < 0 {
			c.choose(Pick{Frame: f})
		}
	}
	for len(c.chosen) < want {
		picked := make([]int, len(c.chosen))
		for i, p := range c.chosen {
			picked[i] = p.Frame
		}
		f := c.req.Spread(picked)
		if f < 0 {
			break
		}
		c.choose(Pick{Frame: f, Reasons: []string{Spread}})
	}
	c.settle()
}

// settle gives wants whose frame got a tile after all to that tile.
func (c *chooser) settle() {
	c.out.Represented = slices.DeleteFunc(c.out.Represented, func(s Stand) bool {
		i := c.index(s.Frame)
		if i >= 0 {
			c.chosen[i].addReason(s.Reason)
		}
		return i >= 0
	})
	c.out.Unmet = slices.DeleteFunc(c.out.Unmet, func(w Want) bool { return c.index(w.Frame) >= 0 })
}

package visual

import (
	"time"

	"github.com/krometrail/krometrail/visual/internal/pick"
)

const (
	minTiles     = 3
	maxTiles     = 12
	defaultTiles = 8
)

// Chosen is one selected frame.
type Chosen struct {
	Frame   FrameID       `json:"frame"`
	Time    time.Duration `json:"time_ns"`
	CarryIn bool          `json:"carry_in,omitempty"`
	Reasons []Reason      `json:"reasons"`
	Region  int           `json:"region,omitempty"` // ChangedRegion.Number that decided, or 0

	index int
}

// Index is the frame's position in the source.
func (c *Chosen) Index() int { return c.index }

// Selection is a set of frames in time order that shows what happened.
type Selection struct {
	Frames      []Chosen      `json:"frames"`
	Represented []Represented `json:"represented,omitempty"`
	Unmet       []Unmet       `json:"unmet,omitempty"`
}

// Select chooses 3 to 12 frames (0 means 8): the fixed moments first, then
// short events, then whatever the frames chosen so far do not show. It returns
// fewer when fewer differ.
func (a *Analysis) Select(limit int) (Selection, error) {
	orDefault(&limit, defaultTiles)
	if limit < minTiles || limit > maxTiles {
		return Selection{}, invalid("tiles %d, want %d..%d", limit, minTiles, maxTiles)
	}
	res := pick.Select(&pick.Request{
		Segments: a.input, Wants: a.wants(), Limit: limit, Least: minTiles,
		Same: a.unchanged, Spread: a.spread,
	})
	return a.selection(res), nil
}

// selection gives a result the caller's names.
func (a *Analysis) selection(res pick.Result) Selection {
	var sel Selection
	for _, p := range res.Picks {
		f := &a.frames[p.Frame]
		sel.Frames = append(sel.Frames, Chosen{f.ID, f.Time, f.carry, reasons(p.Reasons), p.Region, p.Frame})
	}
	for _, r := range res.Represented {
		f := &a.frames[r.Frame]
		sel.Represented = append(sel.Represented, Represented{Reason(r.Reason), f.ID, f.Time, a.frames[r.By].ID})
	}
	for _, u := range res.Unmet {
		f := &a.frames[u.Frame]
		sel.Unmet = append(sel.Unmet, Unmet{Reason(u.Reason), f.ID, f.Time})
	}
	return sel
}

func reasons(in []string) []Reason {
	out := make([]Reason, len(in))
	for i, r := range in {
		out[i] = Reason(r)
	}
	return out
}

// wants lists the frames to show, most important first.
func (a *Analysis) wants() []pick.Want {
	var out []pick.Want
	want := func(i int, r Reason) {
		if i >= 0 && a.frames[i].kept {
			out = append(out, pick.Want{Frame: i, Reason: string(r)})
		}
	}
	want(a.before, ReasonBefore)
	want(a.peak, ReasonPeak)
	want(len(a.frames)-1, ReasonFinal)
	want(a.firstChange(), ReasonFirstChange)
	want(a.after, ReasonFirstAfter)
	a.edgeWants(want)
	for _, m := range a.seq.Markers {
		if m.Tile {
			want(a.firstKeptFrom(m.Time), ReasonMarker)
		}
	}
	return out
}

// edgeWants asks for one frame of every segment first and for the other side
// of each edge after that.
func (a *Analysis) edgeWants(want func(int, Reason)) {
	for s := 1; s < len(a.input); s++ {
		if f := a.input[s].Frames; len(f) > 0 {
			want(f[0], a.edgeReason(s))
		}
	}
	for s := 0; s+1 < len(a.input); s++ {
		if f := a.input[s].Frames; len(f) > 0 {
			want(f[len(f)-1], a.edgeReason(s+1))
		}
	}
}

// edgeReason names what separates segment s from the one before it.
func (a *Analysis) edgeReason(s int) Reason {
	if a.segments[s].Epoch != a.segments[s-1].Epoch {
		return ReasonEpochEdge
	}
	return ReasonGapEdge
}

func (a *Analysis) firstKeptFrom(t time.Duration) int {
	for i := range a.frames {
		if a.frames[i].kept && a.frames[i].Time >= t {
			return i
		}
	}
	return -1
}

// firstChange is the index of the first frame at or after the anchor that
// differs from its predecessor, or -1.
func (a *Analysis) firstChange() int {
	for i := range a.changes {
		if c := &a.changes[i]; c.Tiles > 0 && c.End >= a.anchor.Time {
			return c.to
		}
	}
	return -1
}

// unchanged reports whether i and j lie in one segment and no step between
// them changed a tile.
func (a *Analysis) unchanged(i, j int) bool {
	if a.frames[i].segment != a.frames[j].segment {
		return false
	}
	for k := range a.changes {
		if c := &a.changes[k]; c.Tiles > 0 && c.from >= i && c.to <= j {
			return false
		}
	}
	return true
}

// spread returns the kept frame farthest in time from all picked ones.
func (a *Analysis) spread(picked []int) int {
	best, far := -1, time.Duration(-1)
	for i := range a.frames {
		if !a.frames[i].kept {
			continue
		}
		near := time.Duration(1<<63 - 1)
		for _, p := range picked {
			if p == i {
				near = -1
				break
			}
			near = min(near, (a.frames[p].Time - a.frames[i].Time).Abs())
		}
		if near > far {
			best, far = i, near
		}
	}
	return best
}

package visual

import (
	"context"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/pick"
)

// ReasonDuring marks the middle tile of an orientation composite: the frame
// whose smaller distance to the tiles before and after it is greatest, the
// earliest on a tie. When no frame differs from both, it is the frame of the
// greatest step after the anchor.
const ReasonDuring Reason = "during"

// Orientation draws up to three frames side by side: the baseline, one during
// the change and the last frame of the same size. Frames are never blended.
func (a *Analysis) Orientation(ctx context.Context) (*Artifact, error) {
	faces, err := atlas.Load()
	if err != nil {
		return nil, err
	}
	chosen := a.orient()
	m := a.newManifest(KindOrientation, "Before, during, after")
	m.param("during_rule", "greatest smaller distance to before and after, else greatest step")
	sel := &Selection{Frames: chosen}
	for i := range chosen {
		m.Tiles = append(m.Tiles, a.tile(i, sel))
		if !chosen[i].CarryIn {
			m.Selected = append(m.Selected, chosen[i].Frame)
		}
	}
	m.Legend = m.axisLegend(true)
	return a.drawTiles(ctx, faces, m, chosen)
}

func (a *Analysis) choose(i int, r Reason) Chosen {
	f := &a.frames[i]
	return Chosen{Frame: f.ID, Time: f.Time, CarryIn: f.carry, Reasons: []Reason{r}, index: i}
}

// orient picks the frames of the composite, in time order.
func (a *Analysis) orient() []Chosen {
	first := a.baseline
	last := first
	for i := range a.frames {
		if f := &a.frames[i]; f.kept && f.epoch == a.frames[first].epoch {
			last = max(last, i)
		}
	}
	out := []Chosen{a.choose(first, ReasonBefore)}
	if during := a.during(first, last); during > first && during < last {
		out = append(out, a.choose(during, ReasonDuring))
	}
	if last > first {
		out = append(out, a.choose(last, ReasonFinal))
	}
	return out
}

// during finds the middle frame between first and last, or -1.
func (a *Analysis) during(first, last int) int {
	in := &a.input[a.frames[first].segment]
	best, top := -1, 0
	i, end := indexOf(in.Frames, first), indexOf(in.Frames, last)
	for f := i + 1; f < len(in.Frames) && in.Frames[f] < last; f++ {
		if d := contrast(in, i, f, end); d > top {
			best, top = in.Frames[f], d
		}
	}
	if best >= 0 {
		return best
	}
	cells := 0
	for k := range a.changes {
		if c := &a.changes[k]; c.from >= first && c.to < last && c.Cells > cells && a.frames[c.to].kept {
			best, cells = c.to, c.Cells
		}
	}
	return best
}

// contrast is the smaller distance of frame f to i and, when it is in the same
// segment, to end, summed over whole regions.
func contrast(in *pick.Input, i, f, end int) int {
	before, after := 0, 0
	for r := range in.Regions {
		if in.Regions[r].Local {
			continue
		}
		before += in.Regions[r].D.At(i, f)
		if end >= 0 {
			after += in.Regions[r].D.At(f, end)
		}
	}
	if end < 0 {
		return before
	}
	return min(before, after)
}

func indexOf(frames []int, f int) int {
	for i, g := range frames {
		if g == f {
			return i
		}
	}
	return -1
}

package visual

import (
	"cmp"
	"context"
	"image"
	"math/bits"
	"slices"
	"time"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

// Change is the difference between two consecutive analyzed frames of one
// segment. Areas count 4x4-pixel cells; a cell counts only inside a 16x16 tile
// that changed by more than noise, so Cells is zero exactly when Tiles is.
type Change struct {
	From     FrameID         `json:"from"`
	To       FrameID         `json:"to"`
	Start    time.Duration   `json:"start_ns"` // time of From
	End      time.Duration   `json:"end_ns"`   // time of To
	Cells    int             `json:"changed_cells"`
	Compared int             `json:"compared_cells"`
	Luma     int             `json:"luma_cells"`   // seen in brightness
	Chroma   int             `json:"chroma_cells"` // seen in colour
	Tiles    int             `json:"changed_tiles"`
	Weight   int64           `json:"weight"` // sum of differences, each at most 64 levels
	Bounds   image.Rectangle `json:"bounds"` // image pixels; empty when nothing changed
	// BaselineCells is the area in which To differs from the baseline frame,
	// or -1 when the two lie in different segments.
	BaselineCells int `json:"baseline_cells"`

	from, to int
	tiles    []uint64 // bit set of changed tiles
}

// Frames returns the indices of the two frames in the source.
func (c *Change) Frames() (from, to int) { return c.from, c.to }

// pass is the state of one reading of the sequence. Only the goroutine that
// consumes readings in order touches it.
type pass struct {
	a        *Analysis
	th       grid.Thresholds
	prev     *reading
	base     *reading // baseline frame once met
	peakArea int
	peakSum  int64
	keeper   keeper
}

func (a *Analysis) read(ctx context.Context) error {
	limit := readFactor * a.opts.MaxFrames
	if a.opts.Sampling == Exhaustive {
		limit = len(a.frames)
		if n := len(a.frames) - a.firstOwn; n > a.opts.MaxFrames {
			return &LimitError{Subject: "frames", Value: int64(n), Limit: int64(a.opts.MaxFrames), TryAtMost: int64(a.opts.MaxFrames)}
		}
	}
	indices := a.readSet(limit)
	p := &pass{a: a, th: thresholds(a.opts.Noise)}
	p.keeper.init(a, len(indices))
	line := &pipeline{seq: &a.seq, opts: &a.opts, measure: measurerFor(a.source), inFlight: 2 * a.opts.Workers}
	if a.source == DecodedPixels {
		line.inFlight = a.opts.Workers
	}
	if err := line.run(ctx, indices, p.consume); err != nil {
		return err
	}
	return a.finish(ctx, p)
}

func thresholds(n Noise) grid.Thresholds {
	return grid.Thresholds{
		Luma: uint8(n.Luma), Chroma: uint8(n.Chroma),
		LumaHard: uint8(min(127, n.Luma+14)), ChromaHard: uint8(min(127, n.Chroma*2)),
		LumaCells: 3, ChromaCells: 2,
	}
}

func (p *pass) consume(r *reading) error {
	if r.same {
		r.sig, r.size, r.hash, r.pixels = p.prev.sig, p.prev.size, p.prev.hash, p.prev.pixels
	}
	if err := p.place(r); err != nil {
		return err
	}
	if p.prev != nil && p.a.frames[p.prev.index].segment == p.a.frames[r.index].segment {
		p.compare(r)
	}
	p.trackBaseline(r)
	p.prev = r
	return p.keeper.add(r)
}

// place assigns the frame to an epoch and segment, starting new ones at a
// change of geometry or a gap.
func (p *pass) place(r *reading) error {
	a, f := p.a, &p.a.frames[r.index]
	newEpoch := p.prev == nil || p.prev.size != r.size || a.frames[p.prev.index].Epoch != f.Epoch
	if newEpoch {
		if err := a.startEpoch(r.size, f); err != nil {
			return err
		}
	}
	if newEpoch || a.gapBetween(a.frames[p.prev.index].Time, f.Time) {
		a.segments = append(a.segments, Segment{Epoch: len(a.epochs), First: f.ID, Start: f.Time})
	}
	e, s := &a.epochs[len(a.epochs)-1], &a.segments[len(a.segments)-1]
	f.epoch, f.segment = len(a.epochs)-1, len(a.segments)-1
	f.read, f.hash = true, r.hash
	e.Last, e.End = f.ID, f.Time
	s.Last, s.End = f.ID, f.Time
	s.Frames++
	if !r.same {
		e.mask(r.sig)
	}
	return nil
}

// compare measures the step from the previous frame to r.
func (p *pass) compare(r *reading) {
	a := p.a
	e := &a.epochs[a.frames[r.index].epoch]
	from, to := &a.frames[p.prev.index], &a.frames[r.index]
	c := Change{
		From: from.ID, To: to.ID, Start: from.Time, End: to.Time, Compared: e.cells,
		BaselineCells: -1, from: p.prev.index, to: r.index,
	}
	if !r.same {
		c.tiles = make([]uint64, (e.geo.Tiles()+63)/64)
		step := stepTime(to.Time, a.rng)
		e.each(p, p.prev, r, func(t int, d *grid.TileDiff) {
			c.tiles[t>>6] |= 1 << (t & 63)
			c.add(e, t, d)
			e.acc.add(t, d, p.prev.sig, r.sig, step)
		})
		c.Bounds = c.Bounds.Intersect(e.clip)
	}
	if c.Tiles == 0 {
		c.tiles = nil
	}
	a.changes = append(a.changes, c)
}

// stepTime places a change on the millisecond scale of the accumulators: the
// moment the later frame was shown, counted from the range start.
func stepTime(to time.Duration, r Range) uint32 {
	ms := (to - r.Start).Milliseconds()
	return uint32(max(0, min(ms, 1<<31)))
}

func (c *Change) add(e *epochData, t int, d *grid.TileDiff) {
	c.Tiles++
	c.Cells += bits16(d.Cells)
	c.Luma += bits16(d.Luma)
	c.Chroma += bits16(d.Chroma)
	c.Weight += int64(d.Weight)
	c.Bounds = c.Bounds.Union(cellBounds(&e.geo, t, d.Cells))
}

// each calls fn for every tile that differs between two frames of the epoch.
func (e *epochData) each(p *pass, a, b *reading, fn func(t int, d *grid.TileDiff)) {
	n := p.a.opts.Noise
	for t := range e.geo.Tiles() {
		var d grid.TileDiff
		if a.pixels != nil && b.pixels != nil {
			d = e.geo.DiffPixels(a.pixels, b.pixels, t, n.Luma, n.Chroma)
		} else {
			d = grid.DiffTile(a.sig, b.sig, t, &p.th)
		}
		if d = e.trim(t, d); d.Cells != 0 {
			fn(t, &d)
		}
	}
}

// trackBaseline follows the greatest difference from the baseline frame.
func (p *pass) trackBaseline(r *reading) {
	a := p.a
	segment := a.frames[r.index].segment
	if p.isBaseline(r.index, segment) {
		p.base, a.baseline = r, r.index
		p.peakArea, p.peakSum, a.peak = 0, 0, -1
		return
	}
	if p.base == nil || a.frames[p.base.index].segment != segment {
		return
	}
	cells, sum := 0, int64(0)
	e := &a.epochs[a.frames[r.index].epoch]
	e.each(p, p.base, r, func(_ int, d *grid.TileDiff) {
		cells += bits16(d.Cells)
		sum += int64(d.Weight)
	})
	a.changes[len(a.changes)-1].BaselineCells = cells
	if cells > p.peakArea || cells == p.peakArea && sum > p.peakSum {
		p.peakArea, p.peakSum, a.peak = cells, sum, r.index
	}
}

// isBaseline decides whether later frames are compared with frame i: the last
// one before the anchor when nothing separates it from the first one after,
// else that one; with no frame after the anchor, the first of the last segment.
func (p *pass) isBaseline(i, segment int) bool {
	a := p.a
	switch {
	case a.after < 0:
		return p.base == nil || a.frames[p.base.index].segment != segment
	case i == a.before:
		return true
	case i == a.after:
		return p.base == nil || a.frames[p.base.index].segment != segment
	}
	return false
}

func bits16(v uint16) int { return bits.OnesCount16(v) }

// Changes lists the steps between consecutive analyzed frames within segments,
// in time order.
func (a *Analysis) Changes() []Change { return append([]Change(nil), a.changes...) }

// changesBySize lists the indices of the steps that changed, largest first.
func (a *Analysis) changesBySize() []int {
	var rank []int
	for i := range a.changes {
		if a.changes[i].Tiles > 0 {
			rank = append(rank, i)
		}
	}
	slices.SortStableFunc(rank, func(i, j int) int { return cmp.Compare(a.changes[j].Cells, a.changes[i].Cells) })
	return rank
}

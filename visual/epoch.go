package visual

import (
	"fmt"
	"image"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

// maxEpochs bounds the geometry changes of one sequence.
const maxEpochs = 32

// startEpoch opens the evidence for a new geometry.
func (a *Analysis) startEpoch(size image.Point, first *frameInfo) error {
	if len(a.epochs) == maxEpochs {
		return &LimitError{Subject: "epochs", Value: maxEpochs + 1, Limit: maxEpochs, TryAtMost: maxEpochs}
	}
	geo := grid.For(size.X, size.Y)
	e := epochData{
		Epoch: Epoch{Number: len(a.epochs) + 1, Size: size, First: first.ID, Last: first.ID, Start: first.Time, End: first.Time},
		geo:   geo,
		clip:  image.Rectangle{Max: size},
		acc:   newAccumulator(geo.Tiles()),
	}
	if err := e.restrict(&a.seq, len(a.epochs) > 0); err != nil {
		return err
	}
	a.epochs = append(a.epochs, e)
	return nil
}

// restrict applies region and mask and counts the cells that remain.
func (e *epochData) restrict(s *Sequence, later bool) error {
	if s.Mask != nil && s.Mask.Size() != e.Size {
		if later {
			return fmt.Errorf("%w: a mask needs one frame size", ErrMixedGeometry)
		}
		return fmt.Errorf("%w: mask %v, frame %v", ErrMaskSize, s.Mask.Size(), e.Size)
	}
	if s.Region != nil {
		e.clip = s.Region.Pixels().Intersect(e.clip)
		if e.clip.Empty() {
			return fmt.Errorf("%w: region %v, frame %v", ErrRegionOutside, s.Region.Pixels(), e.Size)
		}
	}
	if s.Region == nil && s.Mask == nil {
		e.cells = e.geo.InsideX() * e.geo.InsideY()
		return nil
	}
	e.include = make([]byte, e.geo.Bytes())
	for cy := range e.geo.InsideY() {
		for cx := range e.geo.InsideX() {
			if e.selects(s.Mask, cx, cy) {
				e.cells++
				e.include[e.geo.Luma(cx, cy)] = 0xff
				k := e.geo.Chroma(cx/2, cy/2)
				e.include[k], e.include[k+4] = 0xff, 0xff
			}
		}
	}
	if e.cells == 0 {
		return ErrMaskEmpty
	}
	return nil
}

// selects reports whether any pixel of a luma cell is inside clip and mask.
func (e *epochData) selects(m *Mask, cx, cy int) bool {
	r := image.Rect(cx*grid.CellSize, cy*grid.CellSize, (cx+1)*grid.CellSize, (cy+1)*grid.CellSize).Intersect(e.clip)
	if m == nil {
		return !r.Empty()
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if m.Selects(x, y) {
				return true
			}
		}
	}
	return false
}

// mask zeroes the excluded means, so that they compare equal for ever after.
func (e *epochData) mask(sig grid.Signature) {
	for i := range e.include {
		sig[i] &= e.include[i]
	}
}

// trim removes excluded cells from the difference of tile t.
func (e *epochData) trim(t int, d grid.TileDiff) grid.TileDiff {
	if e.include == nil || d.Cells == 0 {
		return d
	}
	var keep uint16
	for i, v := range e.include[t*grid.TileBytes : t*grid.TileBytes+grid.CellsPerTile] {
		if v != 0 {
			keep |= 1 << i
		}
	}
	d.Cells &= keep
	d.Luma &= keep
	d.Chroma &= keep
	return d
}

// cellBounds is the pixel rectangle around the given cells of tile t.
func cellBounds(g *grid.Geometry, t int, cells uint16) image.Rectangle {
	var cols, rows uint16
	for i := range 4 {
		row := cells >> (4 * i) & 0xf
		cols |= row
		if row != 0 {
			rows |= 1 << i
		}
	}
	x0, x1 := bitSpan(cols)
	y0, y1 := bitSpan(rows)
	at := image.Pt(t%g.TilesX*grid.TileSize, t/g.TilesX*grid.TileSize)
	return image.Rect(x0*grid.CellSize, y0*grid.CellSize, x1*grid.CellSize, y1*grid.CellSize).Add(at)
}

// bitSpan returns the lowest set bit and one past the highest of four bits.
func bitSpan(v uint16) (lo, hi int) {
	for lo = 0; lo < 4 && v>>lo&1 == 0; lo++ {
	}
	for hi = 4; hi > 0 && v>>(hi-1)&1 == 0; hi-- {
	}
	return lo, hi
}

package visual

import (
	"math/bits"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

// burstGap separates two bursts of change of one cell, in milliseconds.
const burstGap = 100

// cellHistory is what is known about the changes of one 4x4-pixel cell.
// Times are milliseconds from the range start.
type cellHistory struct {
	weightTime  uint64 // sum of weight * time
	weight      uint32
	first, last uint32
	count       uint16
	bursts      uint8 // runs of change separated by more than burstGap
}

func (c *cellHistory) add(weight, step uint32) {
	if c.count == 0 || step-c.last > burstGap {
		if c.bursts < 255 {
			c.bursts++
		}
	}
	if c.count == 0 {
		c.first = step
	}
	if c.count < 1<<16-1 {
		c.count++
	}
	c.last = step
	c.weight += weight
	c.weightTime += uint64(weight) * uint64(step)
}

// accumulator holds cell histories of one epoch, sparse by tile: a quiet page
// costs eight bytes per tile.
type accumulator struct {
	tiles []*[grid.CellsPerTile]cellHistory
}

func newAccumulator(tiles int) *accumulator {
	return &accumulator{make([]*[grid.CellsPerTile]cellHistory, tiles)}
}

// add records that the cells of d changed at step.
func (a *accumulator) add(t int, d *grid.TileDiff, prev, cur grid.Signature, step uint32) {
	h := a.tiles[t]
	if h == nil {
		h = new([grid.CellsPerTile]cellHistory)
		a.tiles[t] = h
	}
	p, q := prev[t*grid.TileBytes:], cur[t*grid.TileBytes:]
	for m := d.Cells; m != 0; m &= m - 1 {
		i := bits.TrailingZeros16(m)
		k := grid.CellsPerTile + i>>3<<1 + i>>1&1
		w := max(gap8(p[i], q[i]), gap8(p[k], q[k]), gap8(p[k+4], q[k+4]), 1)
		h[i].add(min(w, 64), step)
	}
}

func gap8(a, b byte) uint32 {
	if a < b {
		return uint32(b - a)
	}
	return uint32(a - b)
}

// at returns the history of the cell at column cx, row cy, or nil.
func (a *accumulator) at(g *grid.Geometry, cx, cy int) *cellHistory {
	h := a.tiles[cy>>2*g.TilesX+cx>>2]
	if h == nil {
		return nil
	}
	c := &h[cy&3<<2+cx&3]
	if c.count == 0 {
		return nil
	}
	return c
}

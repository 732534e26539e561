package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/krometrail/krometrail/visual/internal/swar"
)

// Thresholds decide when a difference of block means counts as a change. All
// are in levels of 0..255 and below 128.
type Thresholds struct {
	Luma, Chroma         uint8 // a cell differs above this
	LumaHard, ChromaHard uint8 // one cell above this makes its tile changed
	LumaCells            int   // or this many luma cells above Luma and above an eighth of the tile's contrast
	ChromaCells          int   // or this many chroma cells above Chroma
}

// TileDiff is what changed inside one tile. Cells is zero exactly when the
// tile as a whole does not count as changed.
type TileDiff struct {
	Cells  uint16 // changed luma cells in raster order, with those that changed in colour only
	Luma   uint16 // the part seen in luma
	Chroma uint16 // the part seen in chroma
	Weight int    // sum of min(|difference|, 64) over the tile's 24 means
}

// DiffTile compares tile t of two signatures of one geometry.
func DiffTile(a, b Signature, t int, th *Thresholds) (d TileDiff) {
	p, q := a[t*TileBytes:t*TileBytes+TileBytes], b[t*TileBytes:t*TileBytes+TileBytes]
	a0, b0 := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(q)
	a1, b1 := binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(q[8:])
	a2, b2 := binary.LittleEndian.Uint64(p[16:]), binary.LittleEndian.Uint64(q[16:])
	if a0 == b0 && a1 == b1 && a2 == b2 {
		return d
	}
	d0, d1, d2 := swar.AbsDiff(a0, b0), swar.AbsDiff(a1, b1), swar.AbsDiff(a2, b2)
	luma := uint16(swar.Bits(swar.Over(d0, th.Luma))) | uint16(swar.Bits(swar.Over(d1, th.Luma)))<<8
	chroma := swar.Bits(swar.Over(d2, th.Chroma))
	if luma == 0 && chroma == 0 {
		return d
	}
	hard := swar.Over(d0, th.LumaHard) | swar.Over(d1, th.LumaHard) | swar.Over(d2, th.ChromaHard)
	if hard == 0 && bits.OnesCount8(chroma) < th.ChromaCells && !softChange(p, q, luma, d0, d1, th) {
		return d
	}
	d.Luma, d.Chroma = luma, spread(chroma, luma)
	d.Cells = d.Luma | d.Chroma
	d.Weight = swar.ClampSum(d0) + swar.ClampSum(d1) + swar.ClampSum(d2)
	return d
}

// resampleShare: content that is resampled a quarter of a pixel further in both
// directions changes means of 4x4 pixels by up to an eighth of the contrast
// around them. Weak changes must exceed that.
const resampleShare = 8

// softChange decides on a tile without any strong difference: enough cells
// must differ by more than noise and by more than resampling explains.
func softChange(p, q []byte, luma uint16, d0, d1 uint64, th *Thresholds) bool {
	if bits.OnesCount16(luma) < th.LumaCells {
		return false
	}
	lo, hi := p[0], p[0]
	for i := range CellsPerTile {
		lo, hi = min(lo, p[i], q[i]), max(hi, p[i], q[i])
	}
	t := max(th.Luma, (hi-lo)/resampleShare)
	return swar.Count(swar.Over(d0, t))+swar.Count(swar.Over(d1, t)) >= th.LumaCells
}

// spread turns the 4 Cb and 4 Cr bits into the luma cells they cover: those
// that changed in luma too, or all four when none did, since colour is known
// only for the four together.
func spread(chroma uint8, luma uint16) uint16 {
	k := (chroma | chroma>>4) & 0xf
	var out uint16
	for i, quad := range [4]uint16{0x0033, 0x00cc, 0x3300, 0xcc00} {
		switch {
		case k>>i&1 == 0:
		case luma&quad != 0:
			out |= luma & quad
		default:
			out |= quad
		}
	}
	return out
}

// Distance counts the cells that differ by more than t levels over the listed
// tiles; chroma contrast counts double. It is the state distance of a region.
func Distance(a, b Signature, tiles []int32, t uint8) int {
	n := 0
	for _, i := range tiles {
		at := int(i) * TileBytes
		p, q := a[at:at+TileBytes], b[at:at+TileBytes]
		a0, b0 := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(q)
		a1, b1 := binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(q[8:])
		a2, b2 := binary.LittleEndian.Uint64(p[16:]), binary.LittleEndian.Uint64(q[16:])
		if a0 == b0 && a1 == b1 && a2 == b2 {
			continue
		}
		n += swar.Count(swar.Over(swar.AbsDiff(a0, b0), t)) +
			swar.Count(swar.Over(swar.AbsDiff(a1, b1), t)) +
			swar.Count(swar.Over(swar.AbsDiff(a2, b2), t/2))
	}
	return n
}

package visualtest

import (
	"image"
	"math/bits"
)

// CellSize is the side of a grid cell in pixels.
const CellSize = 4

// Grid is a set of cells of a picture. Cells at the right and lower edge may be cut.
type Grid struct {
	Cols, Rows int
	bits       []uint64
}

// NewGrid returns an empty set for a picture of the given size in pixels.
func NewGrid(width, height int) Grid {
	g := Grid{Cols: (width + CellSize - 1) / CellSize, Rows: (height + CellSize - 1) / CellSize}
	g.bits = make([]uint64, (g.Cols*g.Rows+63)/64)
	return g
}

// Set adds a cell, which must be inside.
func (g Grid) Set(col, row int) {
	n := row*g.Cols + col
	g.bits[n/64] |= 1 << (n % 64)
}

// Has reports whether the cell, which must be inside, is in the set.
func (g Grid) Has(col, row int) bool {
	n := row*g.Cols + col
	return g.bits[n/64]>>(n%64)&1 == 1
}

// Count returns the number of cells in the set.
func (g Grid) Count() int {
	n := 0
	for _, w := range g.bits {
		n += bits.OnesCount64(w)
	}
	return n
}

// Add adds all cells of a grid of the same size.
func (g Grid) Add(other Grid) {
	for i, w := range other.bits {
		g.bits[i] |= w
	}
}

// Overlap returns the number of cells in both grids, which must be of the same size.
func (g Grid) Overlap(other Grid) int {
	n := 0
	for i, w := range other.bits {
		n += bits.OnesCount64(g.bits[i] & w)
	}
	return n
}

// ChangedBetween marks the cells in which some channel of some pixel differs by more than 8.
// Both pictures must have the same size.
func ChangedBetween(a, b *image.RGBA) Grid {
	g := NewGrid(a.Rect.Dx(), a.Rect.Dy())
	g.markChanges(a, b)
	return g
}

func (g Grid) markChanges(a, b *image.RGBA) {
	width := 4 * a.Rect.Dx()
	for y := range a.Rect.Dy() {
		rowA, rowB := a.Pix[y*a.Stride:][:width], b.Pix[y*b.Stride:][:width]
		if string(rowA) == string(rowB) {
			continue
		}
		for x := range rowA {
			if d := int(rowA[x]) - int(rowB[x]); d > 8 || d < -8 {
				g.Set(x/4/CellSize, y/CellSize)
			}
		}
	}
}

package visual

import (
	"image"

	"github.com/krometrail/krometrail/visual/internal/atlas"
)

// cellGrid places equal cells, each with label lines above a picture box.
type cellGrid struct {
	columns, rows int
	cell          int // width of a column
	box           image.Point
	labels        int // height of the label lines
	gutter        int
	under         int // height reserved under each box
}

func (g *cellGrid) width() int  { return g.columns*g.cell + (g.columns-1)*g.gutter }
func (g *cellGrid) height() int { return g.rows*(g.labels+g.box.Y+g.under) + (g.rows-1)*rowGap }

// at returns the top left corner of cell i, relative to the grid.
func (g *cellGrid) at(i int) image.Point {
	return image.Pt(i%g.columns*(g.cell+g.gutter), i/g.columns*(g.labels+g.box.Y+g.under+rowGap))
}

// pageSpec is what a page of equal cells must hold.
type pageSpec struct {
	count      int
	aspect     image.Point // of the widest-to-tallest box that must fit
	natural    int         // widest useful box, in pixels
	gutter     int
	under      func(cell int) int // height below each box; nil: none
	labels     func(cell int) int // height of the label lines at a cell width
	head, foot block
	columns    int  // 0: any
	fixed      bool // boxes are exactly natural wide
}

// pagePlan is a page layout within the size limits.
type pagePlan struct {
	grid          cellGrid
	width, height int
}

// plan finds the columns and box size that show the boxes largest. It fails
// with a *LimitError when not even the smallest boxes fit beside the labels.
func (o *Options) plan(f *atlas.Set, s *pageSpec) (pagePlan, error) {
	best, bestArea := pagePlan{}, int64(-1)
	for cols := 1; cols <= s.count; cols++ {
		if s.columns != 0 && cols != s.columns {
			continue
		}
		hi := min(s.natural, o.MaxEdge) // beyond that nothing fits
		lo := min(minBox, hi)
		if s.fixed {
			lo = hi
		}
		for lo < hi {
			mid := (lo + hi + 1) / 2
			if p := s.at(f, cols, mid); o.fits(p) {
				lo = mid
			} else {
				hi = mid - 1
			}
		}
		p := s.at(f, cols, lo)
		area := int64(p.grid.box.X) * int64(p.grid.box.Y)
		if !o.fits(p) {
			area = 0 // still better than no layout, for the error's figures
		}
		// More columns are easier to read in order; they may cost some size.
		if area*100 > bestArea*columnPreference {
			best, bestArea = p, max(area, bestArea)
		}
	}
	if !o.fits(best) {
		return best, &LimitError{Subject: "picture_pixels", Value: int64(best.width) * int64(best.height), Limit: int64(o.MaxPixels)}
	}
	return best, nil
}

const (
	minBox = 32
	// columnPreference is the least area, in percent of the best layout with
	// fewer columns, at which a layout with more columns is preferred.
	columnPreference = 85
)

func (o *Options) fits(p pagePlan) bool {
	return p.width <= o.MaxEdge && p.height <= o.MaxEdge && p.width*p.height <= o.MaxPixels
}

// at lays the page out with boxes w pixels wide.
func (s *pageSpec) at(f *atlas.Set, cols, w int) pagePlan {
	g := cellGrid{columns: cols, rows: (s.count + cols - 1) / cols, cell: max(w, minCell), gutter: s.gutter}
	g.box = image.Pt(w, max(1, (w*s.aspect.Y+s.aspect.X/2)/s.aspect.X))
	g.labels = s.labels(g.cell)
	if s.under != nil {
		g.under = s.under(g.cell)
	}
	p := pagePlan{grid: g, width: max(minCanvas, g.width()+2*margin)}
	inner := p.width - 2*margin
	p.height = margin + s.head.height(f, inner) + g.height() + space(10).height(f, inner) + s.foot.height(f, inner) + margin
	return p
}

// fitInto is the largest size with the aspect of size that fits box.
func fitInto(size, box image.Point) image.Point {
	w, h := box.X, (box.X*size.Y+size.X/2)/size.X
	if h > box.Y {
		w, h = (box.Y*size.X+size.Y/2)/size.Y, box.Y
	}
	return image.Pt(max(1, min(w, box.X)), max(1, min(h, box.Y)))
}

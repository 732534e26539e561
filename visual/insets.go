package visual

import (
	"fmt"
	"image"
	"slices"

	"github.com/krometrail/krometrail/visual/internal/raster"
)

// Inset is an enlarged part of a tile's frame, drawn below the tile.
type Inset struct {
	Region int             `json:"region"` // ChangedRegion.Number
	Rect   image.Rectangle `json:"rect"`   // in the picture
	Source image.Rectangle `json:"source"` // in the frame
}

const (
	maxInsets = 2
	// insetShare: insets are drawn when all changed regions together cover at
	// most one part in insetShare of the frame.
	insetShare  = 12
	insetHeight = 110
	insetTag    = 24 // room for "R1" left of an inset
	insetPad    = 8
	insetLeastW = 120
	insetLeastH = 48
)

// insetRegions are the regions shown enlarged below every tile, in the order
// in which they decided tiles, then by number. None when the picture spans
// several geometries or the changed area is large enough to be seen.
func (a *Analysis) insetRegions(chosen []Chosen) []int {
	if len(a.epochs) != 1 || len(a.regions) == 0 {
		return nil
	}
	var area int64
	var order []int
	for i := range a.regions {
		b := a.regions[i].Bounds
		area += int64(b.Dx()) * int64(b.Dy())
		if a.regions[i].Merged == 0 {
			order = append(order, a.regions[i].Number)
		}
	}
	size := a.epochs[0].Size
	if area*insetShare > int64(size.X)*int64(size.Y) {
		return nil
	}
	decided := func(n int) int {
		return slices.IndexFunc(chosen, func(c Chosen) bool { return c.Region == n })
	}
	slices.SortStableFunc(order, func(p, q int) int {
		return b2i(decided(q) >= 0) - b2i(decided(p) >= 0)
	})
	return order[:min(maxInsets, len(order))]
}

// insetSource is the part of the frame shown for a region: its bounds with
// some context, kept within the frame.
func (a *Analysis) insetSource(region int) image.Rectangle {
	size := a.epochs[0].Size
	r := a.regions[region-1].Bounds.Inset(-insetPad)
	r = widen(r, image.Pt(insetLeastW, insetLeastH))
	return shiftInto(r, size)
}

func widen(r image.Rectangle, least image.Point) image.Rectangle {
	if d := least.X - r.Dx(); d > 0 {
		r.Min.X -= d / 2
		r.Max.X = r.Min.X + least.X
	}
	if d := least.Y - r.Dy(); d > 0 {
		r.Min.Y -= d / 2
		r.Max.Y = r.Min.Y + least.Y
	}
	return r
}

// shiftInto moves r into a frame of the given size and cuts what is too large.
func shiftInto(r image.Rectangle, size image.Point) image.Rectangle {
	r = r.Add(image.Pt(max(0, -r.Min.X), max(0, -r.Min.Y)))
	r = r.Sub(image.Pt(max(0, r.Max.X-size.X), max(0, r.Max.Y-size.Y)))
	return r.Intersect(image.Rectangle{Max: size})
}

// insetSizes are the drawn sizes of the insets in a cell, at most twice the
// size of their source.
func insetSizes(sources []image.Rectangle, cell int) []image.Point {
	out := make([]image.Point, len(sources))
	k := max(1, len(sources))
	room := (cell - k*insetTag - (k-1)*10) / k
	for i, s := range sources {
		box := image.Pt(min(room, 2*s.Dx()), min(insetHeight, 2*s.Dy()))
		out[i] = fitInto(s.Size(), box)
	}
	return out
}

// insetsHeight is the room insets take below a tile.
func insetsHeight(sources []image.Rectangle, cell int) int {
	h := 0
	for _, s := range insetSizes(sources, cell) {
		h = max(h, s.Y+10)
	}
	return h
}

// addInsets decides on insets for a storyboard and explains them in the legend.
func (a *Analysis) addInsets(m *Manifest, chosen []Chosen) {
	for _, n := range a.insetRegions(chosen) {
		src := a.insetSource(n)
		for i := range m.Tiles {
			m.Tiles[i].Insets = append(m.Tiles[i].Insets, Inset{Region: n, Source: src})
		}
		m.Legend = append(m.Legend, LegendEntry{fmt.Sprintf("R%d", n), fmt.Sprintf("detail at %d,%d size %dx%d", src.Min.X, src.Min.Y, src.Dx(), src.Dy())})
	}
	if len(m.Tiles) > 0 && len(m.Tiles[0].Insets) > 0 {
		m.Legend = append(m.Legend, LegendEntry{signExtent, "where the details lie"})
	}
}

func (t *Tile) insetSources() []image.Rectangle {
	out := make([]image.Rectangle, len(t.Insets))
	for i := range out {
		out[i] = t.Insets[i].Source
	}
	return out
}

// placeInsets draws the frames of tile t's insets and returns their pieces.
func placeInsets(c *canvas, t *Tile, frame, cell int) []piece {
	var pieces []piece
	x, y := t.Rect.Min.X, t.Rect.Max.Y+8
	for i, size := range insetSizes(t.insetSources(), cell) {
		in := &t.Insets[i]
		c.faces.Bold.Draw(c.RGBA, x, y, fmt.Sprintf("R%d", in.Region), colRegion)
		x += insetTag
		in.Rect = image.Rectangle{Min: image.Pt(x, y), Max: image.Pt(x, y).Add(size)}
		raster.Outline(c.RGBA, in.Rect.Inset(-1), 1, colLine)
		pieces = append(pieces, piece{frame, in.Rect, in.Source})
		x += size.X + 10
		markExtent(c, t, in.Source)
	}
	return pieces
}

// markExtent draws bars on the tile's border beside the part src of its frame.
func markExtent(c *canvas, t *Tile, src image.Rectangle) {
	b := project(src, t.Source.Size(), t.Rect)
	o := t.Rect.Inset(-3)
	raster.Fill(c.RGBA, image.Rect(b.Min.X, o.Min.Y, b.Max.X, o.Min.Y+3), colRegion)
	raster.Fill(c.RGBA, image.Rect(b.Min.X, o.Max.Y-3, b.Max.X, o.Max.Y), colRegion)
	raster.Fill(c.RGBA, image.Rect(o.Min.X, b.Min.Y, o.Min.X+3, b.Max.Y), colRegion)
	raster.Fill(c.RGBA, image.Rect(o.Max.X-3, b.Min.Y, o.Max.X, b.Max.Y), colRegion)
}

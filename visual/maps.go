package visual

import (
	"image"
	"image/color"
	"slices"
	"strconv"

	"github.com/krometrail/krometrail/visual/internal/raster"
	"github.com/krometrail/krometrail/visual/palette"
)

// cellSpan is the half-open range of cells that one output pixel covers; it is
// never empty, so that the smallest change shows at any scale.
type cellSpan struct{ from, to int }

// cellSpans divides `pixels` image pixels over `out` output pixels.
func cellSpans(pixels, out, cells int) []cellSpan {
	spans := make([]cellSpan, out)
	for i := range spans {
		from := i * pixels / out / 4
		to := ((i+1)*pixels + out*4 - 1) / (out * 4)
		spans[i] = cellSpan{from, min(max(to, from+1), cells)}
	}
	return spans
}

// strongest returns the history with the greatest key among the cells of an
// output pixel, or nil when none changed.
func (e *epochData) strongest(xs, ys cellSpan, key func(*cellHistory) uint64) *cellHistory {
	var best *cellHistory
	var top uint64
	for cy := ys.from; cy < ys.to; cy++ {
		for cx := xs.from; cx < xs.to; cx++ {
			h := e.acc.at(&e.geo, cx, cy)
			if h == nil {
				continue
			}
			if k := key(h); best == nil || k > top {
				best, top = h, k
			}
		}
	}
	return best
}

// paint calls shade for every output pixel of r whose cells changed.
func (e *epochData) paint(r image.Rectangle, key func(*cellHistory) uint64, shade func(x, y int, h *cellHistory)) {
	xs := cellSpans(e.geo.Width, r.Dx(), e.geo.InsideX())
	ys := cellSpans(e.geo.Height, r.Dy(), e.geo.InsideY())
	for y := range ys {
		for x := range xs {
			if h := e.strongest(xs[x], ys[y], key); h != nil {
				shade(r.Min.X+x, r.Min.Y+y, h)
			}
		}
	}
}

func byCount(h *cellHistory) uint64 { return uint64(h.count) }
func byLast(h *cellHistory) uint64  { return uint64(h.last) + 1 }

// maxCount is the greatest number of changes of one cell.
func (e *epochData) maxCount() int {
	most := 0
	for _, t := range e.acc.tiles {
		if t == nil {
			continue
		}
		for i := range t {
			most = max(most, int(t[i].count))
		}
	}
	return most
}

// meanTime is the weighted mean time of a cell's changes, 0..255 over the range.
func (a *Analysis) meanTime(h *cellHistory) uint8 {
	total := uint64(max(1, a.rng.Length().Milliseconds()))
	return uint8(min(255, h.weightTime*255/(uint64(h.weight)*total)))
}

// repeats grades a cell: 0 once, 1 two bursts at least a quarter of the range
// apart, 2 three or more bursts.
func (a *Analysis) repeats(h *cellHistory) int {
	switch {
	case h.bursts >= 3:
		return 2
	case h.bursts == 2 && int64(h.last-h.first)*4 >= a.rng.Length().Milliseconds():
		return 1
	}
	return 0
}

func scaleColor(s *palette.Scale, v uint8) color.RGBA {
	return color.RGBA{s[v][0], s[v][1], s[v][2], 0xff}
}

// dim lowers r to a quarter of its brightness in grey.
func dim(dst *image.RGBA, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := dst.Pix[dst.PixOffset(r.Min.X, y):][:4*r.Dx()]
		for i := 0; i < len(row); i += 4 {
			l := (uint32(row[i])*299 + uint32(row[i+1])*587 + uint32(row[i+2])*114) / 4000
			row[i], row[i+1], row[i+2] = uint8(l), uint8(l), uint8(l)
		}
	}
}

// outlineRegions draws and numbers the changed regions of an epoch in panel r.
func (a *Analysis) outlineRegions(c *canvas, r image.Rectangle, epoch int) {
	size := a.epochs[epoch-1].Size
	var boxes []image.Rectangle
	var numbers []int
	for i := range a.regions {
		if g := &a.regions[i]; g.Epoch == epoch && g.Merged == 0 {
			boxes = append(boxes, project(g.Bounds, size, r))
			numbers = append(numbers, g.Number)
		}
	}
	for _, box := range boxes {
		raster.Outline(c.RGBA, box.Inset(-1).Intersect(r), 3, colBack)
		raster.Outline(c.RGBA, box.Intersect(r), 1, colRegion)
	}
	taken := slices.Clone(boxes)
	for i, box := range boxes {
		taken = append(taken, a.labelRegion(c, r, box, numbers[i], taken))
	}
}

// minRegionBox is the least size of an outline, so that a caret can be seen.
const minRegionBox = 12

// project maps a rectangle of image pixels into panel r.
func project(b image.Rectangle, size image.Point, r image.Rectangle) image.Rectangle {
	p := image.Rect(
		r.Min.X+b.Min.X*r.Dx()/size.X, r.Min.Y+b.Min.Y*r.Dy()/size.Y,
		r.Min.X+(b.Max.X*r.Dx()+size.X-1)/size.X, r.Min.Y+(b.Max.Y*r.Dy()+size.Y-1)/size.Y)
	if d := minRegionBox - p.Dx(); d > 0 {
		p.Min.X, p.Max.X = p.Min.X-d/2, p.Max.X+(d+1)/2
	}
	if d := minRegionBox - p.Dy(); d > 0 {
		p.Min.Y, p.Max.Y = p.Min.Y-d/2, p.Max.Y+(d+1)/2
	}
	return p
}

// labelRegion writes the region's number beside its box where no other label is.
func (a *Analysis) labelRegion(c *canvas, r, box image.Rectangle, number int, taken []image.Rectangle) image.Rectangle {
	f := c.faces.Bold
	text := "R" + strconv.Itoa(number)
	size := image.Pt(f.Width(text)+4, lineH-2)
	spots := []image.Point{
		{box.Min.X, box.Min.Y - size.Y - 1},
		{box.Min.X, box.Max.Y + 1},
		{box.Max.X + 1, box.Min.Y},
		{box.Min.X - size.X - 1, box.Min.Y},
		{box.Max.X - size.X, box.Min.Y - size.Y - 1},
		{box.Max.X - size.X, box.Max.Y + 1},
	}
	inside := box.Min.Add(image.Pt(2, 2))
	at := image.Rectangle{Min: inside, Max: inside.Add(size)}
	for _, s := range spots {
		l := image.Rectangle{Min: s, Max: s.Add(size)}
		if l.In(r) && !overlapsAny(l, taken) {
			at = l
			break
		}
	}
	at = at.Intersect(r)
	raster.Fill(c.RGBA, at, colBack)
	part, _ := c.SubImage(at).(*image.RGBA)
	f.Draw(part, at.Min.X+2, at.Min.Y-1, text, colRegion)
	return at
}

func overlapsAny(r image.Rectangle, others []image.Rectangle) bool {
	return slices.ContainsFunc(others, r.Overlaps)
}

package visual

import (
	"image"
	"image/color"
	"strconv"
	"time"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/raster"
)

// axis is the time axis of a picture: the range from left to right with its
// frames, tiles, gaps, observer intervals and markers.
type axis struct {
	m      *Manifest
	ticks  []time.Duration // analyzed frames
	tiles  bool
	extent Range // the range, widened to the carried-in frame when a tile shows it
}

const (
	flagH  = 21 // tile numbers
	barH   = 14 // band with frames and gaps
	underH = 7  // observer band
)

func newAxis(m *Manifest, tiles bool) *axis {
	return &axis{m: m, tiles: tiles, ticks: m.ticks, extent: m.Range}
}

func (a *axis) height(*atlas.Set, int) int {
	h := barH + 4 + lineH
	if a.tiles {
		h += flagH
	}
	if len(a.m.Observers) > 0 {
		h += underH
	}
	if len(a.m.Markers) > 0 {
		h += lineH
	}
	return h
}

func (a *axis) draw(c *canvas, r image.Rectangle) {
	y := r.Min.Y
	if len(a.m.Markers) > 0 {
		a.markers(c, r, y)
		y += lineH
	}
	if a.tiles {
		a.flags(c, r, y)
		y += flagH
	}
	bar := image.Rect(r.Min.X, y, r.Max.X, y+barH)
	a.band(c, bar)
	y += barH
	if len(a.m.Observers) > 0 {
		a.observers(c, image.Rect(r.Min.X, y+2, r.Max.X, y+underH))
		y += underH
	}
	a.scale(c, r, y+4)
}

// x maps a time to a pixel column of r.
func (a *axis) x(r image.Rectangle, t time.Duration) int {
	length := int64(a.extent.Length())
	if length <= 0 {
		return r.Min.X + r.Dx()/2
	}
	t = max(a.extent.Start, min(t, a.extent.End))
	// Microseconds keep the product within 64 bits for any range below months.
	us, total := int64(t-a.extent.Start)/1000, max(1, length/1000)
	return r.Min.X + int(us*int64(r.Dx()-1)/total)
}

func (a *axis) band(c *canvas, bar image.Rectangle) {
	raster.Fill(c.RGBA, bar, colPanel)
	for _, t := range a.ticks {
		x := a.x(bar, t)
		raster.Fill(c.RGBA, image.Rect(x, bar.Min.Y+4, x+1, bar.Max.Y-3), colMuted)
	}
	for _, g := range a.m.Gaps {
		a.interval(c, bar, g.Start, g.End, gapPattern, colGap)
	}
	x := a.x(bar, a.m.Anchor.Time)
	raster.Fill(c.RGBA, image.Rect(x-1, bar.Min.Y-2, x+2, bar.Max.Y+3), colAnchor)
}

func (a *axis) interval(c *canvas, r image.Rectangle, from, to time.Duration, p raster.Pattern, col color.RGBA) {
	if to < a.extent.Start || from > a.extent.End {
		return
	}
	x0, x1 := a.x(r, from), a.x(r, to)
	x1 = min(r.Max.X, max(x1, x0+5))
	x0 = max(r.Min.X, min(x0, x1-5))
	box := image.Rect(x0, r.Min.Y, x1, r.Max.Y)
	raster.Fill(c.RGBA, box, colBack)
	raster.Hatch(c.RGBA, box, p, hatchPeriod, col)
	raster.Outline(c.RGBA, box, 1, col)
}

func (a *axis) observers(c *canvas, r image.Rectangle) {
	for _, o := range a.m.Observers {
		a.interval(c, r, o.Start, o.End, observerPattern, colObserver)
	}
}

// flags puts tile numbers above the band, pushed apart where they would overlap.
func (a *axis) flags(c *canvas, r image.Rectangle, y int) {
	next := r.Min.X
	for i := range a.m.Tiles {
		t := &a.m.Tiles[i]
		x := a.x(r, t.Time)
		label := strconv.Itoa(t.Number)
		w := c.faces.Bold.Width(label)
		at := max(next, min(x-w/2, r.Max.X-w-a.widthAfter(c.faces, i)))
		c.faces.Bold.Draw(c.RGBA, at, y, label, colText)
		raster.Fill(c.RGBA, image.Rect(x, y+flagH-2, x+1, y+flagH+barH), colText)
		next = at + w + 5
	}
}

// widthAfter is the room the flags after tile i need at the right end.
func (a *axis) widthAfter(f *atlas.Set, i int) int {
	w := 0
	for _, t := range a.m.Tiles[i+1:] {
		w += f.Bold.Width(strconv.Itoa(t.Number)) + 5
	}
	return w
}

// markers writes labels in one row; those that find no room keep their sign.
func (a *axis) markers(c *canvas, r image.Rectangle, y int) {
	f, next := c.faces.Regular, r.Min.X
	for _, m := range a.m.Markers {
		if !a.extent.Contains(m.Time) {
			continue
		}
		x := a.x(r, m.Time)
		label := "▼" + m.Label
		w := min(f.Width(label), 30*f.Advance)
		at := min(x-f.Advance/2, r.Max.X-w)
		if at < next {
			label, w = "▼", f.Advance
			if at = x - f.Advance/2; at < next-f.Advance {
				continue
			}
		}
		f.Draw(c.RGBA, at, y, f.Fit(label, w), colMarker)
		next = at + w + f.Advance
	}
}

// scale writes start, anchor and end under the band; the anchor's label gives
// way when there is no room.
func (a *axis) scale(c *canvas, r image.Rectangle, y int) {
	f := c.faces.Regular
	start := offsetText(a.extent.Start - a.m.Anchor.Time)
	end := offsetText(a.extent.End - a.m.Anchor.Time)
	f.Draw(c.RGBA, r.Min.X, y, start, colText)
	f.Draw(c.RGBA, r.Max.X-f.Width(end), y, end, colText)
	left, right := r.Min.X+f.Width(start)+2*f.Advance, r.Max.X-f.Width(end)-2*f.Advance
	for _, label := range a.anchorLabels() {
		x := a.x(r, a.m.Anchor.Time) - f.Advance/2
		at := max(left, min(x, right-f.Width(label)))
		if at >= left && at+f.Width(label) <= right {
			f.Draw(c.RGBA, at, y, label, colAnchor)
			return
		}
	}
}

func (a *axis) anchorLabels() []string {
	if a.m.Anchor.Label == "" {
		return []string{"▲ +0 ms"}
	}
	return []string{"▲ " + a.m.Anchor.Label + " (+0 ms)", "▲ +0 ms", "▲"}
}

package visual

import (
	"image"
	"image/color"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/raster"
)

// Signs of the legend. Their swatches are drawn by swatch.
const (
	signFrame       = "tick"
	signTile        = "number"
	signAnchor      = "triangle"
	signGap         = "rising hatch"
	signObserver    = "dots"
	signMarker      = "down triangle"
	signPadding     = "cross hatch"
	signRegion      = "R1"
	signExtent      = "edge bars"
	signRepeated    = "sparse hatch"
	signManyRepeats = "dense hatch"
)

// legendBlock explains signs, several to a line.
type legendBlock []LegendEntry

const swatchW = 26

func (l legendBlock) height(f *atlas.Set, width int) int {
	return lineH * l.place(f, width, nil)
}

func (l legendBlock) draw(c *canvas, r image.Rectangle) {
	l.place(c.faces, r.Dx(), func(i, x, line int) {
		at := image.Rect(r.Min.X+x, r.Min.Y+line*lineH+3, r.Min.X+x+swatchW-6, r.Min.Y+line*lineH+lineH-3)
		swatch(c, at, l[i].Sign)
		f := c.faces.Regular
		f.Draw(c.RGBA, at.Min.X+swatchW, r.Min.Y+line*lineH, f.Fit(l[i].Meaning, r.Max.X-at.Min.X-swatchW), colMuted)
	})
}

// place flows the entries into lines and returns how many it took.
func (l legendBlock) place(f *atlas.Set, width int, at func(i, x, line int)) int {
	x, line := 0, 0
	for i := range l {
		w := swatchW + f.Regular.Width(l[i].Meaning)
		if x > 0 && x+w > width {
			x, line = 0, line+1
		}
		if at != nil {
			at(i, x, line)
		}
		x += w + 3*f.Regular.Advance
	}
	if len(l) == 0 {
		return 0
	}
	return line + 1
}

func swatch(c *canvas, r image.Rectangle, sign string) {
	mid := (r.Min.X + r.Max.X) / 2
	text := func(s string, col color.RGBA) {
		c.faces.Bold.Draw(c.RGBA, mid-c.faces.Bold.Width(s)/2, r.Min.Y-3, s, col)
	}
	pattern := func(p raster.Pattern, period int, col color.RGBA) {
		raster.Hatch(c.RGBA, r, p, period, col)
		raster.Outline(c.RGBA, r, 1, col)
	}
	switch sign {
	case signFrame:
		raster.Fill(c.RGBA, r, colPanel)
		raster.Fill(c.RGBA, image.Rect(mid, r.Min.Y+3, mid+1, r.Max.Y-3), colMuted)
	case signTile:
		text("1", colText)
	case signAnchor:
		text("▲", colAnchor)
	case signMarker:
		text("▼", colMarker)
	case signGap:
		pattern(gapPattern, hatchPeriod, colGap)
	case signObserver:
		pattern(observerPattern, hatchPeriod, colObserver)
	case signPadding:
		pattern(paddingPattern, paddingPeriod, colLine)
	case signRepeated:
		pattern(raster.Rising, sparsePeriod, colText)
	case signManyRepeats:
		pattern(raster.Cross, densePeriod, colText)
	case signExtent:
		raster.Fill(c.RGBA, image.Rect(r.Min.X+4, r.Min.Y, r.Max.X-4, r.Min.Y+3), colRegion)
		raster.Outline(c.RGBA, r, 1, colLine)
	default: // the name of a region
		text(sign, colRegion)
	}
}

const (
	paddingPeriod = 9
	sparsePeriod  = 12
	densePeriod   = 7
)

// axisLegend explains the signs of the time axis that are in use.
func (m *Manifest) axisLegend(tiles bool) []LegendEntry {
	l := []LegendEntry{{signFrame, "analyzed frame"}}
	if tiles {
		l = append(l, LegendEntry{signTile, "tile number"})
	}
	l = append(l, LegendEntry{signAnchor, "anchor, offsets count from it"})
	if len(m.Gaps) > 0 {
		l = append(l, LegendEntry{signGap, "gap: no evidence"})
	}
	if len(m.Observers) > 0 {
		l = append(l, LegendEntry{signObserver, m.observerText()})
	}
	if len(m.Markers) > 0 {
		l = append(l, LegendEntry{signMarker, "marker"})
	}
	return l
}

// observerText names the first observer interval and counts the others.
func (m *Manifest) observerText() string {
	o := m.Observers[0]
	label := o.Label
	if label == "" {
		label = "recorder observing"
	}
	s := label + " " + offsetText(o.Start-m.Anchor.Time) + ".." + offsetText(o.End-m.Anchor.Time)
	if n := len(m.Observers) - 1; n > 0 {
		s += " and " + plural(n, "more interval")
	}
	return s
}

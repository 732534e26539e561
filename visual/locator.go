package visual

import (
	"fmt"
	"image"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/raster"
)

// locator shows where a filmstrip's region lies in the frame: a small picture
// of the reference frame with the region outlined, and its position in words.
type locator struct{ s *strip }

const locatorH = 130

func (l *locator) height(*atlas.Set, int) int { return locatorH }

func (l *locator) draw(c *canvas, r image.Rectangle) {
	size := l.size()
	x := r.Min.X + size.X + 14
	s := l.s
	f := &s.a.frames[s.a.referenceFrame(s.e)]
	lines := []string{
		fmt.Sprintf("region at %d,%d size %dx%d of %dx%d", s.rect.Min.X, s.rect.Min.Y, s.rect.Dx(), s.rect.Dy(), s.e.Size.X, s.e.Size.Y),
		fmt.Sprintf("located in frame %s, %s", f.ID, offsetText(s.a.offset(f.Time))),
		"the region is fixed in the frame; it does not follow content",
	}
	if s.chosen[0].Reasons[0] == ReasonPlaced {
		lines[2] = "the region is placed frame by frame by the caller; outlined at its first place"
	}
	y := r.Min.Y
	for _, line := range lines {
		for _, part := range wrap(c.faces.Regular, line, r.Max.X-x, 2) {
			c.faces.Regular.Draw(c.RGBA, x, y, part, colMuted)
			y += lineH
		}
	}
}

// size of the small picture.
func (l *locator) size() image.Point {
	return fitInto(l.s.e.Size, image.Pt(2*locatorH, locatorH))
}

// picture returns where in the footer the small picture goes, and its source.
func (l *locator) picture(foot image.Rectangle) (at, src image.Rectangle) {
	corner := image.Pt(foot.Min.X, foot.Max.Y-locatorH)
	return image.Rectangle{Min: corner, Max: corner.Add(l.size())}, image.Rectangle{Max: l.s.e.Size}
}

// outline marks the region on the small picture.
func (s *strip) outline(c *canvas, at image.Rectangle) {
	box := project(s.source[0].Intersect(image.Rectangle{Max: s.e.Size}), s.e.Size, at).Intersect(at)
	raster.Outline(c.RGBA, box.Inset(-1), 3, colBack)
	raster.Outline(c.RGBA, box, 1, colRegion)
	raster.Outline(c.RGBA, at.Inset(-1), 1, colLine)
}

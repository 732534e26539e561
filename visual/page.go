package visual

import (
	"image"
	"image/color"
	"strings"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/raster"
)

// canvas is a picture being drawn.
type canvas struct {
	*image.RGBA
	faces *atlas.Set
}

// block is a full-width part of a page whose height depends on the width.
type block interface {
	height(f *atlas.Set, width int) int
	draw(c *canvas, r image.Rectangle)
}

// stack is blocks one below the other.
type stack []block

func (s stack) height(f *atlas.Set, width int) int {
	h := 0
	for _, b := range s {
		h += b.height(f, width)
	}
	return h
}

func (s stack) draw(c *canvas, r image.Rectangle) {
	for _, b := range s {
		h := b.height(c.faces, r.Dx())
		b.draw(c, image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+h))
		r.Min.Y += h
	}
}

// titleBlock is one line in the large face.
type titleBlock string

func (t titleBlock) height(*atlas.Set, int) int { return titleH }

func (t titleBlock) draw(c *canvas, r image.Rectangle) {
	f := c.faces.Title
	f.Draw(c.RGBA, r.Min.X, r.Min.Y, f.Fit(string(t), r.Dx()), colText)
}

// textBlock is a paragraph broken at spaces, at most max lines long.
type textBlock struct {
	text string
	bold bool
	col  color.RGBA
	max  int
}

func (t textBlock) face(f *atlas.Set) *atlas.Face {
	if t.bold {
		return f.Bold
	}
	return f.Regular
}

func (t textBlock) height(f *atlas.Set, width int) int {
	return lineH * len(wrap(t.face(f), t.text, width, t.max))
}

func (t textBlock) draw(c *canvas, r image.Rectangle) {
	f := t.face(c.faces)
	for i, line := range wrap(f, t.text, r.Dx(), t.max) {
		f.Draw(c.RGBA, r.Min.X, r.Min.Y+i*lineH, line, t.col)
	}
}

// space is empty height.
type space int

func (s space) height(*atlas.Set, int) int    { return int(s) }
func (s space) draw(*canvas, image.Rectangle) {}

// wrap breaks text at spaces into at most most lines; the last one and single
// long words are shortened in the middle.
func wrap(f *atlas.Face, text string, width, most int) []string {
	var lines []string
	rest := strings.Fields(text)
	for len(rest) > 0 {
		if len(lines) == most-1 {
			return append(lines, f.Fit(strings.Join(rest, " "), width))
		}
		n, line := 1, rest[0]
		for n < len(rest) && f.Width(line+" "+rest[n]) <= width {
			line += " " + rest[n]
			n++
		}
		lines = append(lines, f.Fit(line, width))
		rest = rest[n:]
	}
	return lines
}

// newCanvas makes an empty page.
func newCanvas(f *atlas.Set, w, h int) *canvas {
	c := &canvas{image.NewRGBA(image.Rect(0, 0, w, h)), f}
	raster.Fill(c.RGBA, c.Rect, colBack)
	return c
}

// header is what every picture starts with: title, facts, warnings, time axis.
func (m *Manifest) header(axisTiles bool) stack {
	s := stack{titleBlock(m.Title)}
	for _, line := range m.facts() {
		s = append(s, textBlock{line, false, colMuted, 2})
	}
	for _, w := range m.Warnings {
		s = append(s, textBlock{"! " + w, true, colGap, 3})
	}
	s = append(s, space(6), newAxis(m, axisTiles), space(8))
	return s
}

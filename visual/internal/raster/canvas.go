// Package raster draws rectangles, patterns and scaled frames with integer
// arithmetic only, so that pictures are equal on every machine.
package raster

import (
	"image"
	"image/color"
)

// Fill paints r.
func Fill(dst *image.RGBA, r image.Rectangle, c color.RGBA) {
	r = r.Intersect(dst.Rect)
	if r.Empty() {
		return
	}
	first := dst.Pix[dst.PixOffset(r.Min.X, r.Min.Y):][:4*r.Dx()]
	for i := 0; i < len(first); i += 4 {
		first[i], first[i+1], first[i+2], first[i+3] = c.R, c.G, c.B, 0xff
	}
	for y := r.Min.Y + 1; y < r.Max.Y; y++ {
		copy(dst.Pix[dst.PixOffset(r.Min.X, y):], first)
	}
}

// Outline paints the inside edge of r, w pixels thick.
func Outline(dst *image.RGBA, r image.Rectangle, w int, c color.RGBA) {
	w = min(w, r.Dx(), r.Dy())
	Fill(dst, image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+w), c)
	Fill(dst, image.Rect(r.Min.X, r.Max.Y-w, r.Max.X, r.Max.Y), c)
	Fill(dst, image.Rect(r.Min.X, r.Min.Y, r.Min.X+w, r.Max.Y), c)
	Fill(dst, image.Rect(r.Max.X-w, r.Min.Y, r.Max.X, r.Max.Y), c)
}

// Pattern tells areas apart without colour.
type Pattern int

// The patterns.
const (
	Rising  Pattern = iota // ///
	Falling                // \\\
	Cross                  // both
	Dots                   // a grid of points
)

// Hits reports whether the pattern paints the pixel at x, y. Patterns are
// anchored to the picture, so neighbouring areas join up.
func (p Pattern) Hits(x, y, period int) bool {
	up, down := mod(x+y, period) < 2, mod(x-y, period) < 2
	switch p {
	case Rising:
		return up
	case Falling:
		return down
	case Cross:
		return up || down
	default:
		return mod(x, period) < 2 && mod(y, period) < 2
	}
}

func mod(a, n int) int { return (a%n + n) % n }

// Hatch paints the pattern over r and leaves the pixels between as they are.
func Hatch(dst *image.RGBA, r image.Rectangle, p Pattern, period int, c color.RGBA) {
	r = r.Intersect(dst.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if p.Hits(x, y, period) {
				dst.SetRGBA(x, y, c)
			}
		}
	}
}

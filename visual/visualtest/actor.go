package visualtest

import (
	"image"
	"image/draw"
)

// actor is something that changes. It is immutable once made, so frames may be painted in parallel.
type actor interface {
	// key identifies what paint draws at frame i: equal keys, equal pixels.
	key(i int) int
	paint(dst *image.RGBA, i int)
}

// stamp shows one of several pictures at a fixed place; state -1 shows none.
type stamp struct {
	at       image.Point
	pictures []*image.RGBA
	states   []int
}

func (s stamp) key(i int) int { return s.states[i] }

func (s stamp) paint(dst *image.RGBA, i int) {
	if n := s.states[i]; n >= 0 {
		pic := s.pictures[n]
		draw.Draw(dst, pic.Bounds().Add(s.at), pic, image.Point{}, draw.Over)
	}
}

// mover shows one picture at a place that changes, inside clip only.
type mover struct {
	picture *image.RGBA
	clip    image.Rectangle
	path    []image.Point // top left corner at each frame
}

func (m mover) key(i int) int { return m.path[i].Y<<16 + m.path[i].X }

func (m mover) paint(dst *image.RGBA, i int) {
	at := m.path[i]
	r := m.picture.Bounds().Add(at).Intersect(m.clip)
	draw.Draw(dst, r, m.picture, r.Min.Sub(at), draw.Over)
}

// slide moves the content of an area up (positive) or down by an offset that changes. What comes into view from below
// is the page's own further content; above it is the page's colour.
type slide struct {
	page    *page
	area    image.Rectangle
	offsets []int
}

func (s slide) key(i int) int { return s.offsets[i] }

func (s slide) paint(dst *image.RGBA, i int) {
	off := s.offsets[i]
	if off == 0 {
		return
	}
	if off < 0 {
		strip := s.area
		strip.Max.Y = strip.Min.Y - off
		fill(dst, strip.Intersect(s.area), s.page.theme.page)
	}
	r := s.area
	if off < 0 {
		r.Min.Y -= off
	}
	draw.Draw(dst, r, s.page.picture, image.Pt(r.Min.X, r.Min.Y+off), draw.Src)
}

// ease returns the way covered after k of n steps of a motion over distance that starts and ends gently.
func ease(k, n, distance int) int {
	k = min(max(k, 0), n)
	num := distance * (3*k*k*n - 2*k*k*k)
	den := n * n * n
	if num < 0 {
		return -((-num + den/2) / den)
	}
	return (num + den/2) / den
}

// Package atlas draws fixed-width text from embedded glyph sheets.
package atlas

import (
	"bytes"
	_ "embed" // glyph sheets
	"errors"
	"image"
	"image/color"
	"image/png"
)

//go:generate go run ./gen

//go:embed runes.txt
var runes string

//go:embed mono15.png
var mono15 []byte

//go:embed bold15.png
var bold15 []byte

//go:embed bold20.png
var bold20 []byte

const columns = 32

// Face is one size and weight. It is immutable and safe for concurrent use.
type Face struct {
	Advance, Height int // of a character, in pixels
	sheet           *image.Gray
	index           map[rune]int
}

// Set is the faces pictures are labelled with.
type Set struct {
	Regular, Bold, Title *Face
}

// Load decodes the embedded sheets.
func Load() (*Set, error) {
	index := make(map[rune]int)
	for _, r := range runes {
		index[r] = len(index)
	}
	s := &Set{
		Regular: load(mono15, 9, 19, index),
		Bold:    load(bold15, 9, 19, index),
		Title:   load(bold20, 12, 25, index),
	}
	if s.Regular == nil || s.Bold == nil || s.Title == nil {
		return nil, errors.New("atlas: embedded glyph sheet is damaged")
	}
	return s, nil
}

func load(sheet []byte, advance, height int, index map[rune]int) *Face {
	img, err := png.Decode(bytes.NewReader(sheet))
	if err != nil {
		return nil
	}
	gray, ok := img.(*image.Gray)
	if !ok || gray.Rect.Dx() != columns*advance || gray.Rect.Dy() < (len(index)+columns-1)/columns*height {
		return nil
	}
	return &Face{advance, height, gray, index}
}

// Width is the width of s in pixels.
func (f *Face) Width(s string) int { return f.Advance * len([]rune(s)) }

// Fit shortens s to at most width pixels by an ellipsis in the middle, where
// paths and identifiers differ least.
func (f *Face) Fit(s string, width int) string {
	r, n := []rune(s), max(0, width/f.Advance)
	if len(r) <= n {
		return s
	}
	if n < 3 {
		return string(r[:n])
	}
	head := (n - 1 + 1) / 2
	tail := n - 1 - head
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// Draw writes s with its top left corner at x, y and returns the x after it.
// Characters without a glyph show as '?'; control characters as spaces.
func (f *Face) Draw(dst *image.RGBA, x, y int, s string, c color.RGBA) int {
	for _, r := range s {
		f.glyph(dst, x, y, f.lookup(r), c)
		x += f.Advance
	}
	return x
}

func (f *Face) lookup(r rune) int {
	if r < 0x20 || r == 0x7f {
		r = ' '
	}
	if i, ok := f.index[r]; ok {
		return i
	}
	return f.index['?']
}

func (f *Face) glyph(dst *image.RGBA, x, y, i int, c color.RGBA) {
	sx, sy := i%columns*f.Advance, i/columns*f.Height
	for dy := range f.Height {
		src := f.sheet.Pix[f.sheet.PixOffset(sx, sy+dy):]
		for dx := range f.Advance {
			a := uint32(src[dx])
			if a == 0 || !image.Pt(x+dx, y+dy).In(dst.Rect) {
				continue
			}
			p := dst.Pix[dst.PixOffset(x+dx, y+dy):]
			p[0], p[1], p[2], p[3] = blend(p[0], c.R, a), blend(p[1], c.G, a), blend(p[2], c.B, a), 0xff
		}
	}
}

func blend(under, over uint8, a uint32) uint8 {
	return uint8((uint32(under)*(255-a) + uint32(over)*a + 127) / 255)
}

// Command gen rasterises the Go Mono fonts into the glyph sheets embedded by
// package atlas. Sheets are committed so that every machine draws the same
// pixels: font rasterisers use floating point, whose rounding differs by
// architecture.
package main

import (
	"image"
	"image/png"
	"log"
	"os"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

const columns = 32

func main() {
	sheets := []struct {
		name string
		ttf  []byte
		size float64
		w, h int
	}{
		{"mono15", gomono.TTF, 15, 9, 19},
		{"bold15", gomonobold.TTF, 15, 9, 19},
		{"bold20", gomonobold.TTF, 20, 12, 25},
	}
	runes := covered(gomono.TTF)
	check(os.WriteFile("runes.txt", []byte(string(runes)), 0o600))
	for _, s := range sheets {
		sheet := rasterise(s.ttf, s.size, s.w, s.h, runes)
		f, err := os.Create(s.name + ".png")
		check(err)
		check(png.Encode(f, sheet))
		check(f.Close())
	}
}

// covered lists the runes drawn: those of the ranges that the font has.
func covered(ttf []byte) []rune {
	face := open(ttf, 15)
	var out []rune
	add := func(lo, hi rune) {
		for r := lo; r <= hi; r++ {
			if _, ok := face.GlyphAdvance(r); ok {
				out = append(out, r)
			}
		}
	}
	add(0x20, 0x7e)
	add(0xa0, 0x17f)
	add(0x370, 0x3ff)
	add(0x400, 0x45f)
	for _, r := range "–—‘’‚“”„†‡•…‰‹›€™←↑→↓↔−≈≠≤≥□■▲▼◆●" {
		if !strings.ContainsRune(string(out), r) {
			add(r, r)
		}
	}
	return out
}

func rasterise(ttf []byte, size float64, w, h int, runes []rune) *image.Gray {
	face := open(ttf, size)
	rows := (len(runes) + columns - 1) / columns
	sheet := image.NewGray(image.Rect(0, 0, columns*w, rows*h))
	ascent := face.Metrics().Ascent.Round()
	for i, r := range runes {
		x, y := i%columns*w, i/columns*h
		cell, _ := sheet.SubImage(image.Rect(x, y, x+w, y+h)).(*image.Gray)
		d := font.Drawer{Dst: cell, Src: image.White, Face: face, Dot: fixed.P(x, y+ascent+(h-face.Metrics().Height.Round())/2)}
		d.DrawString(string(r))
	}
	return sheet
}

func open(ttf []byte, size float64) font.Face {
	f, err := opentype.Parse(ttf)
	check(err)
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	check(err)
	return face
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

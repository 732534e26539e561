package raster

import (
	"errors"
	"image"
	"image/color"
	"testing"

	"pgregory.net/rapid"
)

func goOn() error { return nil }

func grey(w, h int, at func(x, y int) uint8) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			g.SetGray(x, y, color.Gray{at(x, y)})
		}
	}
	return g
}

// TestFlatStaysFlat: scaling by any factor keeps a plain colour exactly.
func TestFlatStaysFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
		v := rapid.Byte().Draw(t, "value")
		out := image.NewRGBA(image.Rect(0, 0, rapid.IntRange(1, 90).Draw(t, "ow"), rapid.IntRange(1, 90).Draw(t, "oh")))
		p := FromImage(grey(w, h, func(int, int) uint8 { return v }))
		if err := p.Draw(out, out.Rect, image.Rect(0, 0, w, h), goOn); err != nil {
			t.Fatal(err)
		}
		for i, got := range out.Pix {
			if want := []uint8{v, v, v, 255}[i%4]; got != want {
				t.Fatalf("byte %d is %d, want %d", i, got, want)
			}
		}
	})
}

// TestHalving: the exact mean of four pixels, rounded.
func TestHalving(t *testing.T) {
	p := FromImage(grey(8, 6, func(x, y int) uint8 { return uint8(x*20 + y*3) }))
	out := image.NewRGBA(image.Rect(0, 0, 4, 3))
	if err := p.Draw(out, out.Rect, image.Rect(0, 0, 8, 6), goOn); err != nil {
		t.Fatal(err)
	}
	for y := range 3 {
		for x := range 4 {
			want := 2*x*20 + 10 + 2*y*3 + 2 // 1.5 rounds up
			if got := int(out.RGBAAt(x, y).R); got != want {
				t.Errorf("%d,%d: got %d, want %d", x, y, got, want)
			}
		}
	}
}

func TestMagnifyRepeatsPixels(t *testing.T) {
	p := FromImage(grey(3, 3, func(x, y int) uint8 { return uint8(x*80 + y*10) }))
	out := image.NewRGBA(image.Rect(0, 0, 12, 12))
	if err := p.Draw(out, out.Rect, image.Rect(0, 0, 3, 3), goOn); err != nil {
		t.Fatal(err)
	}
	for y := range 12 {
		for x := range 12 {
			if got, want := int(out.RGBAAt(x, y).R), x/4*80+y/4*10; got != want {
				t.Fatalf("%d,%d: got %d, want %d", x, y, got, want)
			}
		}
	}
}

func TestCropAndPoll(t *testing.T) {
	p := FromImage(grey(10, 200, func(x, y int) uint8 { return uint8(y) }))
	out := image.NewRGBA(image.Rect(0, 0, 10, 150))
	if err := p.Draw(out, image.Rect(2, 10, 8, 20), image.Rect(2, 40, 8, 50), goOn); err != nil {
		t.Fatal(err)
	}
	if out.RGBAAt(2, 10).R != 40 || out.RGBAAt(7, 19).R != 49 || out.RGBAAt(1, 10).A != 0 {
		t.Error("the crop is misplaced")
	}
	stop := errors.New("stop")
	if err := p.Draw(out, out.Rect, image.Rect(0, 0, 10, 150), func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the poll's error", err)
	}
}

func TestShapesStayInside(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 10, 10))
	red := color.RGBA{255, 0, 0, 255}
	Fill(img, image.Rect(-5, -5, 3, 3), red)
	Outline(img, image.Rect(5, 5, 30, 30), 2, red)
	Hatch(img, image.Rect(-9, 8, 99, 99), Cross, 4, red)
	if img.RGBAAt(2, 2) != red || img.RGBAAt(3, 3).A != 0 || img.RGBAAt(5, 9) != red {
		t.Error("shapes are misplaced")
	}
}

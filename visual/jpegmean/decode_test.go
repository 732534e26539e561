package jpegmean_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"github.com/krometrail/krometrail/visual/jpegmean"
	"github.com/krometrail/krometrail/visual/visualtest"
)

// frames returns a few encoded pages.
func frames(t testing.TB, w, h int) [][]byte {
	t.Helper()
	var out [][]byte
	for seed := range uint64(2) {
		seq, err := visualtest.Generate(context.Background(), visualtest.Spec{Kind: visualtest.Flash, Distractor: visualtest.Panel, Duration: 1, Seed: seed}, visualtest.Options{Width: w, Height: h})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 60; i += 20 {
			out = append(out, seq.Frames[i].JPEG)
		}
	}
	return out
}

// deviation compares means with those of decoded pixels over whole cells.
func deviation(t testing.TB, data []byte) (worst int, mean float64) {
	t.Helper()
	m, err := jpegmean.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	total, n := 0, 0
	add := func(got byte, want int) {
		d := max(int(got)-want, want-int(got))
		worst = max(worst, d)
		total += d
		n++
	}
	b := img.Bounds()
	for cy := 0; cy+1 <= b.Dy()/8; cy++ {
		for cx := 0; cx+1 <= b.Dx()/8; cx++ {
			for q := range 4 {
				x, y := 2*cx+q%2, 2*cy+q/2
				add(m.Y[y*m.YStride+x], meanOf(img, 4*x, 4*y, 4, lumaOf))
			}
			add(m.Cb[cy*m.CStride+cx], meanOf(img, 8*cx, 8*cy, 8, cbOf))
			add(m.Cr[cy*m.CStride+cx], meanOf(img, 8*cx, 8*cy, 8, crOf))
		}
	}
	return worst, float64(total) / float64(n)
}

func lumaOf(c color.YCbCr) int { return int(c.Y) }
func cbOf(c color.YCbCr) int   { return int(c.Cb) }
func crOf(c color.YCbCr) int   { return int(c.Cr) }

func meanOf(img image.Image, x, y, n int, of func(color.YCbCr) int) int {
	sum := 0
	for dy := range n {
		for dx := range n {
			switch m := img.(type) {
			case *image.YCbCr:
				sum += of(m.YCbCrAt(x+dx, y+dy))
			case *image.Gray:
				sum += of(color.YCbCr{Y: m.GrayAt(x+dx, y+dy).Y, Cb: 128, Cr: 128})
			}
		}
	}
	return (sum + n*n/2) / (n * n)
}

func TestCloseToDecodedMeans(t *testing.T) {
	for i, data := range frames(t, 1280, 720) {
		worst, mean := deviation(t, data)
		if worst > 6 || mean > 1 {
			t.Errorf("frame %d: greatest deviation %d (want at most 6), mean %.2f (want at most 1)", i, worst, mean)
		}
	}
}

// TestOddSizes covers images that end inside cells, tiles and MCUs, and grey ones.
func TestOddSizes(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {7, 9}, {16, 16}, {17, 33}, {100, 3}, {641, 361}} {
		rgba := image.NewRGBA(image.Rectangle{Max: size})
		gray := image.NewGray(rgba.Rect)
		for y := range size.Y {
			for x := range size.X {
				rgba.SetRGBA(x, y, color.RGBA{uint8(60 + x%128), uint8(60 + y%128), uint8(100 + (x+y)%64), 255})
				gray.SetGray(x, y, color.Gray{uint8(60 + (x+y)%128)})
			}
		}
		for _, img := range []image.Image{rgba, gray} {
			var buf bytes.Buffer
			if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 90}); err != nil {
				t.Fatal(err)
			}
			w, h, err := jpegmean.Size(buf.Bytes())
			if err != nil || w != size.X || h != size.Y {
				t.Fatalf("size of %v: got %dx%d, %v", size, w, h, err)
			}
			if size.X < 8 || size.Y < 8 {
				if _, err := jpegmean.Decode(buf.Bytes()); err != nil {
					t.Fatalf("%v: %v", size, err)
				}
				continue
			}
			if worst, mean := deviation(t, buf.Bytes()); worst > 3 || mean > 1 {
				t.Errorf("%T %v: greatest deviation %d, mean %.2f", img, size, worst, mean)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	data := frames(t, 640, 360)[0]
	if _, err := jpegmean.Decode(data[:len(data)/2]); !errors.Is(err, jpegmean.ErrCorrupt) {
		t.Errorf("half a file: got %v, want ErrCorrupt", err)
	}
	if _, err := jpegmean.Decode(nil); !errors.Is(err, jpegmean.ErrCorrupt) {
		t.Errorf("no bytes: got %v, want ErrCorrupt", err)
	}
	if _, err := jpegmean.Decode([]byte("\x89PNG\r\n\x1a\n0000")); !errors.Is(err, jpegmean.ErrCorrupt) {
		t.Errorf("a PNG: got %v, want ErrCorrupt", err)
	}
	progressive := bytes.Replace(data, []byte{0xff, 0xc0}, []byte{0xff, 0xc2}, 1)
	if _, err := jpegmean.Decode(progressive); !errors.Is(err, jpegmean.ErrUnsupported) {
		t.Errorf("progressive: got %v, want ErrUnsupported", err)
	}
}

func BenchmarkDecode1080p(b *testing.B) {
	data := frames(b, 1920, 1080)[0]
	b.Run("jpegmean", func(b *testing.B) {
		var m jpegmean.Means
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := m.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("image-jpeg", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := jpeg.Decode(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package jpegmean_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/krometrail/krometrail/visual/jpegmean"
)

// TestForeignFiles reads files of another encoder: every chroma sampling and
// restart markers.
func TestForeignFiles(t *testing.T) {
	for _, name := range []string{"420.jpg", "422.jpg", "444.jpg", "restart.jpg"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := jpegmean.Decode(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkMeans(t, name, data, m)
	}
}

// sampled returns 422.jpg, whose factors are 2x2 and 1x2, with other factors
// for both chroma components. The picture is scrambled, the file stays valid.
func sampled(t *testing.T, luma, chroma byte) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "422.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte{0xff, 0xc0})
	if data[at+11] != 0x22 || data[at+14] != 0x12 {
		t.Fatalf("422.jpg has factors %x and %x", data[at+11], data[at+14])
	}
	data[at+11], data[at+14], data[at+17] = luma, chroma, chroma
	return data
}

func TestSamplings(t *testing.T) {
	data := sampled(t, 0x22, 0x21)
	m, err := jpegmean.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	checkMeans(t, "4:4:0", data, m)
	for _, f := range [][2]byte{{0x41, 0x11}, {0x11, 0x21}, {0x22, 0x31}, {0x22, 0x01}} {
		if _, err := jpegmean.Decode(sampled(t, f[0], f[1])); !errors.Is(err, jpegmean.ErrUnsupported) {
			t.Errorf("factors %x and %x: got %v, want ErrUnsupported", f[0], f[1], err)
		}
	}
}

// checkMeans compares with decoded planes at their own resolution.
func checkMeans(t *testing.T, name string, data []byte, m *jpegmean.Means) {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := img.(*image.Gray); ok {
		comparePlane(t, name+" Y", g.Pix, g.Stride, g.Rect.Max, 4, 4, m.Y, m.YStride)
		return
	}
	ycc := img.(*image.YCbCr)
	comparePlane(t, name+" Y", ycc.Y, ycc.YStride, ycc.Rect.Max, 4, 4, m.Y, m.YStride)
	sx, sy := 1, 1
	switch ycc.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		sx, sy = 2, 2
	case image.YCbCrSubsampleRatio422:
		sx = 2
	case image.YCbCrSubsampleRatio440:
		sy = 2
	}
	size := image.Pt(ycc.Rect.Max.X/sx, ycc.Rect.Max.Y/sy)
	comparePlane(t, name+" Cb", ycc.Cb, ycc.CStride, size, 8/sx, 8/sy, m.Cb, m.CStride)
	comparePlane(t, name+" Cr", ycc.Cr, ycc.CStride, size, 8/sx, 8/sy, m.Cr, m.CStride)
}

func comparePlane(t *testing.T, name string, pix []byte, stride int, size image.Point, w, h int, means []byte, mStride int) {
	t.Helper()
	for cy := range size.Y / h {
		for cx := range size.X / w {
			sum := 0
			for y := range h {
				for x := range w {
					sum += int(pix[(cy*h+y)*stride+cx*w+x])
				}
			}
			want, got := (sum+w*h/2)/(w*h), int(means[cy*mStride+cx])
			if d := max(want-got, got-want); d > 6 {
				t.Errorf("%s cell %d,%d: got %d, want %d", name, cx, cy, got, want)
				return
			}
		}
	}
}

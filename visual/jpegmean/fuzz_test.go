package jpegmean_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"testing"

	"github.com/krometrail/krometrail/visual/jpegmean"
)

// FuzzDecode feeds damaged files: whatever happens must be a typed error, and
// no memory may be taken for sizes a file only claims.
func FuzzDecode(f *testing.F) {
	for _, img := range []image.Image{image.NewRGBA(image.Rect(0, 0, 40, 24)), image.NewGray(image.Rect(0, 0, 9, 9))} {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, nil); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		f.Add(b.Bytes()[:b.Len()/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, h, err := jpegmean.Size(data)
		if err == nil && int64(w)*int64(h) > 1<<22 {
			return // callers check the size first; decoding it is only slow
		}
		m, err := jpegmean.Decode(data)
		switch {
		case err == nil:
			if m.Width < 1 || m.Height < 1 || len(m.Y) < ((m.Width+3)/4)*((m.Height+3)/4) {
				t.Fatalf("%dx%d with %d means", m.Width, m.Height, len(m.Y))
			}
		case !errors.Is(err, jpegmean.ErrCorrupt) && !errors.Is(err, jpegmean.ErrUnsupported):
			t.Fatalf("untyped error %v", err)
		}
	})
}

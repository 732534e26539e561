package visual_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/visual"
)

func FuzzDecodeMask(f *testing.F) {
	for _, img := range []image.Image{image.NewGray(image.Rect(0, 0, 3, 2)), image.NewRGBA(image.Rect(0, 0, 3, 2)), image.NewGray16(image.Rect(0, 0, 2, 2))} {
		var b bytes.Buffer
		require.NoError(f, png.Encode(&b, img))
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := visual.DecodeMask(data)
		var limit *visual.LimitError
		switch {
		case err == nil:
			size := m.Size()
			if size.X > 0 && size.Y > 0 {
				m.Selects(size.X-1, size.Y-1)
			}
		case !errors.Is(err, visual.ErrCorruptImage) && !errors.Is(err, visual.ErrUnsupportedImage) && !errors.As(err, &limit):
			t.Fatalf("untyped error %v", err)
		}
	})
}

func FuzzParseManifest(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "manifest-*.json"))
	require.NoError(f, err)
	for _, name := range files {
		body, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(body)
	}
	f.Add([]byte(`{"schema":"visual.manifest.v1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := visual.ParseManifest(data)
		if err != nil {
			if !errors.Is(err, visual.ErrBadManifest) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := visual.ParseManifest(body); err != nil {
			t.Fatalf("does not read its own output: %v", err)
		}
	})
}

package imagehead_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/storage/imagehead"
)

func TestReadAgreesWithTheEncoders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 300).Draw(t, "w"), rapid.IntRange(1, 300).Draw(t, "h")
		picture := image.NewGray(image.Rect(0, 0, w, h))
		var j, p bytes.Buffer
		require.NoError(t, jpeg.Encode(&j, picture, nil))
		require.NoError(t, png.Encode(&p, picture))
		info, err := imagehead.Read(j.Bytes())
		require.NoError(t, err)
		require.Equal(t, imagehead.Info{Format: imagehead.JPEG, Width: w, Height: h}, info)
		info, err = imagehead.Read(p.Bytes())
		require.NoError(t, err)
		require.Equal(t, imagehead.Info{Format: imagehead.PNG, Width: w, Height: h}, info)
	})
}

func TestReadRefusesWhatIsNotAnImage(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":               nil,
		"text":                []byte("hello, this is no image at all, really"),
		"jpeg start only":     {0xFF, 0xD8, 0xFF, 0xE0},
		"jpeg scan first":     {0xFF, 0xD8, 0xFF, 0xDA, 0, 4, 0, 0},
		"jpeg length too big": {0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF, 0, 0},
		"png without IHDR":    append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 20)...),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := imagehead.Read(data)
			require.ErrorIs(t, err, imagehead.ErrUnknown)
		})
	}
}

func FuzzRead(f *testing.F) {
	var j bytes.Buffer
	_ = jpeg.Encode(&j, image.NewGray(image.Rect(0, 0, 3, 5)), nil)
	f.Add(j.Bytes())
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := imagehead.Read(data)
		if err == nil && (info.Width < 1 || info.Height < 1) {
			t.Fatalf("accepted an image without a size: %+v", info)
		}
	})
}

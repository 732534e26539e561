package visual

import (
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/jpeg"
	"image/png"
	"io"
)

// Format is the file format of an encoded artifact.
type Format string

const (
	// PNG is lossless and the default.
	PNG Format = "png"
	// JPEG is at quality 85: smaller and faster for pictures of photographs.
	JPEG Format = "jpeg"
)

// Version is the version of the drawing and selection methods. It changes
// whenever equal input may give another picture.
const Version = "2"

// Artifact is a finished picture and its record. It must not be modified and
// is safe for concurrent use.
type Artifact struct {
	Image    *image.RGBA
	Manifest Manifest
}

// Encode writes the picture as PNG and returns the manifest's Output completed
// with the size and hash of what was written.
func (a *Artifact) Encode(w io.Writer) (Output, error) { return a.EncodeAs(w, PNG) }

// EncodeAs is Encode with a choice of format.
func (a *Artifact) EncodeAs(w io.Writer, f Format) (Output, error) {
	out := a.Manifest.Output
	sum := &summing{w: w, h: sha256.New()}
	var err error
	switch f {
	case PNG:
		enc := png.Encoder{CompressionLevel: png.BestSpeed}
		err = enc.Encode(sum, a.Image)
	case JPEG:
		err = jpeg.Encode(sum, a.Image, &jpeg.Options{Quality: 85})
	default:
		err = invalid("format %q", f)
	}
	if err != nil {
		return out, err
	}
	out.Format, out.Bytes, out.SHA256 = f, sum.n, hex.EncodeToString(sum.h.Sum(nil))
	return out, nil
}

// WriteTo writes the picture as PNG. It implements io.WriterTo.
func (a *Artifact) WriteTo(w io.Writer) (int64, error) {
	out, err := a.Encode(w)
	return out.Bytes, err
}

// summing counts and hashes what passes through it.
type summing struct {
	w io.Writer
	h interface {
		io.Writer
		Sum([]byte) []byte
	}
	n int64
}

func (s *summing) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	_, _ = s.h.Write(p[:n]) // a hash accepts everything
	s.n += int64(n)
	return n, err
}

func pixelHash(img *image.RGBA) string {
	h := sha256.New()
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		h.Write(img.Pix[img.PixOffset(img.Rect.Min.X, y):][:4*img.Rect.Dx()])
	}
	return hex.EncodeToString(h.Sum(nil))
}

package visual

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
)

// format is the file type of a frame, told by its first bytes.
type format int

const (
	formatUnknown format = iota
	formatJPEG
	formatPNG
	formatImage // no file: an image.Image
)

func sniff(f *Frame) format {
	switch {
	case f.Image != nil:
		return formatImage
	case bytes.HasPrefix(f.Data, []byte{0xff, 0xd8}):
		return formatJPEG
	case bytes.HasPrefix(f.Data, []byte("\x89PNG\r\n\x1a\n")):
		return formatPNG
	}
	return formatUnknown
}

// frameSize reads the size from the header and enforces the limits, so that
// nothing is allocated for a frame that is too large.
func frameSize(f *Frame, o *Options) (image.Point, error) {
	size, err := headerSize(f, o)
	if err != nil {
		return size, err
	}
	if size.X <= 0 || size.Y <= 0 {
		return size, fmt.Errorf("%w: empty frame", ErrCorruptImage)
	}
	if n := int64(size.X) * int64(size.Y); n > o.MaxFramePixels {
		return size, &LimitError{Subject: "frame_pixels", Value: n, Limit: o.MaxFramePixels, TryAtMost: o.MaxFramePixels}
	}
	return size, nil
}

func headerSize(f *Frame, o *Options) (image.Point, error) {
	if n := int64(len(f.Data)); n > o.MaxFrameBytes {
		return image.Point{}, &LimitError{Subject: "frame_bytes", Value: n, Limit: o.MaxFrameBytes, TryAtMost: o.MaxFrameBytes}
	}
	var cfg image.Config
	var err error
	switch sniff(f) {
	case formatImage:
		return f.Image.Bounds().Size(), nil
	case formatJPEG:
		cfg, err = jpeg.DecodeConfig(bytes.NewReader(f.Data))
	case formatPNG:
		cfg, err = png.DecodeConfig(bytes.NewReader(f.Data))
	default:
		err = fmt.Errorf("%w: neither JPEG nor PNG", ErrUnsupportedImage)
	}
	if err != nil {
		return image.Point{}, imageError(err)
	}
	return image.Pt(cfg.Width, cfg.Height), nil
}

// decodeFull returns the pixels of a frame whose size was checked.
func decodeFull(f *Frame) (image.Image, error) {
	var img image.Image
	var err error
	switch sniff(f) {
	case formatImage:
		return f.Image, nil
	case formatJPEG:
		img, err = jpeg.Decode(bytes.NewReader(f.Data))
	case formatPNG:
		img, err = png.Decode(bytes.NewReader(f.Data))
	default:
		err = ErrUnsupportedImage
	}
	if err != nil {
		return nil, imageError(err)
	}
	return img, nil
}

// imageError sorts a decoder's error into unsupported or corrupt.
func imageError(err error) error {
	var uj jpeg.UnsupportedError
	var up png.UnsupportedError
	switch {
	case errors.Is(err, ErrUnsupportedImage), errors.Is(err, ErrCorruptImage):
		return err
	case errors.As(err, &uj), errors.As(err, &up):
		return fmt.Errorf("%w: %w", ErrUnsupportedImage, err)
	}
	return fmt.Errorf("%w: %w", ErrCorruptImage, err)
}

// contentHash identifies what a source returned for a frame: the encoded
// bytes, or the size and pixels of a decoded image.
func contentHash(f *Frame) [sha256.Size]byte {
	if f.Image == nil {
		return sha256.Sum256(f.Data)
	}
	b := f.Image.Bounds()
	h := sha256.New()
	var head [8]byte
	binary.BigEndian.PutUint32(head[:4], uint32(b.Dx()))
	binary.BigEndian.PutUint32(head[4:], uint32(b.Dy()))
	h.Write(head[:])
	line := image.NewNRGBA(image.Rect(0, 0, b.Dx(), 1))
	for y := b.Min.Y; y < b.Max.Y; y++ {
		draw.Draw(line, line.Rect, f.Image, image.Pt(b.Min.X, y), draw.Src)
		h.Write(line.Pix)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

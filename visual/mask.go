package visual

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
)

// Mask selects pixels of a frame: those whose value is not zero.
type Mask struct {
	gray *image.Gray
}

// MaskInfo describes a mask in a manifest.
type MaskInfo struct {
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Selected int    `json:"selected_pixels"`
	SHA256   string `json:"sha256"` // of the selection, one byte 0 or 1 per pixel, row by row
}

// NewMask returns a mask of the non-zero pixels of gray, which must not change
// afterwards. The mask's top left corner is the frame's top left corner.
func NewMask(gray *image.Gray) *Mask { return &Mask{gray} }

const maxMaskPixels = 64 << 20

// DecodeMask reads an 8-bit grey PNG. Other PNG kinds are ErrUnsupportedImage.
func DecodeMask(data []byte) (*Mask, error) {
	cfg, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: mask: %w", ErrCorruptImage, err)
	}
	if n := int64(cfg.Width) * int64(cfg.Height); n > maxMaskPixels {
		return nil, &LimitError{Subject: "mask_pixels", Value: n, Limit: maxMaskPixels, TryAtMost: maxMaskPixels}
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: mask: %w", ErrCorruptImage, err)
	}
	gray, ok := img.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("%w: mask must be an 8-bit grey PNG", ErrUnsupportedImage)
	}
	return NewMask(gray), nil
}

// Size is the mask's size in pixels.
func (m *Mask) Size() image.Point { return m.gray.Rect.Size() }

// Selects reports whether the mask selects the pixel at x, y.
func (m *Mask) Selects(x, y int) bool {
	p := m.gray.Rect.Min
	return m.gray.GrayAt(p.X+x, p.Y+y).Y != 0
}

func (m *Mask) info() *MaskInfo {
	size := m.Size()
	sum, n := sha256.New(), 0
	row := make([]byte, size.X)
	for y := range size.Y {
		for x := range row {
			row[x] = 0
			if m.Selects(x, y) {
				row[x] = 1
				n++
			}
		}
		sum.Write(row)
	}
	return &MaskInfo{size.X, size.Y, n, hex.EncodeToString(sum.Sum(nil))}
}

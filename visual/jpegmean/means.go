package jpegmean

import "errors"

var (
	// ErrUnsupported means the file is a JPEG of a kind this package does not read.
	ErrUnsupported = errors.New("jpegmean: unsupported kind of JPEG")
	// ErrCorrupt means the file is damaged, truncated or no JPEG.
	ErrCorrupt = errors.New("jpegmean: corrupt JPEG")
)

// Means are the block means of one image. Planes are stored row by row with
// the given strides; cells beyond the image hold the encoder's padding.
type Means struct {
	Width, Height int // image pixels
	// Y holds one mean for 4x4 pixels, YStride per row.
	Y       []byte
	YStride int
	// Cb and Cr hold one mean for 8x8 pixels, CStride per row. They are 128
	// everywhere for a grey image.
	Cb, Cr  []byte
	CStride int
}

// reset sizes the planes for whole MCUs of 16x16 pixels, reusing memory.
func (m *Means) reset(width, height int) {
	tx, ty := (width+15)/16, (height+15)/16
	m.Width, m.Height = width, height
	m.YStride, m.CStride = 4*tx, 2*tx
	m.Y = grow(m.Y, 16*tx*ty)
	m.Cb = grow(m.Cb, 4*tx*ty)
	m.Cr = grow(m.Cr, 4*tx*ty)
}

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// put stores a value when it lies inside the plane: blocks of an MCU may reach
// beyond the last tile.
func put(p []byte, stride, x, y int, v int64) {
	if x < stride {
		if i := y*stride + x; i < len(p) {
			p[i] = level(v)
		}
	}
}

// level turns a sum scaled by 8 * 4096 into a sample.
func level(v int64) byte {
	return byte(max(0, min(255, (v+1<<14)>>15+128)))
}

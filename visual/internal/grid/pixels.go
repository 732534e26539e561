package grid

import (
	"image"
	"image/color"
)

// Pixels gives comparable planes of a decoded frame: its own Y, Cb and Cr when
// it has them, else packed RGB.
type Pixels struct {
	ycc *image.YCbCr
	rgb []byte
	w   int
}

// NewPixels wraps img, which must not change while the result is in use.
func NewPixels(img image.Image) *Pixels {
	if m, ok := img.(*image.YCbCr); ok {
		return &Pixels{ycc: m}
	}
	b := img.Bounds()
	p := &Pixels{rgb: make([]byte, 3*b.Dx()*b.Dy()), w: b.Dx()}
	read := rgbRows(img)
	for y := range b.Dy() {
		read(y, p.rgb[3*b.Dx()*y:3*b.Dx()*(y+1)])
	}
	return p
}

// at returns the pixel at x, y as Y, Cb, Cr.
func (p *Pixels) at(x, y int) (yy, cb, cr uint8) {
	if p.ycc == nil {
		i := 3 * (y*p.w + x)
		return color.RGBToYCbCr(p.rgb[i], p.rgb[i+1], p.rgb[i+2])
	}
	m := p.ycc
	x, y = x+m.Rect.Min.X, y+m.Rect.Min.Y
	c := m.COffset(x, y)
	return m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c]
}

// same reports quickly whether rows y0..y1, columns x0..x1 are equal.
func (p *Pixels) same(q *Pixels, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		if p.ycc == nil || q.ycc == nil {
			if p.ycc != nil || q.ycc != nil {
				return false
			}
			a, b := 3*(y*p.w+r.Min.X), 3*(y*p.w+r.Max.X)
			if string(p.rgb[a:b]) != string(q.rgb[a:b]) {
				return false
			}
			continue
		}
		if !sameRow(p.ycc, q.ycc, r.Min.X, r.Max.X, y) {
			return false
		}
	}
	return true
}

func sameRow(m, n *image.YCbCr, x0, x1, y int) bool {
	if m.SubsampleRatio != n.SubsampleRatio {
		return false
	}
	a, b := m.Rect.Min, n.Rect.Min
	i, j := m.YOffset(a.X+x0, a.Y+y), n.YOffset(b.X+x0, b.Y+y)
	if string(m.Y[i:i+x1-x0]) != string(n.Y[j:j+x1-x0]) {
		return false
	}
	i, j = m.COffset(a.X+x0, a.Y+y), n.COffset(b.X+x0, b.Y+y)
	l := m.COffset(a.X+x1-1, a.Y+y) + 1 - i
	return string(m.Cb[i:i+l]) == string(n.Cb[j:j+l]) && string(m.Cr[i:i+l]) == string(n.Cr[j:j+l])
}

// DiffPixels is DiffTile on decoded pixels: a cell differs when one of its
// pixels differs by more than luma or chroma levels.
func (g Geometry) DiffPixels(p, q *Pixels, t, luma, chroma int) (d TileDiff) {
	x0, y0 := t%g.TilesX*TileSize, t/g.TilesX*TileSize
	r := image.Rect(x0, y0, min(x0+TileSize, g.Width), min(y0+TileSize, g.Height))
	if p.same(q, r) {
		return d
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			a0, a1, a2 := p.at(x, y)
			b0, b1, b2 := q.at(x, y)
			bit := uint16(1) << ((y-y0)/CellSize*4 + (x-x0)/CellSize)
			dy, dc := absDiff(a0, b0), max(absDiff(a1, b1), absDiff(a2, b2))
			if dy > luma {
				d.Luma |= bit
			}
			if dc > chroma {
				d.Chroma |= bit
			}
			if dy > luma || dc > chroma {
				d.Weight += min(max(dy, dc), 64)
			}
		}
	}
	d.Cells = d.Luma | d.Chroma
	return d
}

func absDiff(a, b uint8) int {
	if a < b {
		return int(b - a)
	}
	return int(a - b)
}

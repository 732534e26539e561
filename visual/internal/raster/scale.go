package raster

import (
	"image"
	"image/color"
)

// Plane is one 8-bit channel of a frame. Each sample spans SpanX x SpanY image
// pixels, except where the image ends inside it.
type Plane struct {
	Pix          []byte
	Stride       int
	SpanX, SpanY int
}

// Picture is a frame of Width x Height image pixels as Y, Cb, Cr or as R, G, B.
type Picture struct {
	Width, Height int
	RGB           bool
	Planes        [3]Plane
}

// weightBits is the precision of scaling weights; each axis sums to 1<<weightBits.
const weightBits = 12

// taps are the samples that make one output pixel along one axis.
type taps struct {
	first   int
	weights []uint32
}

// axis computes box-filter taps: output pixel i covers its exact share of the
// source interval [from, to), measured in image pixels; samples span `span`
// pixels and the image ends at limit.
func axis(from, to, span, limit, out int) []taps {
	length := to - from
	res := make([]taps, out)
	for i := range res {
		lo, hi := from*out+i*length, from*out+(i+1)*length // in 1/out pixels
		first := lo / (span * out)
		t := taps{first: first}
		for s := first; s*span*out < hi; s++ {
			a, b := max(lo, s*span*out), min(hi, min((s+1)*span, limit)*out)
			t.weights = append(t.weights, uint32(max(0, b-a)))
		}
		normalise(t.weights, uint32(length))
		res[i] = t
	}
	return res
}

// normalise scales weights that sum to total so that they sum to 1<<weightBits;
// the rounding error goes to the greatest weight.
func normalise(w []uint32, total uint32) {
	sum, top := uint32(0), 0
	for i := range w {
		w[i] = uint32(uint64(w[i]) << weightBits / uint64(total))
		sum += w[i]
		if w[i] > w[top] {
			top = i
		}
	}
	w[top] += 1<<weightBits - sum
}

// Draw scales the part src of p into the rectangle at of dst by area
// averaging. src must lie within the picture and at within dst; poll is asked
// every 64 rows whether to go on.
func (p *Picture) Draw(dst *image.RGBA, at, src image.Rectangle, poll func() error) error {
	w, h := at.Dx(), at.Dy()
	var xs, ys [3][]taps
	for i, pl := range p.Planes {
		xs[i] = axis(src.Min.X, src.Max.X, pl.SpanX, p.Width, w)
		ys[i] = axis(src.Min.Y, src.Max.Y, pl.SpanY, p.Height, h)
	}
	var lines [3][]byte
	var sums [3]rowCache
	for i := range lines {
		lines[i] = make([]byte, w)
		sums[i] = rowCache{plane: &p.Planes[i], xs: xs[i], acc: make([]uint32, w)}
	}
	for y := range h {
		if y%64 == 0 {
			if err := poll(); err != nil {
				return err
			}
		}
		for i := range lines {
			sums[i].output(ys[i][y], lines[i])
		}
		p.store(dst.Pix[dst.PixOffset(at.Min.X, at.Min.Y+y):], &lines)
	}
	return nil
}

func (p *Picture) store(out []byte, lines *[3][]byte) {
	for x := range lines[0] {
		r, g, b := lines[0][x], lines[1][x], lines[2][x]
		if !p.RGB {
			r, g, b = color.YCbCrToRGB(r, g, b)
		}
		o := out[4*x : 4*x+4 : 4*x+4]
		o[0], o[1], o[2], o[3] = r, g, b, 0xff
	}
}

// rowCache keeps the horizontally scaled source rows that neighbouring output
// rows share.
type rowCache struct {
	plane *Plane
	xs    []taps
	acc   []uint32
	rows  [2]struct {
		y    int
		vals []uint16
	}
}

func (c *rowCache) output(t taps, line []byte) {
	clear(c.acc)
	for i, w := range t.weights {
		if w == 0 {
			continue
		}
		for x, v := range c.row(t.first + i) {
			c.acc[x] += uint32(v) * w
		}
	}
	for x, v := range c.acc {
		// Rows carry 8 fraction bits, so the sum has 8+weightBits.
		line[x] = byte((v + 1<<(7+weightBits)) >> (8 + weightBits))
	}
}

// row returns source row y scaled horizontally, with 8 fraction bits.
func (c *rowCache) row(y int) []uint16 {
	r := &c.rows[y&1]
	if r.vals != nil && r.y == y {
		return r.vals
	}
	if r.vals == nil {
		r.vals = make([]uint16, len(c.xs))
	}
	r.y = y
	pix := c.plane.Pix[y*c.plane.Stride:]
	for x := range c.xs {
		t := &c.xs[x]
		sum := uint32(0)
		for i, w := range t.weights {
			sum += uint32(pix[t.first+i]) * w
		}
		r.vals[x] = uint16(sum >> (weightBits - 8))
	}
	return r.vals
}

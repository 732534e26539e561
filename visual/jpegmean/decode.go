package jpegmean

// halfWeights is the mean of the u-th cosine over the first half of a block,
// times sqrt(2) * 4096. It is zero for even u > 0.
var halfWeights = [8]int64{4096, 3711, 0, -1303, 0, 871, 0, -738}

// weight is how much a coefficient adds to each sum of its block; at most one
// is not zero. Adding all three is faster than finding out which.
type weight struct{ b, c, d int32 }

// Size returns the size of the image from its header, without allocating for
// it. It fails as Decode does for kinds this package does not read.
func Size(data []byte) (width, height int, err error) {
	d := decoder{data: data}
	if err := d.header(); err != nil {
		return 0, 0, err
	}
	return d.width, d.height, nil
}

// Decode reads the block means of a JPEG file.
func Decode(data []byte) (*Means, error) {
	var m Means
	if err := m.Decode(data); err != nil {
		return nil, err
	}
	return &m, nil
}

// Decode is the function Decode with the planes of m reused where they are
// large enough. After an error the contents of m are undefined.
func (m *Means) Decode(data []byte) error {
	d := decoder{data: data}
	if err := d.header(); err != nil {
		return err
	}
	m.reset(d.width, d.height)
	d.attach(m)
	return d.mcus()
}

// attach connects components to planes and precomputes their weights.
func (d *decoder) attach(m *Means) {
	planes := [3][]byte{m.Y, m.Cb, m.Cr}
	hmax, vmax := d.components[0].h, d.components[0].v
	for i := range d.components {
		c := &d.components[i]
		c.plane, c.stride, c.cellX, c.cellY = planes[i], m.YStride, 2, 2
		if i > 0 {
			c.stride, c.cellX, c.cellY = m.CStride, hmax/c.h, vmax/c.v
		}
		c.prepare(&d.quant[c.table])
	}
	if len(d.components) == 1 {
		for i := range m.Cb {
			m.Cb[i], m.Cr[i] = 128, 128
		}
	}
}

// prepare folds quantiser and half-block weights into one factor per
// coefficient. A block that spans a single cell in a direction needs no odd
// coefficients of that direction.
func (c *component) prepare(q *[64]uint16) {
	c.scale = 4096 * int64(q[0])
	for k := 1; k < 64; k++ {
		u, v := zigzag[k]&7, zigzag[k]>>3
		oddU, oddV := u&1 == 1 && c.cellX == 2, v&1 == 1 && c.cellY == 2
		w := int32(halfWeights[u]*halfWeights[v]>>12) * int32(q[k])
		switch {
		case oddU && v == 0:
			c.weights[k] = weight{b: w}
		case oddV && u == 0:
			c.weights[k] = weight{c: w}
		case oddU && oddV:
			c.weights[k] = weight{d: w}
		}
	}
}

// mcus decodes the scan.
func (d *decoder) mcus() error {
	c := d.components
	across, down := ceilDiv(d.width, 8*c[0].h), ceilDiv(d.height, 8*c[0].v)
	d.bits = bitReader{data: d.data, pos: d.pos}
	left := d.interval
	for my := range down {
		for mx := range across {
			if d.interval > 0 {
				if left == 0 {
					if !d.bits.restart() {
						return corrupt("missing restart marker")
					}
					for i := range c {
						c[i].pred = 0
					}
					left = d.interval
				}
				left--
			}
			for i := range c {
				if err := d.unit(&c[i], mx, my); err != nil {
					return err
				}
			}
		}
		if d.bits.overrun() {
			return corrupt("truncated scan")
		}
	}
	return nil
}

// unit decodes the blocks of one component in one MCU and stores their cells.
func (d *decoder) unit(c *component, mx, my int) error {
	for by := range c.v {
		for bx := range c.h {
			var s sums
			if err := d.block(c, &s); err != nil {
				return err
			}
			s.store(c, (mx*c.h+bx)*c.cellX, (my*c.v+by)*c.cellY)
		}
	}
	return nil
}

// sums of a block: its mean and the differences between its halves, scaled by
// 8 * 4096.
type sums struct{ mean, b, c, d int64 }

// store writes the cells of a block whose first cell is at x, y.
func (s *sums) store(c *component, x, y int) {
	a, b, v, d := s.mean, s.b, s.c, s.d
	put(c.plane, c.stride, x, y, a+b+v+d)
	if c.cellX == 2 {
		put(c.plane, c.stride, x+1, y, a-b+v-d)
	}
	if c.cellY == 2 {
		put(c.plane, c.stride, x, y+1, a+b-v-d)
		if c.cellX == 2 {
			put(c.plane, c.stride, x+1, y+1, a-b-v+d)
		}
	}
}

// block reads one block's coefficients, keeping only weighted sums.
func (d *decoder) block(c *component, s *sums) error {
	r := &d.bits
	if r.n < 32 {
		r.refill()
	}
	e := uint32(c.dc.lut[r.acc>>(64-lutBits)])
	if e == 0 {
		if e = c.dc.long(r.acc); e == 0 {
			return corrupt("Huffman code")
		}
	}
	length, size := e&31, e>>5&15
	if e>>9 != 0 {
		return corrupt("DC size")
	}
	if size > 0 {
		c.pred += extend(r.acc, length, size)
	}
	r.acc <<= length + size
	r.n -= uint(length + size)
	s.mean = int64(c.pred) * c.scale
	return d.coefficients(c, s)
}

// coefficients reads the AC coefficients of a block.
func (d *decoder) coefficients(c *component, s *sums) error {
	r := &d.bits
	acc, n := r.acc, r.n
	lut := &c.ac.lut
	var b, v, x int64
	for k := uint32(1); k < 64; k++ {
		if n < 32 {
			r.acc, r.n = acc, n
			r.refill()
			acc, n = r.acc, r.n
		}
		e := uint32(lut[acc>>(64-lutBits)])
		if e == 0 {
			if e = c.ac.long(acc); e == 0 {
				return corrupt("Huffman code")
			}
		}
		length, size := e&31, e>>5&15
		if size == 0 {
			acc <<= length
			n -= uint(length)
			if e>>9 != 15 {
				break
			}
			k += 15
			continue
		}
		if k += e >> 9; k > 63 {
			return corrupt("coefficient index")
		}
		val := int64(acc << length >> (64 - size&63))
		// A leading zero bit means a negative value.
		val -= (1<<size - 1) & (val>>(size-1) - 1)
		w := &c.weights[k]
		b += val * int64(w.b)
		v += val * int64(w.c)
		x += val * int64(w.d)
		acc <<= length + size
		n -= uint(length + size)
	}
	s.b, s.c, s.d = b, v, x
	r.acc, r.n = acc, n
	return nil
}

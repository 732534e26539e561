package grid

import "image"

// FromImage fills sig with the rounded means of img, which must have the
// geometry's size. Cells beyond the image stay zero.
func (g Geometry) FromImage(sig Signature, img image.Image) {
	clear(sig)
	switch m := img.(type) {
	case *image.YCbCr:
		g.fromYCbCr(sig, m)
	case *image.Gray:
		g.lumaPlane(sig, m.Pix[m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y):], m.Stride)
		g.neutralChroma(sig)
	default:
		g.fromRGB(sig, rgbRows(img))
	}
}

func (g Geometry) fromYCbCr(sig Signature, m *image.YCbCr) {
	r := m.Rect
	g.lumaPlane(sig, m.Y[m.YOffset(r.Min.X, r.Min.Y):], m.YStride)
	sx, sy := subsampling(m.SubsampleRatio)
	c := m.COffset(r.Min.X, r.Min.Y)
	g.chromaPlane(sig, 0, m.Cb[c:], m.CStride, sx, sy)
	g.chromaPlane(sig, 4, m.Cr[c:], m.CStride, sx, sy)
}

// subsampling returns how many image pixels one chroma sample spans.
func subsampling(r image.YCbCrSubsampleRatio) (sx, sy int) {
	switch r {
	case image.YCbCrSubsampleRatio422:
		return 2, 1
	case image.YCbCrSubsampleRatio420:
		return 2, 2
	case image.YCbCrSubsampleRatio440:
		return 1, 2
	case image.YCbCrSubsampleRatio411:
		return 4, 1
	case image.YCbCrSubsampleRatio410:
		return 4, 2
	default:
		return 1, 1
	}
}

func (g Geometry) lumaPlane(sig Signature, pix []byte, stride int) {
	for cy := range g.InsideY() {
		h := min(CellSize, g.Height-cy*CellSize)
		for cx := range g.InsideX() {
			w := min(CellSize, g.Width-cx*CellSize)
			at := cy*CellSize*stride + cx*CellSize
			sig[g.Luma(cx, cy)] = mean(pix[at:], stride, w, h)
		}
	}
}

func (g Geometry) chromaPlane(sig Signature, lane int, pix []byte, stride, sx, sy int) {
	planeW, planeH := (g.Width+sx-1)/sx, (g.Height+sy-1)/sy
	stepX, stepY := 8/sx, 8/sy
	for ky := 0; ky*8 < g.Height; ky++ {
		h := min(stepY, planeH-ky*stepY)
		for kx := 0; kx*8 < g.Width; kx++ {
			w := min(stepX, planeW-kx*stepX)
			at := ky*stepY*stride + kx*stepX
			sig[g.Chroma(kx, ky)+lane] = mean(pix[at:], stride, w, h)
		}
	}
}

func (g Geometry) neutralChroma(sig Signature) {
	for t := range g.Tiles() {
		for i := CellsPerTile; i < TileBytes; i++ {
			sig[t*TileBytes+i] = 128
		}
	}
}

func mean(pix []byte, stride, w, h int) byte {
	sum := 0
	for y := range h {
		for _, v := range pix[y*stride : y*stride+w] {
			sum += int(v)
		}
	}
	n := w * h
	return byte((sum + n/2) / n)
}

// Planes unpacks a signature into raster planes of the cells that touch the
// image: luma InsideX wide, chroma half that, rounded up.
func (g Geometry) Planes(sig Signature) (y, cb, cr []byte) {
	w, h := g.InsideX(), g.InsideY()
	kw, kh := (w+1)/2, (h+1)/2
	y, cb, cr = make([]byte, w*h), make([]byte, kw*kh), make([]byte, kw*kh)
	for cy := range h {
		for cx := range w {
			y[cy*w+cx] = sig[g.Luma(cx, cy)]
		}
	}
	for ky := range kh {
		for kx := range kw {
			at := g.Chroma(kx, ky)
			cb[ky*kw+kx], cr[ky*kw+kx] = sig[at], sig[at+4]
		}
	}
	return y, cb, cr
}

// FromMeans fills sig from raster planes of means that cover whole tiles.
// Cells beyond the image become zero.
func (g Geometry) FromMeans(sig Signature, y []byte, yStride int, cb, cr []byte, cStride int) {
	for ty := range g.TilesY {
		for tx := range g.TilesX {
			t := sig[(ty*g.TilesX+tx)*TileBytes:][:TileBytes]
			for r := range 4 {
				copy(t[4*r:4*r+4], y[(4*ty+r)*yStride+4*tx:])
			}
			for r := range 2 {
				at := (2*ty+r)*cStride + 2*tx
				copy(t[16+2*r:18+2*r], cb[at:])
				copy(t[20+2*r:22+2*r], cr[at:])
			}
		}
	}
	g.clearOutside(sig)
}

// clearOutside zeroes the cells that lie wholly beyond the image.
func (g Geometry) clearOutside(sig Signature) {
	for cy := range g.CellsY() {
		first := 0
		if cy < g.InsideY() {
			first = g.InsideX()
		}
		for cx := first; cx < g.CellsX(); cx++ {
			sig[g.Luma(cx, cy)] = 0
		}
	}
	for ky := range 2 * g.TilesY {
		for kx := range 2 * g.TilesX {
			if kx*8 >= g.Width || ky*8 >= g.Height {
				at := g.Chroma(kx, ky)
				sig[at], sig[at+4] = 0, 0
			}
		}
	}
}

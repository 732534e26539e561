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

package grid

import (
	"image"
	"image/color"
	"image/draw"
)

// rows yields 8-bit R, G, B triples of one image row, left to right.
type rows func(y int, dst []byte)

// rgbRows reads rows of img without a colour conversion per pixel where the
// layout is known. Transparency shows the colour over black.
func rgbRows(img image.Image) rows {
	b := img.Bounds()
	switch m := img.(type) {
	case *image.RGBA:
		return func(y int, dst []byte) { pack(dst, m.Pix[m.PixOffset(b.Min.X, b.Min.Y+y):]) }
	case *image.NRGBA:
		if m.Opaque() {
			return func(y int, dst []byte) { pack(dst, m.Pix[m.PixOffset(b.Min.X, b.Min.Y+y):]) }
		}
	}
	line := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	return func(y int, dst []byte) {
		draw.Draw(line, line.Rect, image.Black, image.Point{}, draw.Src)
		draw.Draw(line, line.Rect, img, image.Pt(b.Min.X, b.Min.Y+y), draw.Over)
		pack(dst, line.Pix)
	}
}

func pack(dst, rgba []byte) {
	for i, j := 0, 0; i+2 < len(dst); i, j = i+3, j+4 {
		dst[i], dst[i+1], dst[i+2] = rgba[j], rgba[j+1], rgba[j+2]
	}
}

// fromRGB averages RGB over each cell first and converts once per cell; the
// conversion is linear, so the result equals the mean of converted pixels up
// to rounding.
func (g Geometry) fromRGB(sig Signature, row rows) {
	cells := g.InsideX()
	line := make([]byte, 3*g.Width)
	for ky := 0; ky*8 < g.Height; ky++ {
		chroma := make([]int, 4*g.TilesX*2)
		for half := range 2 {
			cy := ky*2 + half
			if cy*CellSize >= g.Height {
				break
			}
			sums := make([]int, 4*cells)
			for y := cy * CellSize; y < min(g.Height, cy*CellSize+CellSize); y++ {
				row(y, line)
				addRow(sums, line)
			}
			for cx := range cells {
				s := sums[4*cx : 4*cx+4]
				yy, _, _ := toYCC(s)
				sig[g.Luma(cx, cy)] = yy
				addTo(chroma[4*(cx/2):4*(cx/2)+4], s)
			}
		}
		for kx := 0; kx*8 < g.Width; kx++ {
			_, cb, cr := toYCC(chroma[4*kx : 4*kx+4])
			at := g.Chroma(kx, ky)
			sig[at], sig[at+4] = cb, cr
		}
	}
}

// addRow adds one row's pixels to per-cell sums of R, G, B and count.
func addRow(sums []int, line []byte) {
	for x := 0; x*3 < len(line); x++ {
		s := sums[4*(x/CellSize):]
		s[0] += int(line[3*x])
		s[1] += int(line[3*x+1])
		s[2] += int(line[3*x+2])
		s[3]++
	}
}

func addTo(dst, src []int) {
	for i := range dst {
		dst[i] += src[i]
	}
}

func toYCC(s []int) (y, cb, cr byte) {
	n := s[3]
	r, gr, b := (s[0]+n/2)/n, (s[1]+n/2)/n, (s[2]+n/2)/n
	return color.RGBToYCbCr(uint8(r), uint8(gr), uint8(b))
}

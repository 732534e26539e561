package raster

import (
	"image"
	"image/draw"
)

// FromImage wraps a decoded frame without copying where the layout allows.
func FromImage(img image.Image) *Picture {
	b := img.Bounds()
	p := &Picture{Width: b.Dx(), Height: b.Dy()}
	switch m := img.(type) {
	case *image.YCbCr:
		return p.ycc(m)
	case *image.Gray:
		l := Plane{m.Pix[m.PixOffset(b.Min.X, b.Min.Y):], m.Stride, 1, 1}
		p.RGB, p.Planes = true, [3]Plane{l, l, l}
		return p
	}
	return p.rgb(img)
}

func (p *Picture) ycc(m *image.YCbCr) *Picture {
	b := m.Rect
	sx, sy := 1, 1
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		sx, sy = 2, 2
	case image.YCbCrSubsampleRatio422:
		sx = 2
	case image.YCbCrSubsampleRatio440:
		sy = 2
	case image.YCbCrSubsampleRatio411:
		sx = 4
	case image.YCbCrSubsampleRatio410:
		sx, sy = 4, 2
	}
	c := m.COffset(b.Min.X, b.Min.Y)
	p.Planes = [3]Plane{
		{m.Y[m.YOffset(b.Min.X, b.Min.Y):], m.YStride, 1, 1},
		{m.Cb[c:], m.CStride, sx, sy},
		{m.Cr[c:], m.CStride, sx, sy},
	}
	return p
}

func (p *Picture) rgb(img image.Image) *Picture {
	b := img.Bounds()
	n := b.Dx() * b.Dy()
	pix := make([]byte, 3*n)
	line := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	for y := range b.Dy() {
		draw.Draw(line, line.Rect, image.Black, image.Point{}, draw.Src)
		draw.Draw(line, line.Rect, img, image.Pt(b.Min.X, b.Min.Y+y), draw.Over)
		for x := range b.Dx() {
			i := y*b.Dx() + x
			pix[i], pix[n+i], pix[2*n+i] = line.Pix[4*x], line.Pix[4*x+1], line.Pix[4*x+2]
		}
	}
	p.RGB = true
	for i := range p.Planes {
		p.Planes[i] = Plane{pix[i*n : (i+1)*n], b.Dx(), 1, 1}
	}
	return p
}

package visualtest

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// pen writes text. Faces keep a drawing buffer, so one pen belongs to one goroutine.
type pen struct{ regular, bold font.Face }

// newPen makes a pen of 13 px at scale 1.
func newPen(scale int) (pen, error) {
	regular, err := newFace(goregular.TTF, scale)
	if err != nil {
		return pen{}, err
	}
	bold, err := newFace(gobold.TTF, scale)
	return pen{regular: regular, bold: bold}, err
}

func newFace(ttf []byte, scale int) (font.Face, error) {
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("visualtest: parse font: %w", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: float64(13 * scale), DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, fmt.Errorf("visualtest: make font face: %w", err)
	}
	return face, nil
}

// write draws s with its left end at x, clipped to clip.
func write(dst *image.RGBA, clip image.Rectangle, face font.Face, x, baseline int, s string, c color.RGBA) {
	d := font.Drawer{Dst: part(dst, clip), Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, baseline)}
	d.DrawString(s)
}

// part returns the pixels of img inside r, shared with it.
func part(img *image.RGBA, r image.Rectangle) *image.RGBA {
	r = r.Intersect(img.Rect)
	if r.Empty() {
		return &image.RGBA{}
	}
	return &image.RGBA{Pix: img.Pix[img.PixOffset(r.Min.X, r.Min.Y):], Stride: img.Stride, Rect: r}
}

func textWidth(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }

func fill(dst *image.RGBA, r image.Rectangle, c color.RGBA) {
	draw.Draw(dst, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// frameRect fills r and draws a border of width w inside it.
func frameRect(dst *image.RGBA, r image.Rectangle, w int, border, inside color.RGBA) {
	fill(dst, r, border)
	fill(dst, r.Inset(w), inside)
}

// disc draws a filled circle with 4x4 samples a pixel, over what is there. The centre is in quarter pixels.
func disc(dst *image.RGBA, cx4, cy4, r4 int, c color.RGBA) {
	box := image.Rect((cx4-r4)/4-1, (cy4-r4)/4-1, (cx4+r4)/4+2, (cy4+r4)/4+2).Intersect(dst.Bounds())
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if n := covered(x*4-cx4, y*4-cy4, r4); n > 0 {
				blend(dst, x, y, c, n*16)
			}
		}
	}
}

// covered counts the samples of the pixel whose corner lies at dx, dy from the centre, in quarter pixels.
func covered(dx, dy, r4 int) int {
	n := 0
	for sy := range 4 {
		for sx := range 4 {
			// Doubled, so that sample points sit in the middle of their quarter.
			x, y := 2*(dx+sx)+1, 2*(dy+sy)+1
			if x*x+y*y <= 4*r4*r4 {
				n++
			}
		}
	}
	return n
}

// blend lays c over the pixel with weight 0..256; alpha grows too, so sprites may start transparent.
func blend(dst *image.RGBA, x, y int, c color.RGBA, weight int) {
	p := dst.Pix[dst.PixOffset(x, y):][:4]
	for i, v := range [4]uint8{c.R, c.G, c.B, 255} {
		p[i] = uint8((int(v)*weight + int(p[i])*(256-weight) + 128) >> 8)
	}
}

// mix returns a moved by n/d towards b.
func mix(a, b color.RGBA, n, d int) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(int(x) + (int(y)-int(x))*n/d) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 255}
}

// turn returns the direction after the given number of 10 degree steps clockwise from the top, times 1024.
func turn(step int) (x, y int) {
	sin, cos := math.Sincos(float64(step%36) * math.Pi / 18)
	return int(math.Round(sin * 1024)), -int(math.Round(cos * 1024))
}

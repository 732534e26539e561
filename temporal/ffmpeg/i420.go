package ffmpeg

import "image"

// planes holds one picture as ffmpeg gets it: BT.709 in limited range, chroma of the mean of 2 x 2 pixels. Doing this
// here leaves no choice of matrix or range to a version of ffmpeg.
type planes struct {
	width, height int // even
	data          []byte
}

// newPlanes returns planes for a picture of the given size. An odd side is made even by repeating the last line.
func newPlanes(width, height int) *planes {
	p := &planes{width: even(width), height: even(height)}
	p.data = make([]byte, p.width*p.height*3/2)
	return p
}

func even(n int) int { return n + n%2 }

// The weights are those of BT.709 times 219/255 (luma) or 224/255 (chroma) times 65,536; each chroma row sums to zero.
func (p *planes) convert(img *image.RGBA) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := 0; y < p.height; y += 2 {
		upper, lower := img.Pix[y*img.Stride:][:4*w], img.Pix[min(y+1, h-1)*img.Stride:][:4*w]
		p.convertLuma(p.data[y*p.width:][:p.width], upper)
		p.convertLuma(p.data[(y+1)*p.width:][:p.width], lower)
		p.convertChroma(y/2, upper, lower)
	}
}

func (p *planes) convertLuma(out, row []byte) {
	n := len(row) / 4
	for x := range n {
		c := row[4*x : 4*x+3 : 4*x+3]
		out[x] = byte((11966*int32(c[0]) + 40254*int32(c[1]) + 4064*int32(c[2]) + 16<<16 + 1<<15) >> 16)
	}
	if n < p.width {
		out[n] = out[n-1]
	}
}

func (p *planes) convertChroma(y int, upper, lower []byte) {
	half := p.width / 2
	cb := p.data[p.width*p.height+y*half:][:half]
	cr := p.data[p.width*p.height+p.width*p.height/4+y*half:][:half]
	for x := range half {
		a, b := 8*x, min(8*x+4, len(upper)-4)
		r := int32(upper[a]) + int32(upper[b]) + int32(lower[a]) + int32(lower[b])
		g := int32(upper[a+1]) + int32(upper[b+1]) + int32(lower[a+1]) + int32(lower[b+1])
		bl := int32(upper[a+2]) + int32(upper[b+2]) + int32(lower[a+2]) + int32(lower[b+2])
		cb[x] = byte((-6596*r - 22189*g + 28785*bl + 128<<18 + 1<<17) >> 18)
		cr[x] = byte((28784*r - 26145*g - 2639*bl + 128<<18 + 1<<17) >> 18)
	}
}

package visualtest

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
)

// lens disturbs and encodes pictures. What it does to frame i depends on i and the spec only.
type lens struct {
	spec    Spec
	noise   []int8
	scratch *image.RGBA
}

func newLens(spec Spec) *lens {
	l := &lens{spec: spec}
	if spec.Kind == NoiseControl {
		l.noise = bell(spec.random("bell"))
	}
	return l
}

// clear reports whether equal pictures give equal bytes.
func (l *lens) clear() bool {
	return l.spec.Kind != NoiseControl && l.spec.Kind != QualityControl && l.spec.Kind != ResampleControl
}

// shoot returns the JPEG of frame i, which is drawn as img. It leaves img alone.
func (l *lens) shoot(img *image.RGBA, i int) ([]byte, error) {
	if l.clear() {
		return encode(img, 80)
	}
	r := rand.New(rand.NewPCG(l.spec.random("lens").Uint64(), uint64(i)))
	if l.spec.Kind == QualityControl {
		return encode(img, 72+r.IntN(17))
	}
	if l.scratch == nil {
		l.scratch = image.NewRGBA(img.Bounds())
	}
	if l.spec.Kind == NoiseControl {
		l.grain(img, r)
	} else {
		l.resample(img, r.IntN(17)-8, r.IntN(17)-8)
	}
	return encode(l.scratch, 80)
}

// bell returns 65,536 normally distributed numbers with sigma 2, as the sum of twelve uniform ones, in integers.
func bell(r *rand.Rand) []int8 {
	out := make([]int8, 1<<16)
	for i := range out {
		sum := 0
		for range 12 {
			sum += r.IntN(1 << 12)
		}
		// The sum has mean 6 x 4095 and sigma 4096.
		out[i] = int8((sum-6*4095+1<<10+64<<11)>>11 - 64)
	}
	return out
}

// grain adds noise to each channel.
func (l *lens) grain(img *image.RGBA, r *rand.Rand) {
	for y := 0; y < img.Rect.Dy(); y++ {
		in := img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
		out := l.scratch.Pix[y*l.scratch.Stride:][:len(in)]
		for x := 0; x < len(in); x += 4 {
			u := r.Uint64()
			out[x] = add(in[x], int(l.noise[uint16(u)]))
			out[x+1] = add(in[x+1], int(l.noise[uint16(u>>16)]))
			out[x+2] = add(in[x+2], int(l.noise[uint16(u>>32)]))
			out[x+3] = 255
		}
	}
}

// resample moves the picture by dx, dy sixty-fourths of a pixel with bilinear weights; edges repeat.
func (l *lens) resample(img *image.RGBA, dx, dy int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	ax, ay := max(dx, -dx), max(dy, -dy)
	sx, sy := sign(dx), sign(dy)
	for y := range h {
		rowA := img.Pix[y*img.Stride:]
		rowB := img.Pix[min(h-1, max(0, y+sy))*img.Stride:]
		out := l.scratch.Pix[y*l.scratch.Stride:]
		for x := range w {
			a, b := 4*x, 4*min(w-1, max(0, x+sx))
			for c := range 4 {
				top := int(rowA[a+c])*(64-ax) + int(rowA[b+c])*ax
				bottom := int(rowB[a+c])*(64-ax) + int(rowB[b+c])*ax
				out[a+c] = uint8((top*(64-ay) + bottom*ay + 2048) >> 12)
			}
		}
	}
}

func sign(v int) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// encode writes a baseline JPEG with 4:2:0 chroma.
func encode(img *image.RGBA, quality int) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

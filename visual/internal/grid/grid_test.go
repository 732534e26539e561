package grid

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

var usual = Thresholds{Luma: 10, Chroma: 8, LumaHard: 24, ChromaHard: 16, LumaCells: 3, ChromaCells: 2}

func drawTile(t *rapid.T, name string) Signature {
	return rapid.SliceOfN(rapid.Byte(), TileBytes, TileBytes).Draw(t, name)
}

// nearTile differs from a in few cells by little, where the rules decide.
func nearTile(t *rapid.T, a Signature) Signature {
	b := bytes.Clone(a)
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		i := rapid.IntRange(0, TileBytes-1).Draw(t, "cell")
		b[i] = byte(max(0, min(255, int(a[i])+rapid.IntRange(-40, 40).Draw(t, "by"))))
	}
	return b
}

// scalarDiff states the rule cell by cell.
func scalarDiff(a, b Signature, th *Thresholds) (cells uint16, weight int) {
	var luma uint16
	quads, chroma, soft, hard := [4]bool{}, 0, 0, false
	lo, hi := 255, 0
	for i := range CellsPerTile {
		lo, hi = min(lo, int(a[i]), int(b[i])), max(hi, int(a[i]), int(b[i]))
	}
	for i := range TileBytes {
		d := absDiff(a[i], b[i])
		weight += min(d, 64)
		if i < CellsPerTile {
			if d > int(th.Luma) {
				luma |= 1 << i
			}
			if d > max(int(th.Luma), (hi-lo)/resampleShare) {
				soft++
			}
			hard = hard || d > int(th.LumaHard)
			continue
		}
		if d > int(th.Chroma) {
			chroma++
			quads[(i-CellsPerTile)%4] = true
		}
		hard = hard || d > int(th.ChromaHard)
	}
	if !hard && chroma < th.ChromaCells && soft < th.LumaCells || luma == 0 && chroma == 0 {
		return 0, 0
	}
	cells = luma
	for k, on := range quads {
		quad := uint16(0x33) << (k / 2 * 8) << (k % 2 * 2)
		if on && luma&quad == 0 {
			cells |= quad
		}
	}
	return cells, weight
}

func TestDiffTileEqualsScalar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTile(t, "a")
		b := nearTile(t, a)
		if rapid.Bool().Draw(t, "far") {
			b = drawTile(t, "b")
		}
		cells, weight := scalarDiff(a, b, &usual)
		d := DiffTile(a, b, 0, &usual)
		if d.Cells != cells || d.Weight != weight {
			t.Fatalf("got cells %016b weight %d, want %016b %d", d.Cells, d.Weight, cells, weight)
		}
		if d != DiffTile(b, a, 0, &usual) {
			t.Fatal("not symmetric")
		}
	})
}

func TestDistanceEqualsScalar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTile(t, "a"), drawTile(t, "b")
		want := 0
		for i := range TileBytes {
			limit := 16
			if i >= CellsPerTile {
				limit = 8
			}
			if absDiff(a[i], b[i]) > limit {
				want++
			}
		}
		if got := Distance(a, b, []int32{0}, 16); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func TestResampledEdgeIsNoChange(t *testing.T) {
	a := Signature{255, 255, 255, 255, 255, 255, 255, 255, 150, 153, 157, 165, 67, 67, 78, 90, 128, 128, 121, 121, 128, 127, 127, 140}
	b := Signature{255, 255, 255, 255, 255, 255, 255, 255, 162, 165, 169, 175, 66, 65, 78, 90, 128, 128, 121, 121, 128, 127, 127, 140}
	if d := DiffTile(a, b, 0, &usual); d.Cells != 0 {
		t.Fatalf("a shifted edge counts as %d changed cells", bits.OnesCount16(d.Cells))
	}
}

// TestMeansOfEveryKind: one picture in each pixel layout has the same means up
// to the rounding of colour conversion.
func TestMeansOfEveryKind(t *testing.T) {
	src := image.NewRGBA(image.Rect(0, 0, 37, 29))
	for y := range 29 {
		for x := range 37 {
			src.SetRGBA(x, y, color.RGBA{uint8(6 * x), uint8(8 * y), uint8(3 * (x + y)), 255})
		}
	}
	ycc := image.NewYCbCr(src.Rect, image.YCbCrSubsampleRatio444)
	nrgba, paletted := image.NewNRGBA(src.Rect), image.NewRGBA64(src.Rect)
	draw.Draw(nrgba, src.Rect, src, image.Point{}, draw.Src)
	draw.Draw(paletted, src.Rect, src, image.Point{}, draw.Src)
	for y := range 29 {
		for x := range 37 {
			r := src.RGBAAt(x, y)
			i := ycc.YOffset(x, y)
			ycc.Y[i], ycc.Cb[i], ycc.Cr[i] = color.RGBToYCbCr(r.R, r.G, r.B)
		}
	}
	g := For(37, 29)
	want := make(Signature, g.Bytes())
	g.FromImage(want, src)
	for _, img := range []image.Image{ycc, nrgba, paletted} {
		got := make(Signature, g.Bytes())
		g.FromImage(got, img)
		for i := range got {
			if absDiff(got[i], want[i]) > 1 {
				t.Fatalf("%T: mean %d is %d, want %d", img, i, got[i], want[i])
			}
		}
	}
	y, cb, cr := g.Planes(want)
	if len(y) != 10*8 || len(cb) != 5*4 || y[11] != want[g.Luma(1, 1)] || cb[6] != want[g.Chroma(1, 1)] || cr[6] != want[g.Chroma(1, 1)+4] {
		t.Fatal("planes do not match the signature")
	}
}

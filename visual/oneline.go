package visual

import (
	"context"
	"image"
	"io"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

// WriteStoryboard analyzes seq, writes its storyboard as PNG and returns the
// storyboard's manifest. Nil options mean the defaults.
func WriteStoryboard(ctx context.Context, w io.Writer, seq Sequence, o *Options) (*Manifest, error) {
	return write(ctx, w, seq, o, func(a *Analysis) (*Artifact, error) { return a.Storyboard(ctx, StoryboardOptions{}) })
}

// WriteDifferenceMap is WriteStoryboard for a difference map.
func WriteDifferenceMap(ctx context.Context, w io.Writer, seq Sequence, o *Options) (*Manifest, error) {
	return write(ctx, w, seq, o, func(a *Analysis) (*Artifact, error) { return a.DifferenceMap(ctx, MapOptions{}) })
}

func write(ctx context.Context, w io.Writer, seq Sequence, o *Options, make func(*Analysis) (*Artifact, error)) (*Manifest, error) {
	if o == nil {
		o = &Options{}
	}
	a, err := Analyze(ctx, seq, *o)
	if err != nil {
		return nil, err
	}
	art, err := make(a)
	if err != nil {
		return nil, err
	}
	m := art.Manifest
	m.Output, err = art.Encode(w)
	return &m, err
}

// Diff compares two images of equal size, for callers that need no sequence.
// The ids and times of the result are empty. It returns ErrMixedGeometry when
// the sizes differ and ErrNoFrames for an empty image.
func Diff(a, b image.Image, n Noise) (Change, error) {
	o, err := Options{Noise: n}.resolve()
	if err != nil {
		return Change{}, err
	}
	size := a.Bounds().Size()
	if size != b.Bounds().Size() {
		return Change{}, ErrMixedGeometry
	}
	if size.X <= 0 || size.Y <= 0 {
		return Change{}, ErrNoFrames
	}
	e := epochData{geo: grid.For(size.X, size.Y), clip: image.Rectangle{Max: size}}
	var c Change
	c.Compared = e.geo.InsideX() * e.geo.InsideY()
	each := tileDiffer(&e.geo, a, b, o.Noise)
	for t := range e.geo.Tiles() {
		if d := each(t); d.Cells != 0 {
			c.add(&e, t, &d)
		}
	}
	c.Bounds = c.Bounds.Intersect(e.clip)
	c.BaselineCells = c.Cells
	return c, nil
}

func tileDiffer(g *grid.Geometry, a, b image.Image, n Noise) func(t int) grid.TileDiff {
	if n.Exact {
		p, q := grid.NewPixels(a), grid.NewPixels(b)
		return func(t int) grid.TileDiff { return g.DiffPixels(p, q, t, n.Luma, n.Chroma) }
	}
	p, q := make(grid.Signature, g.Bytes()), make(grid.Signature, g.Bytes())
	g.FromImage(p, a)
	g.FromImage(q, b)
	th := thresholds(n)
	return func(t int) grid.TileDiff { return grid.DiffTile(p, q, t, &th) }
}

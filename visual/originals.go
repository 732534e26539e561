package visual

import (
	"context"
	"fmt"
	"image"
	"sync"

	"github.com/krometrail/krometrail/visual/internal/raster"
)

// fromMeans wraps the block means of frame i as a quarter-size picture.
func (a *Analysis) fromMeans(i int) *raster.Picture {
	f := &a.frames[i]
	g := a.epochs[f.epoch].geo
	y, cb, cr := g.Planes(f.sig)
	w := g.InsideX()
	return &raster.Picture{
		Width: g.Width, Height: g.Height,
		Planes: [3]raster.Plane{{Pix: y, Stride: w, SpanX: 4, SpanY: 4}, {Pix: cb, Stride: (w + 1) / 2, SpanX: 8, SpanY: 8}, {Pix: cr, Stride: (w + 1) / 2, SpanX: 8, SpanY: 8}},
	}
}


// original opens and decodes frame i and checks that it is still the frame
// that was analyzed.
func (a *Analysis) original(ctx context.Context, i int) (image.Image, error) {
	info := &a.frames[i]
	fail := func(err error) error { return &FrameError{i, info.ID, err} }
	f, err := a.seq.Source.Open(ctx, i)
	if err != nil {
		return nil, fail(err)
	}
	if f.Data == nil && f.Image == nil {
		return nil, fail(invalid("exactly one of Data and Image must be set"))
	}
	if contentHash(&f) != info.hash {
		return nil, fail(ErrFrameChanged)
	}
	img, err := decodeFull(&f)
	if err != nil {
		return nil, fail(err)
	}
	return img, nil
}

// piece is one frame, or part of one, to be drawn somewhere.
type piece struct {
	frame int
	at    image.Rectangle // in the picture
	src   image.Rectangle // image pixels, within the frame
}

// drawPieces draws all pieces, decoding at most Workers frames at a time.
// Pieces do not overlap, so the order of completion does not matter.
func (a *Analysis) drawPieces(ctx context.Context, dst *image.RGBA, pieces []piece) error {
	groups := groupByFrame(pieces)
	errs := make([]error, len(groups))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(a.opts.Workers, max(1, len(groups))) {
		wg.Go(func() {
			for g := range next {
				errs[g] = a.drawGroup(ctx, dst, groups[g])
			}
		})
	}
	for g := range groups {
		next <- g
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// groupByFrame keeps the pieces of one frame together so that it is decoded once.
func groupByFrame(pieces []piece) [][]piece {
	var groups [][]piece
	at := make(map[int]int)
	for _, p := range pieces {
		g, ok := at[p.frame]
		if !ok {
			g = len(groups)
			at[p.frame] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], p)
	}
	return groups
}

func (a *Analysis) drawGroup(ctx context.Context, dst *image.RGBA, group []piece) error {
	var means, full *raster.Picture
	for _, p := range group {
		if err := ctx.Err(); err != nil {
			return err
		}
		pic := &full
		// Both directions must be reduced at least fourfold.
		fine := p.at.Dx()*4 > p.src.Dx() || p.at.Dy()*4 > p.src.Dy()
		if f := &a.frames[p.frame]; !fine && f.sig != nil && a.epochs[f.epoch].include == nil {
			pic = &means
		}
		if *pic == nil {
			got, err := a.picture(ctx, p.frame, pic == &means)
			if err != nil {
				return err
			}
			*pic = got
		}
		if err := (*pic).Draw(dst, p.at, p.src, ctx.Err); err != nil {
			return err
		}
	}
	return nil
}

func (a *Analysis) picture(ctx context.Context, i int, means bool) (*raster.Picture, error) {
	if means {
		return a.fromMeans(i), nil
	}
	img, err := a.original(ctx, i)
	if err != nil {
		return nil, err
	}
	if img.Bounds().Size() != a.epochs[a.frames[i].epoch].Size {
		return nil, fmt.Errorf("%w: size", ErrFrameChanged)
	}
	return raster.FromImage(img), nil
}

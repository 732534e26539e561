package visual_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/visual"
)

func TestBadInput(t *testing.T) {
	p := page(64, 48, false)
	two := func(a, b visual.Frame) visual.Sequence {
		return visual.Sequence{Source: visual.Slice([]visual.Frame{a, b})}
	}
	ok := two(imageFrame(0, p), imageFrame(1, p))
	with := func(change func(s *visual.Sequence)) visual.Sequence {
		s := ok
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		s    visual.Sequence
		o    visual.Options
		want error
	}{
		"no source":           {want: visual.ErrNoFrames},
		"no frames":           {s: visual.Sequence{Source: visual.Slice(nil)}, want: visual.ErrNoFrames},
		"only a carry-in":     {s: visual.Sequence{Source: visual.Slice([]visual.Frame{imageFrame(0, p)}), CarryIn: true}, want: visual.ErrNoFrames},
		"duplicate ids":       {s: two(imageFrame(0, p), imageFrame(0, p)), want: visual.ErrDuplicateID},
		"times decrease":      {s: two(imageFrame(1, p), imageFrame(0, p)), want: visual.ErrUnordered},
		"range reversed":      {s: with(func(s *visual.Sequence) { s.Range = visual.Range{Start: 2, End: 1} }), want: visual.ErrUnordered},
		"frame outside range": {s: with(func(s *visual.Sequence) { s.Range = visual.Range{Start: 1, End: 1} }), want: visual.ErrUnordered},
		"gap reversed":        {s: with(func(s *visual.Sequence) { s.Gaps = []visual.Gap{{Start: 2, End: 1}} }), want: visual.ErrUnordered},
		"observer reversed":   {s: with(func(s *visual.Sequence) { s.Observers = []visual.Observer{{Start: 2, End: 1}} }), want: visual.ErrUnordered},
		"region outside":      {s: with(func(s *visual.Sequence) { s.Region = &visual.Region{Rect: image.Rect(64, 0, 80, 10)} }), want: visual.ErrRegionOutside},
		"region empty":        {s: with(func(s *visual.Sequence) { s.Region = &visual.Region{} }), want: visual.ErrRegionOutside},
		"region space":        {s: with(func(s *visual.Sequence) { s.Region = &visual.Region{Rect: p.Rect, Space: "miles"} }), want: visual.ErrInvalidOption},
		"mask size":           {s: with(func(s *visual.Sequence) { s.Mask = visual.NewMask(image.NewGray(image.Rect(0, 0, 10, 10))) }), want: visual.ErrMaskSize},
		"mask empty":          {s: with(func(s *visual.Sequence) { s.Mask = visual.NewMask(image.NewGray(p.Rect)) }), want: visual.ErrMaskEmpty},
		"no image bytes":      {s: two(imageFrame(0, p), imageFrame(1, nil)), want: visual.ErrInvalidOption},
		"not an image":        {s: two(imageFrame(0, p), textFrame(1)), want: visual.ErrUnsupportedImage},
		"sampling":            {s: ok, o: visual.Options{Sampling: "some"}, want: visual.ErrInvalidOption},
		"noise":               {s: ok, o: visual.Options{Noise: visual.Noise{Luma: 200}}, want: visual.ErrInvalidOption},
		"max frames":          {s: ok, o: visual.Options{MaxFrames: 1}, want: visual.ErrInvalidOption},
		"workers":             {s: ok, o: visual.Options{Workers: -1}, want: visual.ErrInvalidOption},
		"canvas":              {s: ok, o: visual.Options{MaxEdge: 100}, want: visual.ErrInvalidOption},
	} {
		_, err := visual.Analyze(context.Background(), c.s, c.o)
		require.ErrorIs(t, err, c.want, name)
	}
}

func textFrame(n int) visual.Frame {
	f := imageFrame(n, nil)
	f.Data, f.Image = []byte("hello"), nil
	return f
}

func TestDamagedFrameIsNamed(t *testing.T) {
	frames := []visual.Frame{jpegFrame(t, 0, page(64, 48, false)), jpegFrame(t, 1, page(64, 48, true))}
	frames[1].Data = frames[1].Data[:len(frames[1].Data)/2]
	_, err := visual.Analyze(context.Background(), visual.Sequence{Source: visual.Slice(frames)}, visual.Options{})
	var fe *visual.FrameError
	require.ErrorAs(t, err, &fe)
	require.Equal(t, visual.FrameID("f-1"), fe.ID)
	require.ErrorIs(t, err, visual.ErrCorruptImage)
}

// TestGiantHeader: a header that promises 60000x60000 pixels must fail before
// anything of that size is allocated.
func TestGiantHeader(t *testing.T) {
	f := jpegFrame(t, 0, page(64, 48, false))
	at := bytes.Index(f.Data, []byte{0xff, 0xc0})
	copy(f.Data[at+5:], []byte{0xea, 0x60, 0xea, 0x60})
	_, err := visual.Analyze(context.Background(), visual.Sequence{Source: visual.Slice([]visual.Frame{f})}, visual.Options{})
	var le *visual.LimitError
	require.ErrorAs(t, err, &le)
	require.Equal(t, "frame_pixels", le.Subject)
	require.EqualValues(t, 60000*60000, le.Value)

	_, err = visual.Analyze(context.Background(), visual.Sequence{Source: visual.Slice([]visual.Frame{f})}, visual.Options{MaxFrameBytes: 100})
	require.ErrorAs(t, err, &le)
	require.Equal(t, "frame_bytes", le.Subject)
}

// TestSourcesAreNotMixed: one PNG among JPEGs makes every frame decode fully.
func TestSourcesAreNotMixed(t *testing.T) {
	p := page(64, 48, false)
	a := analyze(t, visual.Sequence{Source: visual.Slice([]visual.Frame{jpegFrame(t, 0, p), jpegFrame(t, 1, p)})}, visual.Options{})
	require.Equal(t, visual.DCTBlockMeans, a.Source())
	a = analyze(t, visual.Sequence{Source: visual.Slice([]visual.Frame{jpegFrame(t, 0, p), pngFrame(t, 1, p)})}, visual.Options{})
	require.Equal(t, visual.DecodedBlockMeans, a.Source())
	require.Equal(t, 2, a.Sampling().Analyzed)
	a = analyze(t, visual.Sequence{Source: visual.Slice([]visual.Frame{pngFrame(t, 0, p), jpegFrame(t, 1, p)})}, visual.Options{Noise: visual.Noise{Exact: true}})
	require.Equal(t, visual.DecodedPixels, a.Source())
}

func TestContentMustNotChange(t *testing.T) {
	p, q := page(64, 48, false), page(64, 48, true)
	changed := false
	metas := []visual.FrameMeta{{ID: "a"}, {ID: "b", Time: step}}
	src := visual.Lazy(metas, func(_ context.Context, i int) (visual.Frame, error) {
		if changed {
			return visual.Frame{FrameMeta: metas[i], Image: q}, nil
		}
		return visual.Frame{FrameMeta: metas[i], Image: p}, nil
	})
	a := analyze(t, visual.Sequence{Source: src}, visual.Options{})
	changed = true
	_, err := a.Storyboard(context.Background(), visual.StoryboardOptions{})
	require.ErrorIs(t, err, visual.ErrFrameChanged)
}

func TestOpenFails(t *testing.T) {
	boom := errors.New("disk on fire")
	src := visual.Lazy([]visual.FrameMeta{{ID: "a"}}, func(context.Context, int) (visual.Frame, error) { return visual.Frame{}, boom })
	_, err := visual.Analyze(context.Background(), visual.Sequence{Source: src}, visual.Options{})
	require.ErrorIs(t, err, boom)
	var fe *visual.FrameError
	require.ErrorAs(t, err, &fe)
}

// TestExactSeesSinglePixels: means hide one pixel that changes a little.
func TestExactSeesSinglePixels(t *testing.T) {
	p, q := page(64, 48, false), page(64, 48, false)
	q.SetRGBA(33, 21, color.RGBA{240, 240, 240, 255})
	p.SetRGBA(33, 21, color.RGBA{250, 250, 250, 255})
	s := visual.Sequence{Source: visual.Slice([]visual.Frame{imageFrame(0, p), imageFrame(1, q)})}
	require.Zero(t, analyze(t, s, visual.Options{}).Changes()[0].Cells)
	exact := analyze(t, s, visual.Options{Noise: visual.Noise{Exact: true}}).Changes()[0]
	require.Equal(t, 1, exact.Cells)
	require.Equal(t, image.Rect(32, 20, 36, 24), exact.Bounds)
	require.Zero(t, analyze(t, s, visual.Options{Noise: visual.Noise{Exact: true, Luma: 15, Chroma: 15}}).Changes()[0].Cells)
	d, err := visual.Diff(p, q, visual.Noise{Exact: true})
	require.NoError(t, err)
	require.Equal(t, 1, d.Cells)
}

func TestDiff(t *testing.T) {
	// Too low for a line of text: a plain page.
	p, q := page(100, 17, false), page(100, 17, false, image.Rect(40, 4, 60, 12))
	d, err := visual.Diff(p, q, visual.Noise{})
	require.NoError(t, err)
	require.Equal(t, 10, d.Cells)
	require.Equal(t, 25*5, d.Compared)
	require.Equal(t, image.Rect(40, 4, 60, 12), d.Bounds)
	_, err = visual.Diff(p, page(99, 17, false), visual.Noise{})
	require.ErrorIs(t, err, visual.ErrMixedGeometry)
}

func TestRegionLimitsAnalysis(t *testing.T) {
	p, q := page(100, 60, false), page(100, 60, false, image.Rect(40, 20, 60, 40), image.Rect(80, 8, 92, 20))
	s := visual.Sequence{Source: visual.Slice([]visual.Frame{imageFrame(0, p), imageFrame(1, q)}), Region: &visual.Region{Rect: image.Rect(70, -20, 400, 30)}}
	c := analyze(t, s, visual.Options{}).Changes()[0]
	require.Equal(t, 9, c.Cells)
	require.Equal(t, image.Rect(80, 8, 92, 20), c.Bounds)
	require.Equal(t, 8*8, c.Compared) // columns 68..100, rows 0..32 of 4x4 cells
	s.Region = &visual.Region{Rect: image.Rect(35, -10, 200, 15), Space: visual.Viewport, Num: 2, Den: 1}
	require.Equal(t, c.Cells, analyze(t, s, visual.Options{}).Changes()[0].Cells)
}

func TestMaskLimitsAnalysis(t *testing.T) {
	p, q := page(100, 60, false), page(100, 60, false, image.Rect(40, 20, 60, 40))
	gray := image.NewGray(p.Rect)
	for y := 20; y < 24; y++ {
		for x := 40; x < 60; x++ {
			gray.SetGray(x, y, color.Gray{1})
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, gray))
	mask, err := visual.DecodeMask(b.Bytes())
	require.NoError(t, err)
	s := visual.Sequence{Source: visual.Slice([]visual.Frame{imageFrame(0, p), imageFrame(1, q)}), Mask: mask}
	a := analyze(t, s, visual.Options{})
	require.Equal(t, 5, a.Changes()[0].Cells)
	require.Equal(t, 5, a.Changes()[0].Compared)
	art, err := a.Storyboard(context.Background(), visual.StoryboardOptions{})
	require.NoError(t, err)
	require.Equal(t, 80, art.Manifest.Mask.Selected)
	other := append([]visual.Frame{}, imageFrame(0, p), imageFrame(1, page(80, 60, false)))
	_, err = visual.Analyze(context.Background(), visual.Sequence{Source: visual.Slice(other), Mask: mask}, visual.Options{})
	require.ErrorIs(t, err, visual.ErrMixedGeometry)
}

// TestThinning: a long sequence is thinned by change and says so; asking for
// all of it fails with the limit.
func TestThinning(t *testing.T) {
	looks := []image.Image{page(64, 48, false), page(64, 48, false, image.Rect(8, 8, 30, 30)), page(64, 48, false, image.Rect(30, 8, 60, 30))}
	var frames []visual.Frame
	for n := range 100 {
		look := 0
		if n == 50 {
			look = 1
		} else if n >= 70 {
			look = 2
		}
		frames = append(frames, imageFrame(n, looks[look]))
	}
	s := visual.Sequence{Source: visual.Slice(frames), Anchor: visual.At(10*step, "")}
	a := analyze(t, s, visual.Options{MaxFrames: 25})
	require.Equal(t, visual.SamplingCounts{Mode: visual.Bounded, Source: 100, Analyzed: 100, Kept: 7, Omitted: 0}, a.Sampling())
	sel, err := a.Select(8)
	require.NoError(t, err)
	require.Contains(t, chosenIDs(sel), visual.FrameID("f-50"))
	a = analyze(t, s, visual.Options{MaxFrames: 10})
	require.Equal(t, a.Sampling().Source-a.Sampling().Analyzed, a.Sampling().Omitted)
	require.Positive(t, a.Sampling().Omitted)
	_, err = visual.Analyze(context.Background(), s, visual.Options{MaxFrames: 25, Sampling: visual.Exhaustive})
	var le *visual.LimitError
	require.ErrorAs(t, err, &le)
	require.Equal(t, &visual.LimitError{Subject: "frames", Value: 100, Limit: 25, TryAtMost: 25}, le)
}

// TestMemoryBudget: kept means stay within the budget however many frames move.
func TestMemoryBudget(t *testing.T) {
	var frames []visual.Frame
	for n := range 200 {
		frames = append(frames, imageFrame(n, page(320, 200, false, image.Rect(n, 20, n+40, 60))))
	}
	s := visual.Sequence{Source: visual.Slice(frames)}
	a := analyze(t, s, visual.Options{MemoryBudget: 1 << 20})
	size := 20 * 13 * 24 // bytes of one frame's means
	require.LessOrEqual(t, a.Sampling().Kept*size, 1<<20)
	require.Equal(t, 200, a.Sampling().Analyzed)
	_, err := visual.Analyze(context.Background(), s, visual.Options{MemoryBudget: 1 << 20, Sampling: visual.Exhaustive})
	var le *visual.LimitError
	require.ErrorAs(t, err, &le)
	require.Equal(t, "memory_bytes", le.Subject)
}

func TestTooManyEpochs(t *testing.T) {
	var frames []visual.Frame
	for n := range 40 {
		frames = append(frames, imageFrame(n, image.NewGray(image.Rect(0, 0, 16+n, 16))))
	}
	_, err := visual.Analyze(context.Background(), visual.Sequence{Source: visual.Slice(frames)}, visual.Options{})
	var le *visual.LimitError
	require.ErrorAs(t, err, &le)
	require.Equal(t, "epochs", le.Subject)
}

func TestEqualBytesAreDecodedOnce(t *testing.T) {
	f := jpegFrame(t, 0, page(64, 48, false))
	var frames []visual.Frame
	for n := range 5 {
		g := f
		g.ID, g.Time = visual.FrameID(fmt.Sprint(n)), time.Duration(n)*step
		frames = append(frames, g)
	}
	a := analyze(t, visual.Sequence{Source: visual.Slice(frames)}, visual.Options{})
	require.Equal(t, 5, a.Sampling().Analyzed)
	for _, c := range a.Changes() {
		require.Zero(t, c.Cells)
	}
	require.Empty(t, a.Regions())
}

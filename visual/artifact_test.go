package visual_test

import (
	"context"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/visual"
	"github.com/krometrail/krometrail/visual/internal/atlas"
)

func reasonsOf(s visual.Selection, id visual.FrameID) []visual.Reason {
	for _, c := range s.Frames {
		if c.Frame == id {
			return c.Reasons
		}
	}
	return nil
}

func TestSelectionShowsMomentsAndEvents(t *testing.T) {
	a := analyze(t, blink(), visual.Options{})
	sel, err := a.Select(0)
	require.NoError(t, err)
	require.Contains(t, reasonsOf(sel, "f-2"), visual.ReasonBefore)
	require.Contains(t, reasonsOf(sel, "f-4"), visual.ReasonFirstChange)
	require.Contains(t, reasonsOf(sel, "f-11"), visual.ReasonFinal)
	require.Equal(t, []visual.Represented{{Reason: visual.ReasonFirstAfter, Frame: "f-3", Time: 3 * step, By: "f-2"}}, sel.Represented)
	event := slices.ContainsFunc(sel.Frames, func(c visual.Chosen) bool {
		return (c.Frame == "f-6" || c.Frame == "f-7") && slices.Contains(c.Reasons, visual.ReasonReturn)
	})
	require.True(t, event, "the blink is not labelled: %v", sel.Frames)
	_, err = a.Select(13)
	require.ErrorIs(t, err, visual.ErrInvalidOption)
}

// TestFewerTilesThanRepeatedOnes: a still page needs three tiles, not eight.
func TestFewerTilesThanRepeatedOnes(t *testing.T) {
	p := page(64, 48, false)
	var frames []visual.Frame
	for n := range 30 {
		frames = append(frames, imageFrame(n, p))
	}
	for n := range 4 {
		sel, err := analyze(t, visual.Sequence{Source: visual.Slice(frames[:max(1, n)])}, visual.Options{}).Select(8)
		require.NoError(t, err)
		require.Len(t, sel.Frames, max(1, n))
	}
	a := analyze(t, visual.Sequence{Source: visual.Slice(frames)}, visual.Options{})
	sel, err := a.Select(8)
	require.NoError(t, err)
	require.Len(t, sel.Frames, 3)
	require.Equal(t, "no change above the noise level in 30 analyzed frames", a.Measures(3).String())
}

func TestGapSplitsEverything(t *testing.T) {
	s := blink()
	s.Gaps = []visual.Gap{{Start: 5*step + 1, End: 6*step - 1, Reason: "hidden"}}
	a := analyze(t, s, visual.Options{})
	require.Len(t, a.Segments(), 2)
	require.Len(t, a.Changes(), 10)
	sel, err := a.Select(8)
	require.NoError(t, err)
	require.Contains(t, reasonsOf(sel, "f-5"), visual.ReasonGapEdge)
	require.Contains(t, reasonsOf(sel, "f-6"), visual.ReasonGapEdge)
	for _, q := range a.Measures(0).Quiet {
		require.False(t, q.Start < 6*step-1 && q.End > 5*step+1, "quiet period %v spans the gap", q)
	}
	art := artifacts(t, a)["storyboard"]
	require.NotEmpty(t, art.Manifest.Warnings)
	require.Contains(t, art.Manifest.Legend, visual.LegendEntry{Sign: "rising hatch", Meaning: "gap: no evidence"})
}

func TestCarryIn(t *testing.T) {
	s := blink()
	s.CarryIn = true
	s.Range = visual.Range{Start: 2 * step, End: 12 * step}
	frames := blinkFrames(320, 200, false)[2:]
	frames[0].Time = 0
	frames = append(frames[:1:1], frames[2:]...)
	s.Source, s.Anchor = visual.Slice(frames), nil
	a := analyze(t, s, visual.Options{})
	m := a.Measures(5)
	require.Equal(t, visual.FrameID("f-2"), m.Baseline.ID)
	require.True(t, m.BaselineBefore)
	require.Equal(t, 8, m.Sampling.Source)
	require.Equal(t, visual.FrameID("f-4"), m.FirstChange.Frame)
	mf := artifacts(t, a)["storyboard"].Manifest
	require.Equal(t, visual.FrameID("f-2"), mf.CarryIn.ID)
	require.NotContains(t, mf.Source, visual.FrameID("f-2"))
	require.NotContains(t, mf.Selected, visual.FrameID("f-2"))
	require.True(t, mf.Tiles[0].CarryIn)
	require.Contains(t, mf.Tiles[0].Labels[1], "carried in from before the range")
}

func TestMeasures(t *testing.T) {
	m := analyze(t, blink(), visual.Options{}).Measures(3)
	require.Equal(t, 4*step, m.FirstChange.Time)
	require.Equal(t, 11*step, m.LastChange.Time)
	require.Nil(t, m.LastBefore)
	require.Len(t, m.Series, 3)
	require.Equal(t, 5, m.SeriesOmitted)
	require.Len(t, m.Regions, 2)
	require.Zero(t, m.QuietAtEnd)
	require.Contains(t, m.String(), "2 changed regions, first change +30 ms")

	late := blink()
	late.Range = visual.Range{Start: 0, End: 20 * step}
	m = analyze(t, late, visual.Options{}).Measures(0)
	require.Equal(t, 9*step, m.QuietAtEnd)
	require.Equal(t, visual.Quiet{Start: 11 * step, End: 20 * step}, m.Quiet[len(m.Quiet)-1])
}

// TestLabelsAreTheManifests finds the glyphs of each tile's first label at the
// tile's place in the picture.
func TestLabelsAreTheManifests(t *testing.T) {
	faces, err := atlas.Load()
	require.NoError(t, err)
	for name, art := range artifacts(t, analyze(t, blink(), visual.Options{Title: "Überschrift"})) {
		for _, tile := range art.Manifest.Tiles {
			want := image.NewRGBA(image.Rect(0, 0, faces.Bold.Width(tile.Labels[0]), faces.Bold.Height))
			for i := range want.Pix {
				want.Pix[i] = []byte{0x12, 0x14, 0x18, 0xff}[i%4]
			}
			faces.Bold.Draw(want, 0, 0, tile.Labels[0], labelColor)
			require.True(t, found(art.Image, want, tile.Rect), "%s: label %q is not above its tile", name, tile.Labels[0])
		}
	}
}

// found looks for want above r, at its left edge.
func found(img, want *image.RGBA, r image.Rectangle) bool {
	for y := r.Min.Y - want.Rect.Dy(); y >= 0 && y > r.Min.Y-120; y-- {
		same := true
		for dy := 0; dy < want.Rect.Dy() && same; dy++ {
			a := img.Pix[img.PixOffset(r.Min.X, y+dy):][:4*want.Rect.Dx()]
			same = string(a) == string(want.Pix[want.PixOffset(0, dy):][:4*want.Rect.Dx()])
		}
		if same {
			return true
		}
	}
	return false
}

func TestFilmstrip(t *testing.T) {
	ctx := context.Background()
	a := analyze(t, blink(), visual.Options{})
	region := visual.Region{Rect: image.Rect(155, 95, 215, 135), Label: "badge"}
	art, err := a.Filmstrip(ctx, region, visual.FilmstripOptions{})
	require.NoError(t, err)
	ids := art.Manifest.Selected
	require.True(t, slices.Contains(ids, "f-6") || slices.Contains(ids, "f-7"), "%v", ids)
	require.NotContains(t, ids, visual.FrameID("f-4"), "the other region's change is not this one's")
	for _, tile := range art.Manifest.Tiles {
		require.Equal(t, art.Manifest.Tiles[0].Rect.Size(), tile.Rect.Size())
		require.Equal(t, region.Rect, tile.Source)
	}
	_, err = a.Filmstrip(ctx, visual.Region{Rect: image.Rect(400, 0, 500, 50)}, visual.FilmstripOptions{})
	require.ErrorIs(t, err, visual.ErrRegionOutside)
	_, err = a.Filmstrip(ctx, region, visual.FilmstripOptions{Tiles: 25})
	require.ErrorIs(t, err, visual.ErrInvalidOption)
	art, err = a.Filmstrip(ctx, region, visual.FilmstripOptions{Scale: 300})
	require.NoError(t, err)
	require.Equal(t, image.Pt(180, 120), art.Manifest.Tiles[0].Rect.Size())
	var le *visual.LimitError
	_, err = a.Filmstrip(ctx, visual.Region{Rect: image.Rect(0, 0, 320, 200)}, visual.FilmstripOptions{Scale: 800})
	require.ErrorAs(t, err, &le)
}

func TestFilmstripPlaces(t *testing.T) {
	ctx := context.Background()
	a := analyze(t, blink(), visual.Options{})
	region := visual.Region{Rect: image.Rect(0, 0, 60, 40)}
	places := []visual.Place{
		{Frame: "f-8", Rect: image.Rect(50, 20, 90, 40)},
		{Frame: "f-2", Rect: image.Rect(20, 20, 60, 40)},
	}
	art, err := a.Filmstrip(ctx, region, visual.FilmstripOptions{Places: places, Method: "element box"})
	require.NoError(t, err)
	require.Equal(t, []visual.FrameID{"f-2", "f-8"}, art.Manifest.Selected)
	require.Equal(t, image.Rect(40, 10, 100, 50), art.Manifest.Tiles[1].Source)
	_, err = a.Filmstrip(ctx, region, visual.FilmstripOptions{Places: places})
	require.ErrorIs(t, err, visual.ErrInvalidOption)
	_, err = a.Filmstrip(ctx, region, visual.FilmstripOptions{Places: places[:1:1], Method: "x", Tiles: 1})
	require.NoError(t, err)
	_, err = a.Filmstrip(ctx, region, visual.FilmstripOptions{Places: []visual.Place{{Frame: "nobody", Rect: region.Rect}}, Method: "x"})
	require.ErrorIs(t, err, visual.ErrInvalidOption)
}

func TestPlan(t *testing.T) {
	s := blink()
	s.Gaps = []visual.Gap{{Start: 8*step + 1, End: 9*step - 1, Reason: "queue full"}}
	a := analyze(t, s, visual.Options{})
	p, err := a.Plan(visual.PlanOptions{})
	require.NoError(t, err)
	require.Equal(t, visual.RealTime, p.Policy)
	var slates []visual.PlanEntry
	for _, e := range p.Entries {
		if e.Kind != visual.EntryFrame {
			slates = append(slates, e)
		}
	}
	require.Len(t, slates, 1)
	require.Equal(t, "no evidence for 20 ms (queue full)", slates[0].Label)
	require.Equal(t, -1, slates[0].Index())
	require.Equal(t, 12*step+time.Second, p.Total)
	short, err := a.Plan(visual.PlanOptions{Policy: visual.ModelOptimized, Tiles: 5})
	require.NoError(t, err)
	require.Equal(t, 12, short.Skipped+len(short.Entries)-1)
	var le *visual.LimitError
	_, err = a.Plan(visual.PlanOptions{MaxDuration: time.Second})
	require.ErrorAs(t, err, &le)
	_, err = a.Plan(visual.PlanOptions{Policy: "slow"})
	require.ErrorIs(t, err, visual.ErrInvalidOption)
}

func TestMapOptions(t *testing.T) {
	ctx := context.Background()
	epochs := append(blinkFrames(320, 200, false)[:6:6], blinkFrames(200, 320, true)[6:]...)
	a := analyze(t, visual.Sequence{Source: visual.Slice(epochs)}, visual.Options{})
	require.Len(t, a.Epochs(), 2)
	second, err := a.DifferenceMap(ctx, visual.MapOptions{Epoch: 2})
	require.NoError(t, err)
	require.Equal(t, 2, second.Manifest.Epoch)
	require.Equal(t, image.Rect(0, 0, 200, 320), second.Manifest.Tiles[0].Source)
	_, err = a.DifferenceMap(ctx, visual.MapOptions{Epoch: 3})
	require.ErrorIs(t, err, visual.ErrInvalidOption)
	_, err = a.DifferenceMap(ctx, visual.MapOptions{Decay: time.Second})
	require.ErrorIs(t, err, visual.ErrInvalidOption)
	_, err = a.MotionHistory(ctx, visual.MapOptions{Palette: "rainbow"})
	require.ErrorIs(t, err, visual.ErrInvalidOption)
	cells, err := analyze(t, blink(), visual.Options{}).Cells(0)
	require.NoError(t, err)
	require.Equal(t, visual.CellHistory{Changes: 2, Bursts: 1, First: 6 * step, Last: 8 * step}, cells.At(45, 27))
	require.Zero(t, cells.At(0, 0))
}

// TestInsets: when little changes, it is shown enlarged under every tile.
func TestInsets(t *testing.T) {
	var frames []visual.Frame
	for n := range 6 {
		boxes := []image.Rectangle{}
		if n == 3 {
			boxes = append(boxes, image.Rect(300, 200, 330, 215))
		}
		frames = append(frames, imageFrame(n, page(640, 400, false, boxes...)))
	}
	a := analyze(t, visual.Sequence{Source: visual.Slice(frames)}, visual.Options{})
	art, err := a.Storyboard(context.Background(), visual.StoryboardOptions{})
	require.NoError(t, err)
	for _, tile := range art.Manifest.Tiles {
		require.Len(t, tile.Insets, 1)
		require.True(t, image.Rect(300, 200, 330, 215).In(tile.Insets[0].Source))
		require.False(t, tile.Insets[0].Rect.Overlaps(tile.Rect))
	}
}

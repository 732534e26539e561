package visual_test

import (
	"context"
	"fmt"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/visual"
)

// drawSequence makes a short sequence with any mix of equal frames, equal
// times, gaps, epochs, markers anywhere and a carried-in frame.
func drawSequence(t *rapid.T) visual.Sequence {
	n := rapid.IntRange(1, 14).Draw(t, "frames")
	looks := []image.Image{
		page(64, 48, false), page(64, 48, false, image.Rect(8, 8, 30, 30)),
		page(64, 48, true), page(64, 48, false, image.Rect(40, 20, 60, 40)), page(80, 48, false),
	}
	var frames []visual.Frame
	var at time.Duration
	for i := range n {
		look := rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3, 4}).Draw(t, "look")
		frames = append(frames, visual.Frame{FrameMeta: visual.FrameMeta{ID: visual.FrameID(fmt.Sprintf("f%d", i)), Time: at}, Image: looks[look]})
		at += time.Duration(rapid.SampledFrom([]int{0, 1, 16, 17, 250}).Draw(t, "step")) * time.Millisecond
	}
	s := visual.Sequence{Source: visual.Slice(frames)}
	last := frames[n-1].Time
	if n > 1 && rapid.Bool().Draw(t, "carry") {
		s.CarryIn = true
		s.Range = visual.Range{Start: frames[1].Time, End: last + 5*time.Millisecond}
	}
	for range rapid.IntRange(0, 2).Draw(t, "gaps") {
		from := time.Duration(rapid.Int64Range(0, int64(last)+1).Draw(t, "gap"))
		s.Gaps = append(s.Gaps, visual.Gap{Start: from, End: from + time.Duration(rapid.IntRange(0, 40).Draw(t, "length"))*time.Millisecond})
	}
	slices.SortFunc(s.Gaps, func(a, b visual.Gap) int { return int(a.Start - b.Start) })
	if rapid.Bool().Draw(t, "anchored") {
		s.Anchor = visual.At(time.Duration(rapid.Int64Range(-10, int64(last)+10).Draw(t, "anchor")), "")
	}
	s.Markers = []visual.Marker{
		{Time: time.Duration(rapid.Int64Range(-100, int64(last)+100).Draw(t, "marker")), Label: "m", Tile: true},
		{Time: last + time.Hour, Label: "far outside", Tile: true},
	}
	return s
}

func metas(s visual.Sequence) map[visual.FrameID]visual.FrameMeta {
	out := make(map[visual.FrameID]visual.FrameMeta)
	for i := range s.Source.Len() {
		m := s.Source.Meta(i)
		out[m.ID] = m
	}
	return out
}

func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t)
		a, err := visual.Analyze(context.Background(), s, visual.Options{})
		require.NoError(t, err)
		known := metas(s)
		for _, c := range a.Changes() {
			for _, g := range s.Gaps {
				require.False(t, g.Start < c.End && g.End > c.Start, "change %s..%s crosses gap %v", c.From, c.To, g)
			}
			require.Equal(t, c.Tiles == 0, c.Cells == 0)
			require.LessOrEqual(t, c.Cells, c.Compared)
		}
		counts := a.Sampling()
		require.Equal(t, counts.Source-counts.Analyzed, counts.Omitted)
		limit := rapid.IntRange(3, 12).Draw(t, "tiles")
		sel, err := a.Select(limit)
		require.NoError(t, err)
		requireSelection(t, sel, limit, known)
	})
}

func requireSelection(t require.TestingT, sel visual.Selection, limit int, known map[visual.FrameID]visual.FrameMeta) {
	require.NotEmpty(t, sel.Frames)
	require.LessOrEqual(t, len(sel.Frames), limit)
	if len(known) >= 3 {
		require.GreaterOrEqual(t, len(sel.Frames), 3)
	}
	last := time.Duration(-1)
	for _, c := range sel.Frames {
		m, ok := known[c.Frame]
		require.True(t, ok, "frame %s", c.Frame)
		require.Equal(t, m.Time, c.Time)
		require.GreaterOrEqual(t, c.Time, last)
		require.NotEmpty(t, c.Reasons)
		last = c.Time
	}
	ids := chosenIDs(sel)
	for _, r := range sel.Represented {
		require.Contains(t, ids, r.By)
		require.NotContains(t, ids, r.Frame)
	}
}

// TestPicturesOfAnything draws every artifact of arbitrary sequences.
func TestPicturesOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t)
		ctx := context.Background()
		a, err := visual.Analyze(ctx, s, visual.Options{MaxEdge: 1000, MaxPixels: 600_000})
		require.NoError(t, err)
		known := metas(s)
		for _, draw := range []func() (*visual.Artifact, error){
			func() (*visual.Artifact, error) {
				return a.Storyboard(ctx, visual.StoryboardOptions{Tiles: rapid.IntRange(3, 12).Draw(t, "tiles")})
			},
			func() (*visual.Artifact, error) { return a.DifferenceMap(ctx, visual.MapOptions{}) },
			func() (*visual.Artifact, error) { return a.Orientation(ctx) },
			func() (*visual.Artifact, error) {
				x, y := rapid.IntRange(-30, 50).Draw(t, "x"), rapid.IntRange(-20, 40).Draw(t, "y")
				return a.Filmstrip(ctx, visual.Region{Rect: image.Rect(x, y, x+35, y+25)}, visual.FilmstripOptions{})
			},
		} {
			art, err := draw()
			require.NoError(t, err)
			requireManifest(t, &art.Manifest, known)
		}
		if _, err := a.Plan(visual.PlanOptions{Policy: visual.ModelOptimized}); err != nil {
			require.NoError(t, err)
		}
	})
}

func requireManifest(t require.TestingT, m *visual.Manifest, known map[visual.FrameID]visual.FrameMeta) {
	require.Equal(t, len(m.Source)-len(m.Analyzed), m.Omitted)
	require.LessOrEqual(t, m.Output.Width*m.Output.Height, 600_000)
	require.LessOrEqual(t, max(m.Output.Width, m.Output.Height), 1000)
	canvas := image.Rect(0, 0, m.Output.Width, m.Output.Height)
	for _, id := range m.Selected {
		require.Contains(t, m.Source, id)
	}
	for i, tile := range m.Tiles {
		require.Contains(t, known, tile.Frame)
		require.True(t, tile.Rect.In(canvas), "tile %v outside %v", tile.Rect, canvas)
		require.False(t, tile.Rect.Empty())
		for _, other := range m.Tiles[:i] {
			require.False(t, tile.Rect.Overlaps(other.Rect))
		}
	}
}

// TestPlanCovers requires a real-time plan to show every frame once, in order,
// without a break.
func TestPlanCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t)
		a, err := visual.Analyze(context.Background(), s, visual.Options{})
		require.NoError(t, err)
		p, err := a.Plan(visual.PlanOptions{})
		require.NoError(t, err)
		next, at := 0, time.Duration(0)
		for _, e := range p.Entries {
			require.Equal(t, at, e.Start)
			at += e.Duration
			if e.Kind == visual.EntryFrame {
				require.Equal(t, next, e.Index())
				next++
			}
		}
		require.Equal(t, s.Source.Len(), next)
		require.Equal(t, p.Total, at)
		require.Zero(t, p.Skipped)
	})
}

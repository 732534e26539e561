package visual_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/visual"
)

var update = flag.Bool("update", false, "rewrite golden files")

// jittery opens frames with a varying number of scheduler yields, so that
// workers finish in another order each time.
func jittery(s visual.FrameSource, seed uint64) visual.FrameSource {
	metas := make([]visual.FrameMeta, s.Len())
	for i := range metas {
		metas[i] = s.Meta(i)
	}
	return visual.Lazy(metas, func(ctx context.Context, i int) (visual.Frame, error) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for range r.IntN(200) {
			runtime.Gosched()
		}
		return s.Open(ctx, i)
	})
}

func TestWorkersDoNotMatter(t *testing.T) {
	var want map[string]string
	for i, workers := range []int{1, 2, 8} {
		s := blink()
		s.Source = jittery(s.Source, uint64(i))
		got := make(map[string]string)
		for name, art := range artifacts(t, analyze(t, s, visual.Options{Workers: workers})) {
			got[name] = art.Manifest.Output.PixelsSHA256 + " " + art.Manifest.ID
		}
		if want == nil {
			want = got
		}
		require.Equal(t, want, got, "%d workers", workers)
	}
}

// goldenSequences are small and drawn or stored without floating point, so
// their pictures must be the same on every machine.
func goldenSequences(t *testing.T) map[string]visual.Sequence {
	out := map[string]visual.Sequence{"blink": blink()}
	dark := blink()
	dark.Source = visual.Slice(blinkFrames(200, 320, true))
	dark.Gaps = []visual.Gap{{Start: 8*step + 1, End: 9*step - 1, Reason: "queue full"}}
	dark.Markers = []visual.Marker{{Time: 5 * step, Label: "response", Tile: true}}
	dark.Observers = []visual.Observer{{Start: 3 * step, End: 4 * step, Label: "snapshot"}}
	dark.CarryIn = true
	dark.Range = visual.Range{Start: step, End: 12 * step}
	out["tall-dark-gap"] = dark
	var stored []visual.Frame
	for n := range 4 {
		data, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("page%d.jpg", n)))
		require.NoError(t, err)
		f := imageFrame(n, nil)
		f.Data, f.Image = data, nil
		stored = append(stored, f)
	}
	out["jpeg"] = visual.Sequence{Source: visual.Slice(stored), Anchor: visual.At(step/2, "")}
	epochs := append(blinkFrames(320, 200, false)[:6:6], blinkFrames(200, 320, true)[6:]...)
	out["epochs"] = visual.Sequence{Source: visual.Slice(epochs), Anchor: visual.At(2*step, "rotate")}
	return out
}

// TestGoldenPixels compares pixel hashes with stored ones. They depend on
// neither the platform nor the Go version.
func TestGoldenPixels(t *testing.T) {
	file := filepath.Join("testdata", "pixels.json")
	if *update {
		writeStoredPages(t)
	}
	got := make(map[string]string)
	for name, s := range goldenSequences(t) {
		for kind, art := range artifacts(t, analyze(t, s, visual.Options{Title: "Golden"})) {
			got[name+"/"+kind] = art.Manifest.Output.PixelsSHA256
		}
	}
	compareGolden(t, file, got)
}

func compareGolden(t *testing.T, file string, got any) {
	t.Helper()
	body, err := json.MarshalIndent(got, "", "  ")
	require.NoError(t, err)
	body = append(body, '\n')
	if *update {
		require.NoError(t, os.WriteFile(file, body, 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(body), "run with -update after checking the pictures")
}

// writeStoredPages refreshes the JPEG files; encoders may change with Go, so
// they are stored.
func writeStoredPages(t *testing.T) {
	frames := blinkFrames(320, 200, false)
	for n := range 4 {
		f := jpegFrame(t, n, frames[2*n+2].Image)
		require.NoError(t, os.WriteFile(filepath.Join("testdata", fmt.Sprintf("page%d.jpg", n)), f.Data, 0o600))
	}
}

// TestGoldenManifests pins the JSON form.
func TestGoldenManifests(t *testing.T) {
	arts := artifacts(t, analyze(t, goldenSequences(t)["tall-dark-gap"], visual.Options{Title: "Golden", SourceLabel: "example"}))
	for _, name := range slices.Sorted(maps.Keys(arts)) {
		m := arts[name].Manifest
		compareGolden(t, filepath.Join("testdata", "manifest-"+name+".json"), m)
		body, err := json.Marshal(m)
		require.NoError(t, err)
		back, err := visual.ParseManifest(body)
		require.NoError(t, err)
		again, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(body), string(again))
	}
}

func TestEncode(t *testing.T) {
	art := artifacts(t, analyze(t, blink(), visual.Options{}))["storyboard"]
	for _, f := range []visual.Format{visual.PNG, visual.JPEG} {
		var a, b bytes.Buffer
		out, err := art.EncodeAs(&a, f)
		require.NoError(t, err)
		again, err := art.EncodeAs(&b, f)
		require.NoError(t, err)
		require.Equal(t, out, again)
		require.Equal(t, a.Bytes(), b.Bytes())
		require.EqualValues(t, a.Len(), out.Bytes)
		require.Equal(t, art.Manifest.Output.PixelsSHA256, out.PixelsSHA256)
	}
	_, err := art.EncodeAs(&bytes.Buffer{}, "webp")
	require.ErrorIs(t, err, visual.ErrInvalidOption)
	var c bytes.Buffer
	n, err := art.WriteTo(&c)
	require.NoError(t, err)
	require.EqualValues(t, c.Len(), n)
}

// TestIdentity: equal frames and parameters give one id, others another.
func TestIdentity(t *testing.T) {
	id := func(s visual.Sequence, o visual.Options) string {
		return artifacts(t, analyze(t, s, o))["storyboard"].Manifest.ID
	}
	base := id(blink(), visual.Options{})
	require.Equal(t, base, id(blink(), visual.Options{Workers: 3}))
	require.NotEqual(t, base, id(blink(), visual.Options{Noise: visual.Noise{Luma: 20}}))
	later := blink()
	later.Anchor = visual.At(3*step, "click")
	require.NotEqual(t, base, id(later, visual.Options{}))
	other := blinkFrames(320, 200, false)
	other[11].Image = page(320, 200, false)
	require.NotEqual(t, base, id(visual.Sequence{Source: visual.Slice(other), Anchor: blink().Anchor}, visual.Options{}))
}

func TestConcurrentSafe(t *testing.T) {
	a := analyze(t, blink(), visual.Options{})
	want := artifacts(t, a)["storyboard"].Manifest.Output.PixelsSHA256
	done := make(chan string)
	for range 4 {
		go func() {
			art, err := a.Storyboard(context.Background(), visual.StoryboardOptions{})
			if err != nil {
				done <- err.Error()
				return
			}
			done <- art.Manifest.Output.PixelsSHA256
		}()
	}
	for range 4 {
		require.Equal(t, want, <-done)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := blink()
	inner := s.Source
	metas := make([]visual.FrameMeta, inner.Len())
	for i := range metas {
		metas[i] = inner.Meta(i)
	}
	s.Source = visual.Lazy(metas, func(ctx context.Context, i int) (visual.Frame, error) {
		if i == 5 {
			cancel()
		}
		return inner.Open(ctx, i)
	})
	_, err := visual.Analyze(ctx, s, visual.Options{})
	require.ErrorIs(t, err, context.Canceled)
	a := analyze(t, blink(), visual.Options{})
	_, err = a.Storyboard(ctx, visual.StoryboardOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

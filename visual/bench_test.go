package visual_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/visual"
	"github.com/krometrail/krometrail/visual/jpegmean"
	"github.com/krometrail/krometrail/visual/visualtest"
)

// Seeds that no rule was tuned on.
const (
	defectSeed  = 910_000
	controlSeed = 920_000
	mapSeed     = 930_000
)

func generate(tb testing.TB, spec visualtest.Spec, w, h int) *visualtest.Sequence {
	tb.Helper()
	s, err := visualtest.Generate(context.Background(), spec, visualtest.Options{Width: w, Height: h})
	require.NoError(tb, err)
	return s
}

func sequenceOf(s *visualtest.Sequence) visual.Sequence {
	frames := make([]visual.Frame, len(s.Frames))
	for i, f := range s.Frames {
		frames[i] = visual.Frame{FrameMeta: visual.FrameMeta{ID: visual.FrameID(f.ID), Time: f.Time}, Data: f.JPEG}
	}
	return visual.Sequence{Source: visual.Slice(frames), Anchor: visual.At(s.AnchorTime, "action")}
}

// each generates and analyzes every spec, as many at once as there are CPUs.
func each(b *testing.B, specs []visualtest.Spec, use func(s *visualtest.Sequence, a *visual.Analysis)) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := make(chan visualtest.Spec)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for spec := range work {
				s, err := visualtest.Generate(context.Background(), spec, visualtest.Options{Workers: 1})
				if err != nil {
					b.Error(err)
					continue
				}
				a, err := visual.Analyze(context.Background(), sequenceOf(s), visual.Options{Workers: 1})
				if err != nil {
					b.Error(err)
					continue
				}
				mu.Lock()
				use(s, a)
				mu.Unlock()
			}
		})
	}
	for _, spec := range specs {
		work <- spec
	}
	close(work)
	wg.Wait()
}

// leastRecall is what must be reached in at most eight tiles.
var leastRecall = map[string]float64{
	"all": 0.92, "flicker": 1, "flash": 1, "layout-shift": 1, "text-swap": 0.94,
	"teleport": 0.88, "reversal": 0.82, "panel+spinner": 0.80,
}

// BenchmarkRecall prints how often a short defect is among at most eight tiles,
// beside a uniform choice and a cumulative-change rule on the same sequences.
func BenchmarkRecall(b *testing.B) {
	for b.Loop() {
		var ours, uniform, cumulative visualtest.Tally
		each(b, visualtest.DefectSuite(defectSeed, 1), func(s *visualtest.Sequence, a *visual.Analysis) {
			sel, err := a.Select(8)
			require.NoError(b, err)
			var picks []int
			for i := range sel.Frames {
				picks = append(picks, sel.Frames[i].Index())
			}
			even, sum := visualtest.Uniform(len(s.Frames), 8), s.CumulativeChange(8)
			ours.Add(s.Spec, s.Hit(picks), len(picks))
			uniform.Add(s.Spec, s.Hit(even), len(even))
			cumulative.Add(s.Spec, s.Hit(sum), len(sum))
		})
		report(b, &ours, &uniform, &cumulative)
		for _, rows := range [][]visualtest.Row{{ours.Total()}, ours.ByKind(), ours.ByDistractor()} {
			for _, r := range rows {
				if least := leastRecall[r.Name]; r.Recall() < least {
					b.Errorf("%s: recall %.1f %%, want at least %.1f", r.Name, 100*r.Recall(), 100*least)
				}
			}
		}
	}
}

// report logs one line a kind, duration and distractor: hits of the
// change-aware choice, the uniform one and the cumulative rule, which is told
// the truth about change.
func report(b *testing.B, ours, uniform, cumulative *visualtest.Tally) {
	tables := func(t *visualtest.Tally) [][]visualtest.Row {
		return [][]visualtest.Row{{t.Total()}, t.ByKind(), t.ByDuration(), t.ByDistractor()}
	}
	even, sum := tables(uniform), tables(cumulative)
	for i, rows := range tables(ours) {
		var line strings.Builder
		for k, r := range rows {
			fmt.Fprintf(&line, "  %s %d/%d (uniform %d, cumulative %d)", r.Name, r.Hits, r.Total, even[i][k].Hits, sum[i][k].Hits)
		}
		b.Log(line.String())
	}
	b.ReportMetric(100*ours.Total().Recall(), "recall%")
	b.ReportMetric(100*uniform.Total().Recall(), "uniform%")
	b.ReportMetric(100*cumulative.Total().Recall(), "cumulative%")
	b.ReportMetric(float64(ours.Total().Frames)/float64(max(1, ours.Total().Total)), "tiles/seq")
}

// BenchmarkControls counts changed pairs that did not change, and event labels
// on steady motion.
func BenchmarkControls(b *testing.B) {
	for b.Loop() {
		var pairs visualtest.PairScore
		events := 0
		each(b, visualtest.ControlSuite(controlSeed, 2), func(s *visualtest.Sequence, a *visual.Analysis) {
			changes := a.Changes()
			p := s.ScorePairs(func(i int) bool { return changes[i-1].Tiles > 0 })
			pairs = pairs.Plus(p)
			n := countEvents(b, a)
			if p.False > 0 || n > 0 {
				b.Logf("%s: %d of %d pairs flagged, %d falsely, %d event labels", s.Spec, p.Flagged, p.Pairs, p.False, n)
			}
			if k := s.Spec.Kind; k == visualtest.PanelControl || k == visualtest.ScrollControl || k == visualtest.SpinnerControl {
				events += n
			}
		})
		b.ReportMetric(float64(pairs.False), "false-pairs")
		b.ReportMetric(float64(events), "false-events")
		if pairs.False > 0 || events > 0 {
			b.Errorf("%d pairs flagged falsely and %d event labels on steady motion, want none", pairs.False, events)
		}
	}
}

func countEvents(tb testing.TB, a *visual.Analysis) int {
	sel, err := a.Select(8)
	require.NoError(tb, err)
	n := 0
	for _, c := range sel.Frames {
		if slices.Contains(c.Reasons, visual.ReasonReturn) || slices.Contains(c.Reasons, visual.ReasonExcursion) {
			n++
		}
	}
	return n
}

// BenchmarkMapAccuracy compares marked cells with the cells that really changed.
func BenchmarkMapAccuracy(b *testing.B) {
	for b.Loop() {
		var scores []visualtest.MapScore
		specs := visualtest.DefectSuite(mapSeed, 1)
		var few []visualtest.Spec
		for i := 0; i < len(specs); i += 5 {
			few = append(few, specs[i+len(few)%5])
		}
		each(b, few, func(s *visualtest.Sequence, a *visual.Analysis) {
			cells, err := a.Cells(0)
			require.NoError(b, err)
			got := visualtest.NewGrid(s.Width, s.Height)
			for y := range cells.Height {
				for x := range cells.Width {
					if cells.At(x, y).Changes > 0 {
						got.Set(x, y)
					}
				}
			}
			scores = append(scores, visualtest.ScoreMap(s.ChangedAny(0, len(s.Frames)-1), got))
		})
		iou := medianOf(scores, func(s visualtest.MapScore) float64 { return s.IoU })
		b.ReportMetric(iou, "IoU")
		b.ReportMetric(medianOf(scores, func(s visualtest.MapScore) float64 { return s.Precision }), "precision")
		b.ReportMetric(medianOf(scores, func(s visualtest.MapScore) float64 { return s.Recall }), "cell-recall")
		if iou < 0.80 {
			b.Errorf("median IoU %.2f, want at least 0.80", iou)
		}
	}
}

func medianOf(scores []visualtest.MapScore, of func(visualtest.MapScore) float64) float64 {
	var v []float64
	for _, s := range scores {
		v = append(v, of(s))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// BenchmarkStoryboardAndMap measures the whole way from encoded frames to two
// encoded pictures, and drawing them again from a kept analysis.
func BenchmarkStoryboardAndMap(b *testing.B) {
	for _, c := range []struct {
		name string
		w, h int
	}{{"1080p60", 1920, 1080}, {"720p60", 1280, 720}} {
		s := sequenceOf(generate(b, visualtest.Spec{Kind: visualtest.Flicker, Distractor: visualtest.Panel, Duration: 2, Seed: 7}, c.w, c.h))
		b.Run(c.name, func(b *testing.B) { benchPictures(b, s) })
	}
}

func benchPictures(b *testing.B, s visual.Sequence) {
	b.Run("uncached", func(b *testing.B) {
		peak := watchHeap()
		cpu := cpuTime()
		for b.Loop() {
			a, err := visual.Analyze(context.Background(), s, visual.Options{})
			require.NoError(b, err)
			drawBoth(b, a)
		}
		b.ReportMetric(float64((cpuTime()-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
		b.ReportMetric(float64(peak())/(1<<20), "peak-MB")
	})
	a, err := visual.Analyze(context.Background(), s, visual.Options{})
	require.NoError(b, err)
	b.Run("cached", func(b *testing.B) {
		cpu := cpuTime()
		for b.Loop() {
			drawBoth(b, a)
		}
		b.ReportMetric(float64((cpuTime()-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
}

func drawBoth(b *testing.B, a *visual.Analysis) {
	story, err := a.Storyboard(context.Background(), visual.StoryboardOptions{})
	require.NoError(b, err)
	_, err = story.EncodeAs(io.Discard, visual.JPEG)
	require.NoError(b, err)
	diff, err := a.DifferenceMap(context.Background(), visual.MapOptions{})
	require.NoError(b, err)
	_, err = diff.Encode(io.Discard)
	require.NoError(b, err)
}

// watchHeap samples live heap until the returned function is called, which
// gives the greatest growth over the start.
func watchHeap() func() uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	start, most := sample[0].Value.Uint64(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				metrics.Read(sample)
				most = max(most, sample[0].Value.Uint64())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return most - min(most, start)
	}
}

// BenchmarkReadRatio prints how many times faster block means are read than
// image/jpeg decodes, measured alternately so that load cancels out.
func BenchmarkReadRatio(b *testing.B) {
	s := generate(b, visualtest.Spec{Kind: visualtest.Flash, Distractor: visualtest.Panel, Duration: 1, Seed: 3}, 1920, 1080)
	data := s.Frames[30].JPEG
	var ours, theirs time.Duration
	var m jpegmean.Means
	for b.Loop() {
		start := cpuTime()
		require.NoError(b, m.Decode(data))
		middle := cpuTime()
		_, err := jpeg.Decode(bytes.NewReader(data))
		require.NoError(b, err)
		ours, theirs = ours+middle-start, theirs+cpuTime()-middle
	}
	ratio := float64(theirs) / float64(max(1, ours))
	b.ReportMetric(ours.Seconds()*1000/float64(b.N), "means-cpu-ms")
	b.ReportMetric(theirs.Seconds()*1000/float64(b.N), "decode-cpu-ms")
	b.ReportMetric(ratio, "x-faster")
	if b.N > 10 && ratio < 4 {
		b.Errorf("block means are read %.1f times as fast as image/jpeg decodes, want at least 4", ratio)
	}
}

// BenchmarkPair compares two 1080p JPEGs: block means against a full decode
// with a plain loop over the luma plane.
func BenchmarkPair(b *testing.B) {
	s := generate(b, visualtest.Spec{Kind: visualtest.Flash, Distractor: visualtest.Panel, Duration: 1, Seed: 3}, 1920, 1080)
	pair := sequenceOf(s)
	f0, f1 := s.Frames[0].JPEG, s.Frames[30].JPEG
	pair.Source = visual.Slice([]visual.Frame{
		{FrameMeta: visual.FrameMeta{ID: "a"}, Data: f0}, {FrameMeta: visual.FrameMeta{ID: "b", Time: time.Second}, Data: f1}})
	pair.Anchor = nil
	b.Run("analyze", func(b *testing.B) {
		for b.Loop() {
			_, err := visual.Analyze(context.Background(), pair, visual.Options{Workers: 1})
			require.NoError(b, err)
		}
	})
	b.Run("decode-and-loop", func(b *testing.B) {
		for b.Loop() {
			require.NotZero(b, plainDiff(decodeYCC(b, f0), decodeYCC(b, f1)))
		}
	})
}

func decodeYCC(b *testing.B, data []byte) *image.YCbCr {
	img, err := jpeg.Decode(bytes.NewReader(data))
	require.NoError(b, err)
	return img.(*image.YCbCr)
}

func plainDiff(p, q *image.YCbCr) int {
	n := 0
	for i, v := range p.Y {
		if d := int(v) - int(q.Y[i]); d > 10 || d < -10 {
			n++
		}
	}
	return n
}

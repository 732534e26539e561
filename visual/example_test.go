package visual_test

import (
	"context"
	"fmt"
	"image"
	"io"
	"log"
	"time"

	"github.com/krometrail/krometrail/visual"
)

// frames stands for whatever recorded your page: an id, a time, and JPEG, PNG
// or decoded pixels each.
func frames() []visual.Frame { return blinkFrames(320, 200, false) }

func ExampleWriteStoryboard() {
	m, err := visual.WriteStoryboard(context.Background(), io.Discard, visual.Sequence{
		Source: visual.Slice(frames()),
		Anchor: visual.At(50*time.Millisecond, "click"),
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range m.Tiles {
		fmt.Println(t.Labels[0], "·", t.Labels[1])
	}
	// Output:
	// 1  -10 ms  f-2 · before, same as first after +10 ms
	// 2  +30 ms  f-4 · first change
	// 3  +50 ms  f-5 · differs most from neighbours
	// 4  +70 ms  f-6 · differs most from neighbours
	// 5  +90 ms  f-7 · greatest difference, return candidate
	// 6  +110 ms  f-8 · differs most from neighbours
	// 7  +130 ms  f-9 · differs most from neighbours
	// 8  +170 ms  f-11 · last frame
}

func ExampleAnalyze() {
	a, err := visual.Analyze(context.Background(), visual.Sequence{
		Source: visual.Slice(frames()),
		Anchor: visual.At(50*time.Millisecond, "click"),
	}, visual.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Measures(0))
	for _, r := range a.Regions() {
		fmt.Printf("R%d at %v changed %d times\n", r.Number, r.Bounds, r.Changes)
	}
	// Output:
	// 2 changed regions, first change +30 ms, greatest difference +90 ms (4.1 % of the area), last change +170 ms
	// R1 at (16,16)-(112,48) changed 8 times
	// R2 at (160,96)-(224,144) changed 2 times
}

func ExampleAnalysis_DifferenceMap() {
	ctx := context.Background()
	a, err := visual.Analyze(ctx, visual.Sequence{Source: visual.Slice(frames())}, visual.Options{Title: "Settings"})
	if err != nil {
		log.Fatal(err)
	}
	art, err := a.DifferenceMap(ctx, visual.MapOptions{Palette: visual.Cividis})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range art.Manifest.Legend {
		fmt.Println(l.Sign, "=", l.Meaning)
	}
	// Output:
	// tick = analyzed frame
	// triangle = anchor, offsets count from it
	// R1 = changed region
	// sparse hatch = changed again after a pause of a quarter of the range or more
	// dense hatch = changed in three or more bursts
}

func ExampleAnalysis_MotionHistory() {
	ctx := context.Background()
	a, err := visual.Analyze(ctx, visual.Sequence{Source: visual.Slice(frames())}, visual.Options{})
	if err != nil {
		log.Fatal(err)
	}
	art, err := a.MotionHistory(ctx, visual.MapOptions{Decay: 100 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(art.Manifest.Kind, art.Manifest.Tiles[0].Labels[0])
	// Output:
	// motion_history 1  most recent change of each place
}

func ExampleAnalysis_Filmstrip() {
	ctx := context.Background()
	a, err := visual.Analyze(ctx, visual.Sequence{Source: visual.Slice(frames())}, visual.Options{})
	if err != nil {
		log.Fatal(err)
	}
	art, err := a.Filmstrip(ctx, visual.Region{Rect: image.Rect(150, 90, 230, 140), Label: "badge"}, visual.FilmstripOptions{Tiles: 6})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range art.Manifest.Tiles {
		fmt.Println(t.Labels[0], "·", t.Labels[1])
	}
	// Output:
	// 1  +0 ms  f-0 · first after
	// 2  +120 ms  f-6 · greatest difference, first change, return candidate
	// 3  +220 ms  f-11 · last frame
}

func ExampleAnalysis_Orientation() {
	ctx := context.Background()
	a, err := visual.Analyze(ctx, visual.Sequence{Source: visual.Slice(frames()), Anchor: visual.At(50*time.Millisecond, "click")}, visual.Options{})
	if err != nil {
		log.Fatal(err)
	}
	art, err := a.Orientation(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range art.Manifest.Tiles {
		fmt.Println(t.Labels[0], "·", t.Labels[1])
	}
	// Output:
	// 1  -10 ms  f-2 · before
	// 2  +90 ms  f-7 · during
	// 3  +170 ms  f-11 · last frame
}

func ExampleAnalysis_Plan() {
	a, err := visual.Analyze(context.Background(), visual.Sequence{
		Source: visual.Slice(frames()),
		Gaps:   []visual.Gap{{Start: 161 * time.Millisecond, End: 179 * time.Millisecond, Reason: "hidden"}},
	}, visual.Options{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := a.Plan(visual.PlanOptions{Policy: visual.ModelOptimized, Tiles: 5})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range p.Entries {
		fmt.Printf("%v %s %s%s\n", e.Start, e.Kind, e.Frame, e.Label)
	}
	// Output:
	// 0s frame f-0
	// 1s frame f-4
	// 2s frame f-7
	// 3s gap_slate no evidence for 18 ms (hidden)
	// 4s frame f-9
	// 5s frame f-11
}

func ExampleDiff() {
	before, after := page(320, 200, false), page(320, 200, false, image.Rect(100, 60, 140, 80))
	d, err := visual.Diff(before, after, visual.Noise{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Tiles, "tiles changed in", d.Bounds)
	// Output:
	// 6 tiles changed in (96,56)-(140,80)
}

// Command readme draws the pictures of the module's README from a generated
// page, so that they always show what the code does.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/krometrail/krometrail/visual"
	"github.com/krometrail/krometrail/visual/visualtest"
)

func main() {
	ctx := context.Background()
	seq, err := visualtest.Generate(ctx, visualtest.Spec{Kind: visualtest.TextSwap, Distractor: visualtest.Caret, Duration: 2, Seed: 11},
		visualtest.Options{Width: 1280, Height: 720})
	check(err)
	frames := make([]visual.Frame, len(seq.Frames))
	for i, f := range seq.Frames {
		frames[i] = visual.Frame{FrameMeta: visual.FrameMeta{ID: visual.FrameID(f.ID), Time: f.Time}, Data: f.JPEG}
	}
	a, err := visual.Analyze(ctx, visual.Sequence{
		Source: visual.Slice(frames), Anchor: visual.At(seq.AnchorTime, "click"),
	}, visual.Options{Title: "Cards", SourceLabel: "generated page, 60 frames in a second"})
	check(err)
	story, err := a.Storyboard(ctx, visual.StoryboardOptions{})
	check(err)
	write("storyboard.png", story)
	diff, err := a.DifferenceMap(ctx, visual.MapOptions{})
	check(err)
	write("difference-map.png", diff)
}

func write(name string, art *visual.Artifact) {
	f, err := os.Create(filepath.Join("docs", name))
	check(err)
	_, err = art.Encode(f)
	check(err)
	check(f.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

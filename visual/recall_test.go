package visual_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/krometrail/krometrail/visual"
	"github.com/krometrail/krometrail/visual/visualtest"
)

func sequenceOf(s *visualtest.Sequence) visual.Sequence {
	frames := make([]visual.Frame, len(s.Frames))
	for i, f := range s.Frames {
		frames[i] = visual.Frame{FrameMeta: visual.FrameMeta{ID: visual.FrameID(f.ID), Time: f.Time}, Data: f.JPEG}
	}
	return visual.Sequence{Source: visual.Slice(frames), Anchor: visual.At(s.AnchorTime, "")}
}

func TestRecallTune(t *testing.T) {
	per, seed := 1, uint64(1000)
	if v := os.Getenv("PER"); v != "" { per, _ = strconv.Atoi(v) }
	if v := os.Getenv("SEED"); v != "" { n, _ := strconv.Atoi(v); seed = uint64(n) }
	specs := visualtest.DefectSuite(seed, per)
	var ours, uni, cum visualtest.Tally
	var mu sync.Mutex
	var wg sync.WaitGroup
	ch := make(chan visualtest.Spec)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for sp := range ch {
				s, err := visualtest.Generate(context.Background(), sp, visualtest.Options{Width: 1280, Height: 720, Workers: 1})
				if err != nil { t.Error(err); continue }
				a, err := visual.Analyze(context.Background(), sequenceOf(s), visual.Options{Workers: 1})
				if err != nil { t.Error(err); continue }
				sel, _ := a.Select(8)
				var idx []int
				for _, c := range sel.Frames { idx = append(idx, c.Index()) }
				u := visualtest.Uniform(60, 8)
				mu.Lock()
				hit := s.Hit(idx)
				if !hit { t.Logf("MISS %v picks %v", sp, sel.Frames) }
				ours.Add(sp, hit, len(idx))
				uni.Add(sp, s.Hit(u), 8)
				if os.Getenv("CUM") != "" { cc := s.CumulativeChange(8); cum.Add(sp, s.Hit(cc), len(cc)) }
				mu.Unlock()
			}
		})
	}
	for _, sp := range specs { ch <- sp }
	close(ch); wg.Wait()
	t.Logf("ours\n%s\nuniform %v cum %v", ours.String(), uni.Total(), cum.Total())
}

func TestControlsTune(t *testing.T) {
	for _, sp := range visualtest.ControlSuite(5000, 2) {
		s, err := visualtest.Generate(context.Background(), sp, visualtest.Options{Width: 1280, Height: 720})
		if err != nil { t.Fatal(err) }
		a, err := visual.Analyze(context.Background(), sequenceOf(s), visual.Options{})
		if err != nil { t.Fatal(err) }
		sel, _ := a.Select(8)
		ch := a.Changes()
		p := s.ScorePairs(func(i int) bool { return ch[i-1].Tiles > 0 })
		ev := 0
		for _, c := range sel.Frames { for _, r := range c.Reasons { if r == visual.ReasonReturn || r == visual.ReasonExcursion { ev++ } } }
		t.Logf("%-24v tiles %d events %d pairs %+v", sp, len(sel.Frames), ev, p)
	}
}

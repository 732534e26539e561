package visualtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/krometrail/krometrail/visual/visualtest"
)

func TestUniformSpreadsOverBothEnds(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want []int
	}{
		{60, 8, []int{0, 8, 17, 25, 34, 42, 51, 59}},
		{5, 3, []int{0, 2, 4}},
		{4, 9, []int{0, 1, 2, 3}},
		{3, 1, []int{0}},
		{3, 0, []int{}},
		{0, 8, []int{}},
	} {
		if got := visualtest.Uniform(c.n, c.k); !slices.Equal(got, c.want) {
			t.Errorf("Uniform(%d, %d) = %v, want %v", c.n, c.k, got, c.want)
		}
	}
}

// reversal has the positions 0 10 20 12 8 30 and goes back by 12.
func reversal() *visualtest.Sequence {
	s := &visualtest.Sequence{Spec: visualtest.Spec{Kind: visualtest.Reversal}}
	for _, p := range []int{0, 10, 20, 12, 8, 30} {
		s.Truth = append(s.Truth, visualtest.Truth{Position: p})
	}
	return s
}

func TestReversalIsHitByTwoFramesThatShowHalfTheWayBack(t *testing.T) {
	s := reversal()
	if s.Retreat() != 12 {
		t.Fatalf("Retreat = %d, want 12", s.Retreat())
	}
	for _, c := range []struct {
		chosen []int
		want   bool
	}{
		{nil, false},
		{[]int{4}, false},
		{[]int{2, 4}, true},
		{[]int{4, 2}, true},
		{[]int{2, 3}, true},
		{[]int{1, 4}, false},
		{[]int{0, 1, 3, 4, 5}, false},
		{[]int{3, 3, 2}, true},
		{[]int{0, 2, 5}, false},
	} {
		if got := s.Hit(c.chosen); got != c.want {
			t.Errorf("Hit(%v) = %v, want %v", c.chosen, got, c.want)
		}
	}
}

func TestWrongStateIsHitByOneOfItsFrames(t *testing.T) {
	s := &visualtest.Sequence{Spec: visualtest.Spec{Kind: visualtest.Flash}, Truth: []visualtest.Truth{{}, {Defect: true}, {}}}
	if s.Hit([]int{0, 2}) || !s.Hit([]int{2, 1}) {
		t.Error("hit does not follow the defect frames")
	}
}

func TestCumulativeChangeTakesItsEdgesAndNoFillers(t *testing.T) {
	still := generate(t, visualtest.Spec{Kind: visualtest.StaticControl, Seed: 2}, small)
	if got, want := still.CumulativeChange(8), []int{still.Anchor - 1, still.Anchor, 59}; !slices.Equal(got, want) {
		t.Errorf("static page: %v, want %v", got, want)
	}
	seq := generate(t, visualtest.Spec{Kind: visualtest.Flash, Duration: 2, Seed: 2}, small)
	first := slices.IndexFunc(seq.Truth, func(tr visualtest.Truth) bool { return tr.Defect })
	got := seq.CumulativeChange(8)
	if !slices.Contains(got, first) || !seq.Hit(got) || len(got) > 8 {
		t.Errorf("flash at %d: %v", first, got)
	}
}

func TestMapScore(t *testing.T) {
	truth, got := visualtest.NewGrid(17, 8), visualtest.NewGrid(17, 8)
	if truth.Cols != 5 || truth.Rows != 2 {
		t.Fatalf("grid %d x %d, want 5 x 2", truth.Cols, truth.Rows)
	}
	if s := visualtest.ScoreMap(truth, got); s != (visualtest.MapScore{IoU: 1, Precision: 1, Recall: 1}) {
		t.Errorf("nothing on both sides: %+v", s)
	}
	for i := range 4 {
		truth.Set(i, 0)
	}
	got.Set(3, 0)
	got.Set(4, 1)
	if !got.Has(4, 1) || got.Has(4, 0) {
		t.Error("grid does not keep cells")
	}
	if s := visualtest.ScoreMap(truth, got); s != (visualtest.MapScore{IoU: 0.2, Precision: 0.5, Recall: 0.25}) {
		t.Errorf("score %+v", s)
	}
}

func TestTruthOfAPairIsTheDifferenceOfItsPictures(t *testing.T) {
	seq := generate(t, visualtest.Spec{Kind: visualtest.LayoutShift, Distractor: visualtest.Panel, Duration: 1, Seed: 4}, small)
	for i := 1; i < len(seq.Truth); i++ {
		want := visualtest.ChangedBetween(seq.Raw(i-1), seq.Raw(i))
		have := seq.Truth[i].Changed
		if want.Count() != have.Count() || want.Overlap(have) != have.Count() {
			t.Fatalf("pair %d: %d cells, pictures differ in %d", i, have.Count(), want.Count())
		}
	}
	all := seq.ChangedAny(0, len(seq.Truth)-1)
	if s := visualtest.ScoreMap(all, seq.ChangedAny(0, seq.Anchor-1)); s.Recall != 0 || all.Count() == 0 {
		t.Errorf("something changes before the anchor: %+v", s)
	}
}

func TestScorePairs(t *testing.T) {
	s := &visualtest.Sequence{Truth: make([]visualtest.Truth, 4)}
	for i := range s.Truth {
		s.Truth[i].Changed = visualtest.NewGrid(4, 4)
	}
	s.Truth[2].Changed.Set(0, 0)
	got := s.ScorePairs(func(i int) bool { return i >= 2 })
	want := visualtest.PairScore{Pairs: 3, Changed: 1, Flagged: 2, False: 1}
	if got != want || got.Plus(want) != (visualtest.PairScore{Pairs: 6, Changed: 2, Flagged: 4, False: 2}) {
		t.Errorf("pairs %+v, want %+v", got, want)
	}
}

func TestTallyCountsByEverything(t *testing.T) {
	var tally visualtest.Tally
	if tally.Total().Recall() != 1 {
		t.Error("an empty tally has recall 1")
	}
	tally.Add(visualtest.Spec{Kind: visualtest.Flash, Duration: 1, Distractor: visualtest.None}, true, 5)
	tally.Add(visualtest.Spec{Kind: visualtest.Flash, Duration: 2, Distractor: visualtest.Panel}, false, 8)
	tally.Add(visualtest.Spec{Kind: visualtest.Teleport, Duration: 1, Distractor: visualtest.Panel}, true, 8)
	if got := tally.Total(); got != (visualtest.Row{Name: "all", Hits: 2, Total: 3, Frames: 21}) {
		t.Errorf("total %+v", got)
	}
	if got := tally.ByKind(); len(got) != 2 || got[0] != (visualtest.Row{Name: "flash", Hits: 1, Total: 2, Frames: 13}) {
		t.Errorf("kinds %+v", got)
	}
	if got := tally.ByDuration(); len(got) != 2 || got[1].Hits != 0 || got[0].Total != 2 {
		t.Errorf("durations %+v", got)
	}
	if got := tally.ByDistractor(); len(got) != 2 || got[1].Name != "panel" || got[1].Recall() != 0.5 {
		t.Errorf("distractors %+v", got)
	}
	if s := tally.String(); strings.Count(s, "\n") != 7 || !strings.Contains(s, "66.7%") {
		t.Errorf("text:\n%s", s)
	}
}

func TestSuitesCoverAllCellsWithDifferentSeeds(t *testing.T) {
	specs := append(visualtest.DefectSuite(10, 2), visualtest.ControlSuite(1000, 3)...)
	if len(specs) != 180+24 {
		t.Fatalf("%d specs", len(specs))
	}
	seeds := map[uint64]bool{}
	for _, s := range specs {
		seeds[s.Seed] = true
	}
	if len(seeds) != len(specs) {
		t.Errorf("%d seeds for %d specs", len(seeds), len(specs))
	}
}

package pick

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// positions makes a region whose distance is that of positions on a line.
func positions(at ...int) Region {
	state := make([]int32, len(at))
	for i := range state {
		state[i] = int32(i)
	}
	m := NewMatrix(state, len(at))
	for i := range at {
		for j := range i {
			m.Set(i, j, max(at[i]-at[j], at[j]-at[i]))
		}
	}
	return Region{Root: 1, D: m}
}

func segment(n int, regions ...Region) Input {
	in := Input{Regions: regions}
	for i := range n {
		in.Frames = append(in.Frames, i)
	}
	return in
}

func run(limit int, wants []Want, segments ...Input) Result {
	return Select(&Request{
		Segments: segments, Wants: wants, Limit: limit, Least: 3,
		Same: func(int, int) bool { return false }, Spread: func([]int) int { return -1 },
	})
}

func frames(r Result) []int {
	var out []int
	for _, p := range r.Picks {
		out = append(out, p.Frame)
	}
	return out
}

func has(r Result, frame int, reason string) bool {
	return slices.ContainsFunc(r.Picks, func(p Pick) bool { return p.Frame == frame && slices.Contains(p.Reasons, reason) })
}

func TestFlickerIsAReturn(t *testing.T) {
	at := make([]int, 30)
	at[14] = 900
	r := run(8, []Want{{0, "before"}, {29, "final"}}, segment(30, positions(at...)))
	if !has(r, 14, ReturnCandidate) {
		t.Fatalf("frame 14 is not a return candidate: %+v", r.Picks)
	}
	if len(r.Picks) > 4 {
		t.Errorf("%d tiles for two states", len(r.Picks))
	}
}

func TestSteadyMotionIsNoEvent(t *testing.T) {
	var linear, eased []int
	for i := range 40 {
		linear = append(linear, min(900, 30*i))
		x := min(i, 30)
		eased = append(eased, 1000*x*x*(90-2*x)/27000)
	}
	for _, at := range [][]int{linear, eased} {
		for _, p := range run(8, []Want{{0, "before"}, {39, "final"}}, segment(40, positions(at...))).Picks {
			if slices.Contains(p.Reasons, ReturnCandidate) || slices.Contains(p.Reasons, Excursion) {
				t.Errorf("frame %d of a steady motion is labelled %v", p.Frame, p.Reasons)
			}
		}
	}
}

// TestReversalIsShownWhole: the turn and the state it comes back to are both shown.
func TestReversalIsShownWhole(t *testing.T) {
	at := []int{0, 0, 0, 100, 200, 300, 400, 500, 600, 520, 400, 300, 400, 500, 600, 700, 800, 900, 900, 900, 900, 900}
	r := run(8, []Want{{0, "before"}, {21, "final"}}, segment(len(at), positions(at...)))
	highest := 0
	for _, f := range frames(r) {
		if highest-at[f] >= 150 {
			return
		}
		highest = max(highest, at[f])
	}
	t.Fatalf("frames %v do not show the way back", frames(r))
}

func TestSpinnerIsNoEvent(t *testing.T) {
	var at []int
	for i := range 48 {
		at = append(at, []int{0, 300, 600, 300}[i%4])
	}
	for _, p := range run(8, []Want{{0, "before"}, {47, "final"}}, segment(48, positions(at...))).Picks {
		if slices.Contains(p.Reasons, ReturnCandidate) || slices.Contains(p.Reasons, Excursion) {
			t.Errorf("frame %d of a spinner is labelled %v", p.Frame, p.Reasons)
		}
	}
}

// lossy is a motion of which the recorder got only some frames: positions at the given times in ms.
func lossy(at func(ms int) int, times ...int) Input {
	var where []int
	for _, t := range times {
		where = append(where, at(t))
	}
	in := segment(len(times), positions(where...))
	for _, t := range times {
		in.Times = append(in.Times, int64(t)*1000)
	}
	return in
}

func labelled(in Input) (all []Pick) {
	n := len(in.Frames)
	for _, p := range run(8, []Want{{0, "before"}, {n - 1, "final"}}, in).Picks {
		if slices.Contains(p.Reasons, ReturnCandidate) || slices.Contains(p.Reasons, Excursion) {
			all = append(all, p)
		}
	}
	return all
}

// Lost frames make large steps of an even motion, which say nothing about it.
func TestAMotionWithLostFramesIsNoEvent(t *testing.T) {
	linear := func(ms int) int { return min(900, 2*max(0, ms-100)) }
	times := []int{0, 100, 117, 133, 150, 217, 233, 300, 317, 333, 350, 366, 466, 550, 700}
	if got := labelled(lossy(linear, times...)); len(got) > 0 {
		t.Errorf("labelled %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		times, at := []int{0, 100}, 100
		for at < 700 {
			at += 17 * rapid.IntRange(1, 6).Draw(t, "interval")
			times = append(times, at)
		}
		if got := labelled(lossy(linear, times...)); len(got) > 0 {
			t.Fatalf("labelled %v of a motion seen at %v", got, times)
		}
	})
}

// Where nothing changes no frame is sent: the step into a short state comes after a long time.
func TestAShortStateAfterALongRestIsAnEvent(t *testing.T) {
	other := func(ms int) int {
		switch {
		case ms < 2000:
			return 0
		case ms < 2060:
			return 900
		}
		return 2000
	}
	if got := labelled(lossy(other, 0, 2000, 2060, 4000)); len(got) != 1 || got[0].Frame != 1 {
		t.Errorf("labelled %v", got)
	}
}

func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var segments []Input
		next := 0
		for range rapid.IntRange(1, 3).Draw(t, "segments") {
			at := rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 20).Draw(t, "positions")
			in := Input{Regions: []Region{positions(at...)}}
			for range at {
				in.Frames = append(in.Frames, next)
				next++
			}
			segments = append(segments, in)
		}
		limit := rapid.IntRange(3, 12).Draw(t, "limit")
		r := run(limit, []Want{{0, "before"}, {next - 1, "final"}}, segments...)
		got := frames(r)
		if len(got) == 0 || len(got) > limit || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("frames %v, limit %d", got, limit)
		}
		if got[0] < 0 || got[len(got)-1] >= next {
			t.Fatalf("frames %v of %d", got, next)
		}
	})
}

func TestMatrixSharesStates(t *testing.T) {
	m := NewMatrix([]int32{0, 0, 1}, 2)
	m.Set(0, 1, 1<<20)
	if m.At(0, 1) != 0 || m.At(1, 2) != 1<<16-1 || m.Max() != 1<<16-1 {
		t.Fatalf("got %d %d %d", m.At(0, 1), m.At(1, 2), m.Max())
	}
}

package visual_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/visual"
	"github.com/krometrail/krometrail/visual/visualtest"
)

// cadence says which frames of an even 60 Hz sequence a recorder got, and when it believes they were shown.
type cadence struct {
	name string
	// drop is the probability, in percent, that a run of 1 to longest frames is lost after a kept one.
	drop, longest int
	// jitter is by how much a time may be off, in ms.
	jitter int
}

func cadences() []cadence {
	return []cadence{
		{"every frame, times off", 0, 0, 5},
		{"every second or third", 100, 2, 0},
		{"few lost", 15, 4, 2},
		{"many lost", 50, 6, 4},
		{"hardly any", 80, 12, 6},
	}
}

// captured keeps the frames of s that a recorder with this cadence got. It is decided by the seed alone.
func (c cadence) captured(s *visualtest.Sequence) visual.Sequence {
	r := rand.New(rand.NewPCG(s.Spec.Seed, uint64(c.drop*100+c.longest)))
	var frames []visual.Frame
	for i := 0; i < len(s.Frames); i++ {
		f := s.Frames[i]
		t := f.Time
		if c.jitter > 0 {
			t += time.Duration(r.IntN(2*c.jitter*1000+1)-c.jitter*1000) * time.Microsecond
		}
		if n := len(frames); n > 0 {
			t = max(t, frames[n-1].Time)
		}
		frames = append(frames, visual.Frame{FrameMeta: visual.FrameMeta{ID: visual.FrameID(f.ID), Time: max(0, t)}, Data: f.JPEG})
		if c.longest > 0 && r.IntN(100) < c.drop {
			i += 1 + r.IntN(c.longest)
		}
	}
	return visual.Sequence{Source: visual.Slice(frames), Anchor: visual.At(s.AnchorTime, "action")}
}

// steady are the controls in which something moves and never turns back.
func steady() []visualtest.Kind {
	return []visualtest.Kind{visualtest.PanelControl, visualtest.ScrollControl, visualtest.SpinnerControl}
}

// labelsOf counts the event labels of the sequence at every cadence.
func labelsOf(tb testing.TB, s *visualtest.Sequence) map[string]int {
	tb.Helper()
	found := map[string]int{}
	for _, c := range cadences() {
		// A turning thing of which most frames are missing does look as if it came back.
		if s.Spec.Kind == visualtest.SpinnerControl && c.drop > 50 {
			continue
		}
		a, err := visual.Analyze(tb.Context(), c.captured(s), visual.Options{Workers: 1})
		require.NoError(tb, err)
		if n := countEvents(tb, a); n > 0 {
			found[c.name] = n
		}
	}
	return found
}

// TestAMotionOfWhichFramesAreMissingIsNoEvent: a recorder that loses frames makes an even motion look like jumps.
func TestAMotionOfWhichFramesAreMissingIsNoEvent(t *testing.T) {
	for i, kind := range steady() {
		s := generate(t, visualtest.Spec{Kind: kind, Seed: uint64(940_000 + i)}, 640, 360)
		assert.Empty(t, labelsOf(t, s), kind)
	}
}

// BenchmarkUnevenControls counts event labels on steady motion at uneven cadences.
func BenchmarkUnevenControls(b *testing.B) {
	for b.Loop() {
		sequences, events := 0, 0
		for i := range 18 {
			spec := visualtest.Spec{Kind: steady()[i%3], Seed: uint64(950_000 + i)}
			found := labelsOf(b, generate(b, spec, 1280, 720))
			sequences += len(cadences())
			for name, n := range found {
				b.Logf("%s, %s: %d event labels", spec, name, n)
				events += n
			}
		}
		b.ReportMetric(float64(sequences), "sequences")
		b.ReportMetric(float64(events), "false-events")
		if events > 0 {
			b.Errorf("%d event labels on steady motion, want none", events)
		}
	}
}

package visualtest

import (
	"fmt"
	"hash/fnv"
	"image"
	"testing"
)

// Truth does not depend on encoding, so these tests draw without it and can afford every combination.

func newTestScript(t *testing.T, spec Spec) *script {
	t.Helper()
	s, err := newScript(spec, Options{Width: 640, Height: 360}.withDefaults())
	if err != nil {
		t.Fatalf("script %s: %v", spec, err)
	}
	return s
}

func (s *script) raw(i int) *image.RGBA {
	dst := image.NewRGBA(s.page.bounds)
	s.paint(dst, i)
	return dst
}

func TestEveryDefectCanBeSeenForAsLongAsTheTruthSays(t *testing.T) {
	for _, spec := range DefectSuite(1000, 1) {
		s := newTestScript(t, spec)
		before := part(s.raw(s.anchor-1), s.where)
		wrong := 0
		for i, defect := range s.defect {
			if !defect {
				continue
			}
			wrong++
			if i < s.anchor {
				t.Errorf("%s: wrong state at frame %d before the anchor", spec, i)
			}
			if ChangedBetween(before, part(s.raw(i), s.where)).Count() == 0 {
				t.Errorf("%s: frame %d does not show the defect", spec, i)
			}
		}
		if spec.Kind != Reversal && wrong != spec.Duration {
			t.Errorf("%s: wrong state lasts %d frames", spec, wrong)
		}
	}
}

func TestReversalsGoBackAsFarAndLongAsSaid(t *testing.T) {
	for seed := range uint64(60) {
		spec := Spec{Kind: Reversal, Distractor: PanelAndSpinner, Duration: 1 + int(seed%3), Seed: seed}
		s := newTestScript(t, spec)
		most, depth, back := 0, 0, 0
		for i, p := range s.position {
			most = max(most, p)
			depth = max(depth, most-p)
			if i > 0 && p < s.position[i-1] {
				back++
			}
		}
		if depth < 20 || depth > 80 || back < 3 || back > 7 {
			t.Errorf("%s: goes back %d px in %d frames", spec, depth, back)
		}
		if last := s.position[len(s.position)-1]; last != most || last < 120 {
			t.Errorf("%s: ends at %d of %d px", spec, last, most)
		}
	}
}

func TestAboutAQuarterOfThePagesIsDark(t *testing.T) {
	dark := 0
	for seed := range uint64(400) {
		if newTheme(Spec{Kind: StaticControl, Seed: seed}.random("page")).dark {
			dark++
		}
	}
	if dark < 70 || dark > 130 {
		t.Errorf("%d of 400 pages are dark", dark)
	}
}

// The hash pins the drawn pictures; JPEG bytes may differ between versions of Go. A change of it makes figures that
// were measured before incomparable, so change it on purpose only.
func TestDrawnPicturesStayTheSame(t *testing.T) {
	h := fnv.New64a()
	for i, k := range append(Defects(), Controls()...) {
		spec := Spec{Kind: k, Distractor: None, Seed: uint64(i)}
		if k.IsDefect() {
			spec.Duration, spec.Distractor = 1+i%3, Distractors()[i%5]
		}
		s := newTestScript(t, spec)
		for _, n := range []int{0, 20, 33, 59} {
			h.Write(s.raw(n).Pix)
		}
		seq := Sequence{Spec: spec, Frames: make([]Frame, s.frames), Anchor: s.anchor}
		seq.tellTime()
		fmt.Fprint(h, seq.Anchor, seq.AnchorTime)
	}
	if got, want := fmt.Sprintf("%016x", h.Sum64()), "6a1ec3a15f8b9e0b"; got != want {
		t.Errorf("hash of the drawn pictures = %s, want %s", got, want)
	}
}

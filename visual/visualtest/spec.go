package visualtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Kind says what happens in a sequence: a defect, or a control in which nothing is wrong.
type Kind string

// The defects. All but Reversal are a wrong state that lasts Spec.Duration frames.
const (
	// Reversal: an element on its way goes back 20 to 80 px (at scale 1) before it arrives.
	Reversal Kind = "reversal"
	// Flicker: an element is missing.
	Flicker Kind = "flicker"
	// Flash: an element is covered by a colour; in a quarter of the sequences the whole page is white.
	Flash Kind = "flash"
	// TextSwap: a text shows another one, and then the first again or a third.
	TextSwap Kind = "text-swap"
	// LayoutShift: everything below some line of the content is moved by 8 to 60 px (at scale 1).
	LayoutShift Kind = "layout-shift"
	// Teleport: a ball that travels over a canvas is somewhere else.
	Teleport Kind = "teleport"
)

// The controls.
const (
	// CaretControl: only a text caret blinks.
	CaretControl Kind = "control-caret"
	// PanelControl: a panel slides in without turning back.
	PanelControl Kind = "control-panel"
	// ScrollControl: the content scrolls without turning back.
	ScrollControl Kind = "control-scroll"
	// NoiseControl: a still page under Gaussian noise of sigma 2 on each channel.
	NoiseControl Kind = "control-noise"
	// QualityControl: a still page encoded with a JPEG quality that wanders between 72 and 88.
	QualityControl Kind = "control-quality"
	// ResampleControl: a still page resampled by up to 1/8 px in each direction, anew for each frame.
	ResampleControl Kind = "control-resample"
	// SpinnerControl: only a spinner turns.
	SpinnerControl Kind = "control-spinner"
	// StaticControl: nothing changes, all frames have equal bytes.
	StaticControl Kind = "control-static"
)

// Defects returns the defect kinds in a fixed order.
func Defects() []Kind {
	return []Kind{Reversal, Flicker, Flash, TextSwap, LayoutShift, Teleport}
}

// Controls returns the control kinds in a fixed order.
func Controls() []Kind {
	return []Kind{
		CaretControl, PanelControl, ScrollControl, NoiseControl, QualityControl,
		ResampleControl, SpinnerControl, StaticControl,
	}
}

// IsDefect reports whether k is one of Defects.
func (k Kind) IsDefect() bool { return slices.Contains(Defects(), k) }

// IsControl reports whether k is one of Controls.
func (k Kind) IsControl() bool { return slices.Contains(Controls(), k) }

// Distractor is harmless change that goes on beside a defect. The element in which the defect happens is never
// covered by it.
type Distractor string

// The distractors.
const (
	None            Distractor = "none"
	Spinner         Distractor = "spinner"
	Caret           Distractor = "caret"
	Panel           Distractor = "panel"
	PanelAndSpinner Distractor = "panel+spinner"
)

// Distractors returns all distractors in a fixed order.
func Distractors() []Distractor { return []Distractor{None, Spinner, Caret, Panel, PanelAndSpinner} }

// Spec names one sequence. It is comparable and complete: with Options it decides every byte.
type Spec struct {
	Kind Kind
	// Distractor must be None or "" for controls.
	Distractor Distractor
	// Duration counts the frames of the wrong state, 1 to 3 (17, 33, 50 ms); 0 for controls. A Reversal goes back
	// for longer than that: 3 or 4 frames for 1, 5 for 2, 6 or 7 for 3.
	Duration int
	Seed     uint64
}

// String names the sequence, for example "flash-2f-caret-s17".
func (s Spec) String() string {
	if s.Kind.IsControl() {
		return fmt.Sprintf("%s-s%d", s.Kind, s.Seed)
	}
	return fmt.Sprintf("%s-%df-%s-s%d", s.Kind, s.Duration, s.Distractor, s.Seed)
}

func (s Spec) validate() error {
	switch {
	case s.Kind.IsControl() && (s.Duration != 0 || s.Distractor != None):
		return fmt.Errorf("visualtest: control %s takes no duration and no distractor", s.Kind)
	case s.Kind.IsControl():
		return nil
	case !s.Kind.IsDefect():
		return fmt.Errorf("visualtest: unknown kind %q", s.Kind)
	case s.Duration < 1 || s.Duration > 3:
		return fmt.Errorf("visualtest: duration %d is not 1, 2 or 3 frames", s.Duration)
	case !slices.Contains(Distractors(), s.Distractor):
		return fmt.Errorf("visualtest: unknown distractor %q", s.Distractor)
	}
	return nil
}

// random returns an independent stream of the sequence. Streams by purpose keep the page of a spec the same when
// the drawing of something else starts to ask for more numbers.
func (s Spec) random(purpose string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, s.String(), "|", purpose)
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// DefectSuite returns every combination of defect, duration and distractor with perCell different seeds each,
// 90 x perCell specs. Seeds count up from firstSeed and no two specs share one.
func DefectSuite(firstSeed uint64, perCell int) []Spec {
	var specs []Spec
	for range perCell {
		for _, k := range Defects() {
			for d := 1; d <= 3; d++ {
				for _, x := range Distractors() {
					specs = append(specs, Spec{Kind: k, Distractor: x, Duration: d, Seed: firstSeed + uint64(len(specs))})
				}
			}
		}
	}
	return specs
}

// ControlSuite returns perKind specs of every control, with seeds that count up from firstSeed.
func ControlSuite(firstSeed uint64, perKind int) []Spec {
	var specs []Spec
	for range perKind {
		for _, k := range Controls() {
			specs = append(specs, Spec{Kind: k, Distractor: None, Seed: firstSeed + uint64(len(specs))})
		}
	}
	return specs
}

package visualtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"testing"
	"time"

	"github.com/krometrail/krometrail/visual/visualtest"
)

var small = visualtest.Options{Width: 640, Height: 360}

func generate(t testing.TB, spec visualtest.Spec, opts visualtest.Options) *visualtest.Sequence {
	t.Helper()
	seq, err := visualtest.Generate(t.Context(), spec, opts)
	if err != nil {
		t.Fatalf("generate %s: %v", spec, err)
	}
	return seq
}

func TestSameSpecGivesSameBytesForAnyNumberOfWorkers(t *testing.T) {
	specs := []visualtest.Spec{
		{Kind: visualtest.Reversal, Distractor: visualtest.PanelAndSpinner, Duration: 3, Seed: 5},
		{Kind: visualtest.NoiseControl, Seed: 6},
		{Kind: visualtest.QualityControl, Seed: 7},
		{Kind: visualtest.ResampleControl, Seed: 8},
	}
	for _, spec := range specs {
		one, three := small, small
		one.Workers, three.Workers = 1, 3
		a, b := generate(t, spec, one), generate(t, spec, three)
		for i := range a.Frames {
			if !bytes.Equal(a.Frames[i].JPEG, b.Frames[i].JPEG) || a.Frames[i].Time != b.Frames[i].Time {
				t.Fatalf("%s: frame %d differs between 1 and 3 workers", spec, i)
			}
			if a.Truth[i].Changed.Count() != b.Truth[i].Changed.Count() || a.Truth[i].Defect != b.Truth[i].Defect {
				t.Fatalf("%s: truth of frame %d differs between 1 and 3 workers", spec, i)
			}
		}
	}
}

func TestFramesAreWhatARecorderWouldKeep(t *testing.T) {
	seq := generate(t, visualtest.Spec{Kind: visualtest.Flicker, Distractor: visualtest.Spinner, Duration: 1, Seed: 3}, small)
	if len(seq.Frames) != 60 || seq.Anchor < 6 || seq.Anchor > 11 {
		t.Fatalf("%d frames, anchor %d; want 60, 6..11", len(seq.Frames), seq.Anchor)
	}
	if seq.AnchorTime <= seq.Frames[seq.Anchor-1].Time || seq.AnchorTime >= seq.Frames[seq.Anchor].Time {
		t.Errorf("anchor time %v is not between its frames", seq.AnchorTime)
	}
	for i, f := range seq.Frames {
		img, err := jpeg.Decode(bytes.NewReader(f.JPEG))
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		ycc, ok := img.(*image.YCbCr)
		if !ok || ycc.SubsampleRatio != image.YCbCrSubsampleRatio420 || img.Bounds() != image.Rect(0, 0, 640, 360) {
			t.Fatalf("frame %d is %T %v, want 4:2:0 of 640x360", i, img, img.Bounds())
		}
		if i == 0 {
			continue
		}
		if d := f.Time - seq.Frames[i-1].Time; d < 16700*time.Microsecond || d > 18700*time.Microsecond {
			t.Errorf("frame %d comes after %v", i, d)
		}
	}
}

func TestControlsHaveNoDefectAndStillOnesNoChange(t *testing.T) {
	moving := map[visualtest.Kind]bool{
		visualtest.CaretControl: true, visualtest.PanelControl: true,
		visualtest.ScrollControl: true, visualtest.SpinnerControl: true,
	}
	for _, spec := range visualtest.ControlSuite(50, 1) {
		seq := generate(t, spec, small)
		all := make([]int, len(seq.Frames))
		for i := range all {
			all[i] = i
		}
		if seq.Hit(all) || !seq.Where.Empty() {
			t.Errorf("%s: has a defect", spec)
		}
		pairs := seq.ScorePairs(func(int) bool { return true })
		if pairs.Pairs != 59 || (pairs.Changed > 0) != moving[spec.Kind] {
			t.Errorf("%s: pairs %+v", spec, pairs)
		}
		distinct := map[string]bool{}
		for _, f := range seq.Frames {
			distinct[string(f.JPEG)] = true
		}
		if (len(distinct) == 1) != (spec.Kind == visualtest.StaticControl) {
			t.Errorf("%s: %d distinct pictures", spec, len(distinct))
		}
	}
}

func TestPicturesSurviveEncoding(t *testing.T) {
	for _, opts := range []visualtest.Options{{Width: 641, Height: 361}, {Width: 1300, Height: 720, Scale: 2}} {
		seq := generate(t, visualtest.Spec{Kind: visualtest.StaticControl, Seed: 8}, opts)
		img, err := jpeg.Decode(bytes.NewReader(seq.Frames[0].JPEG))
		if err != nil {
			t.Fatal(err)
		}
		raw := seq.Raw(0)
		sum := 0
		for y := range opts.Height {
			for x := range opts.Width {
				r, _, b, _ := img.At(x, y).RGBA()
				want := raw.RGBAAt(x, y)
				sum += distance(r>>8, want.R) + distance(b>>8, want.B)
			}
		}
		if mean := float64(sum) / float64(2*opts.Width*opts.Height); mean > 3.5 {
			t.Errorf("%+v: decoded picture differs by %.2f in the mean", opts, mean)
		}
	}
}

func distance(a uint32, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

func TestNoiseHasSigmaTwo(t *testing.T) {
	seq := generate(t, visualtest.Spec{Kind: visualtest.NoiseControl, Seed: 9}, small)
	// Luma mixes three independent channels, which leaves sigma 2 x 0.67, and quantisation takes or adds some. The
	// disturbance is stronger than rounding and weaker than anything that could be seen.
	a, b := decodeLuma(t, seq.Frames[3]), decodeLuma(t, seq.Frames[4])
	var sum float64
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	if v := sum / float64(len(a)) / 2; v < 0.4 || v > 4 {
		t.Errorf("variance of decoded luma noise = %.2f", v)
	}
}

func decodeLuma(t *testing.T, f visualtest.Frame) []byte {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(f.JPEG))
	if err != nil {
		t.Fatal(err)
	}
	ycc, ok := img.(*image.YCbCr)
	if !ok {
		t.Fatalf("frame is %T", img)
	}
	return ycc.Y
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	good := visualtest.Spec{Kind: visualtest.Flash, Distractor: visualtest.None, Duration: 1}
	for name, c := range map[string]struct {
		spec visualtest.Spec
		opts visualtest.Options
	}{
		"kind":                    {spec: visualtest.Spec{Kind: "flood", Duration: 1}},
		"duration":                {spec: visualtest.Spec{Kind: visualtest.Flash, Duration: 4}},
		"distractor":              {spec: visualtest.Spec{Kind: visualtest.Flash, Duration: 1, Distractor: "fly"}},
		"control with duration":   {spec: visualtest.Spec{Kind: visualtest.StaticControl, Duration: 1}},
		"control with distractor": {spec: visualtest.Spec{Kind: visualtest.StaticControl, Distractor: visualtest.Caret}},
		"too small":               {spec: good, opts: visualtest.Options{Width: 639, Height: 360}},
		"too small for scale":     {spec: good, opts: visualtest.Options{Width: 1000, Height: 800, Scale: 2}},
		"too large":               {spec: good, opts: visualtest.Options{Width: 5000, Height: 800}},
		"scale":                   {spec: good, opts: visualtest.Options{Scale: 4}},
		"frames":                  {spec: good, opts: visualtest.Options{Frames: 59}},
	} {
		if _, err := visualtest.Generate(t.Context(), c.spec, c.opts); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestGenerationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := fmt.Errorf("enough")
	cancel(why)
	if _, err := visualtest.Generate(ctx, visualtest.Spec{Kind: visualtest.StaticControl}, small); !errors.Is(err, why) {
		t.Errorf("error = %v, want the cause", err)
	}
}

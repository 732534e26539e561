package session_test

import (
	"bytes"
	"image"
	_ "image/jpeg"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

// colour tells the dominant channel at the middle of a frame: red, green, blue or other.
func (b *bench) colour(t *testing.T, f record.Frame) string {
	t.Helper()
	raw, err := b.store.Pixels(t.Context(), f)
	require.NoError(t, err)
	img, _, err := image.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	size := img.Bounds()
	r, g, bl, _ := img.At(size.Dx()/2, size.Dy()/2).RGBA()
	switch {
	case r > 0xC000 && g < 0x4000 && bl < 0x4000:
		return "red"
	case r < 0x4000 && g > 0x5000 && bl < 0x4000:
		return "green"
	case r < 0x4000 && g < 0x4000 && bl > 0xC000:
		return "blue"
	}
	return "other"
}

// A state that is shown for 100 ms after a click is in the recorded frames, between the one before and the one after,
// and presented after the click was sent.
func TestABriefStateAfterAClickIsRecorded(t *testing.T) {
	b := newBench(t)
	status := b.start(t, page.StartRequest{URL: b.site.page(`<body style="background:blue"><script>
		onclick = () => { document.body.style.background = 'red'; setTimeout(() => document.body.style.background = 'green', 100) }
	</script>`)})
	target := status.Selected
	eventually(t, "the baseline is recorded", func() bool {
		frames := b.frames(t, target)
		return len(frames) > 0 && b.colour(t, frames[len(frames)-1]) == "blue"
	})
	s, err := b.Page(target)
	require.NoError(t, err)
	sent := s.Now()
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		require.NoError(t, s.Send(t.Context(), "Input.dispatchMouseEvent", map[string]any{"type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1}, nil))
	}
	var colours []string
	eventually(t, "the last state is recorded", func() bool {
		frames := b.frames(t, target)
		colours = nil
		for _, f := range frames {
			if c := b.colour(t, f); len(colours) == 0 || colours[len(colours)-1] != c {
				colours = append(colours, c)
			}
		}
		return colours[len(colours)-1] == "green"
	})
	assert.Equal(t, []string{"blue", "red", "green"}, colours[len(colours)-3:])
	for _, f := range b.frames(t, target) {
		if b.colour(t, f) == "red" {
			assert.Greater(t, f.Time(), sent)
		}
	}
	carried, ok, err := b.store.CarryIn(t.Context(), status.SessionID, target, sent)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "blue", b.colour(t, carried))
	assert.Empty(t, b.gaps(t, target, record.GapHidden), "a quiet page is not a gap")
}

func TestNoUsableSandboxIsNamed(t *testing.T) {
	b := newBench(t)
	if off, _ := chrome.SandboxAuto.Resolve(); !off {
		t.Skip("the sandbox works for this user")
	}
	deps := b.deps
	deps.Sandbox = chrome.SandboxOn
	strict := session.New(deps)
	_, err := strict.Start(t.Context(), page.StartRequest{Profile: "temporary"})
	require.Equal(t, fault.BrowserLaunchFailed, fault.CodeOf(err))
	assert.Contains(t, err.Error(), chrome.CauseNoSandbox)
	assert.Contains(t, fault.From(err).Recovery, "KROMETRAIL_SANDBOX")
}

func TestASessionBeginsWithAClockSample(t *testing.T) {
	b, _, _ := attachScripted(t, nil)
	session, _, err := b.Current()
	require.NoError(t, err)
	require.NoError(t, b.FlushCapture(t.Context()))
	samples, err := b.store.ClockSamples(t.Context(), session)
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	assert.Positive(t, samples[0].WallNS)
	assert.GreaterOrEqual(t, samples[0].AtNS, clock.SessionTime(0))
}

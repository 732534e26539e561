package realtest

import (
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
)

// look is what a bundle says, with the recorded frames of the storyboard's tiles.
type look struct {
	Measure   *evidence.Measure `json:"measure"`
	Artifacts []struct {
		Kind  string          `json:"kind"`
		Tiles []evidence.Tile `json:"tiles"`
	} `json:"artifacts"`
	Quality evidence.Quality `json:"capture_quality"`

	tiles  []evidence.Tile
	frames []image.Image
	answer answer
}

// bundle asks what the page showed and loads the frames that the storyboard shows.
func (p *program) bundle(t testing.TB, arguments args) look {
	t.Helper()
	a := p.do(t, "temporal_debug_bundle", arguments)
	l := look{answer: a}
	a.result(t, &l)
	require.NotEmpty(t, l.Artifacts, a.Text)
	require.Equal(t, "storyboard", l.Artifacts[0].Kind)
	l.tiles = l.Artifacts[0].Tiles
	var names []id.Frame
	for _, tile := range l.tiles {
		names = append(names, tile.FrameID)
	}
	f := p.do(t, "fetch_source_frames", args{"frame_ids": names, "inline_images": false})
	require.Len(t, f.Envelope.Resources, len(names))
	for _, r := range f.Envelope.Resources {
		l.frames = append(l.frames, decode(t, p.read(t, r.URI)))
	}
	return l
}

// near counts the pixels of r that are close to a colour.
func near(img image.Image, r image.Rectangle, want [3]int) int {
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			red, green, blue, _ := img.At(x, y).RGBA()
			if within(red, want[0]) && within(green, want[1]) && within(blue, want[2]) {
				n++
			}
		}
	}
	return n
}

func within(have uint32, want int) bool {
	d := int(have>>8) - want
	return max(d, -d) < 14
}

// left is the leftmost pixel of a colour, or -1.
func left(img image.Image, want [3]int) int {
	b := img.Bounds()
	for x := b.Min.X; x < b.Max.X; x++ {
		if near(img, image.Rect(x, b.Min.Y, x+1, b.Max.Y), want) > 20 {
			return x
		}
	}
	return -1
}

// covered reports whether a changed region holds the point.
func (l look) covered(x, y int) bool {
	for _, r := range l.Measure.Regions {
		if image.Pt(x, y).In(image.Rect(r.X, r.Y, r.X+r.Width, r.Y+r.Height)) {
			return true
		}
	}
	return false
}

// labelled lists the tiles that are shown for an event.
func (l look) labelled() (all []evidence.Tile) {
	for _, tile := range l.tiles {
		if reasons := strings.Join(tile.Reasons, " "); strings.Contains(reasons, "return_candidate") || strings.Contains(reasons, "excursion") {
			all = append(all, tile)
		}
	}
	return all
}

var (
	red   = [3]int{255, 153, 153}
	pale  = [3]int{238, 238, 255}
	late  = [3]int{255, 238, 153}
	disc  = [3]int{51, 102, 204}
	green = [3]int{204, 255, 204}
)

// shows reports whether some tile has at least n pixels of the colour in r.
func (l look) shows(r image.Rectangle, colour [3]int, n int) bool {
	for _, f := range l.frames {
		if near(f, r.Intersect(f.Bounds()), colour) >= n {
			return true
		}
	}
	return false
}

// reversed reports whether the panel stands further left in a later tile.
func (l look) reversed(least int) bool {
	far := -1
	for _, f := range l.frames {
		x := left(f, pale)
		if x >= 0 && far-x >= least {
			return true
		}
		far = max(far, x)
	}
	return false
}

// states counts how often a part of the page looks different from the tile before.
func (l look) states(r image.Rectangle) int {
	n := 1
	for i := 1; i < len(l.frames); i++ {
		different := 0
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				a, _, _, _ := l.frames[i-1].At(x, y).RGBA()
				b, _, _, _ := l.frames[i].At(x, y).RGBA()
				if d := int(a>>8) - int(b>>8); max(d, -d) > 60 {
					different++
				}
			}
		}
		if different > 12 {
			n++
		}
	}
	return n
}

func TestDefectsAreInThePictures(t *testing.T) {
	p := start(t)
	all := image.Rect(0, 0, 1280, 720)
	for _, c := range []struct {
		page, button string
		wrong        func(look) bool
		x, y         int // a point that changed
	}{
		{"flash", "Save", func(l look) bool { return l.shows(all, red, 5000) }, 200, 160},
		{"reversal", "Move", func(l look) bool { return l.reversed(20) }, 300, 160},
		{"layout-jump", "Load", func(l look) bool { return l.shows(all, late, 20000) }, 200, 200},
		{"canvas-teleport", "Play", func(l look) bool { return l.shows(image.Rect(0, 300, 700, 480), disc, 300) }, 400, 400},
		{"text-swap", "Refresh", func(l look) bool { return l.states(image.Rect(30, 100, 490, 220)) >= 3 }, 180, 160},
	} {
		t.Run(c.page, func(t *testing.T) {
			l := p.provoke(t, c.page, c.button, c.wrong)
			assert.True(t, c.wrong(l), "the wrong state is in a tile\n%s", l.answer.Text)
			assert.True(t, l.covered(c.x, c.y), "a region covers it\n%s", l.answer.Text)
			assert.LessOrEqual(t, len(l.tiles), 8)
		})
	}
}

// provoke acts on a page until the browser really painted the wrong state, and returns what the storyboard shows. A
// busy machine skips frames, and what was never painted cannot be found.
func (p *program) provoke(t *testing.T, page, button string, wrong func(look) bool) look {
	t.Helper()
	for range 4 {
		p.do(t, "open_page", args{"url": p.site.URL + "/" + page + ".html"})
		p.do(t, "click", args{"query": "role=button name=" + button})
		p.do(t, "wait", args{"text": "PASS"})
		l := p.bundle(t, args{"after_ms": 900})
		if wrong(look{frames: p.recorded(t, l.answer.Envelope.RangeHandle)}) {
			return l
		}
	}
	t.Skip("the browser painted no wrong state")
	return look{}
}

// recorded loads all frames of a range.
func (p *program) recorded(t *testing.T, handle string) (frames []image.Image) {
	t.Helper()
	f := p.do(t, "fetch_source_frames", args{"range_handle": handle, "max_frames": 64, "inline_images": false})
	for _, r := range f.Envelope.Resources {
		frames = append(frames, decode(t, p.read(t, r.URI)))
	}
	return frames
}

func TestControlsGetNoEventLabel(t *testing.T) {
	p := start(t)
	t.Run("smooth", func(t *testing.T) {
		for range 4 {
			p.do(t, "open_page", args{"url": p.site.URL + "/smooth-control.html"})
			p.do(t, "click", args{"query": "role=button name=Open"})
			p.do(t, "wait", args{"text": "PASS"})
			l := p.bundle(t, args{"after_ms": 900})
			// A motion of which frames were skipped is not smooth on the frames.
			if c := l.Quality.Cadence; c == nil || c.Max > 60 {
				continue
			}
			assert.Empty(t, l.labelled(), l.answer.Text)
			assert.NotEmpty(t, l.Measure.Regions)
			return
		}
		t.Skip("the browser painted the motion unevenly")
	})
	t.Run("caret", func(t *testing.T) {
		p.do(t, "open_page", args{"url": p.site.URL + "/caret-control.html"})
		p.do(t, "click", args{"query": "label=Name"})
		p.do(t, "wait", args{"elapsed_ms": 2500})
		a := p.ask(t, "measure_change", args{})
		var focus evidence.Measure
		a.result(t, &focus)
		a = p.do(t, "temporal_debug_bundle", args{"last_ms": 1800})
		var l look
		a.result(t, &l)
		if l.Measure == nil {
			return // the caret did not blink in frames
		}
		for _, r := range l.Measure.Regions {
			assert.LessOrEqual(t, r.Width*r.Height, 48*64, "only the caret changes\n%s", a.Text)
		}
	})
	t.Run("quiet page keeps its baseline", func(t *testing.T) {
		p.do(t, "open_page", args{"url": p.site.URL + "/quiet.html"})
		p.do(t, "wait", args{"elapsed_ms": 2000})
		p.do(t, "click", args{"query": "role=button name=Change"})
		p.do(t, "wait", args{"text": "PASS"})
		l := p.bundle(t, args{"after_ms": 500})
		assert.Positive(t, near(l.frames[0], l.frames[0].Bounds(), pale), "the baseline is from before the quiet")
		assert.Positive(t, near(l.frames[len(l.frames)-1], l.frames[0].Bounds(), green))
		for _, w := range l.answer.Envelope.Warnings {
			assert.NotEqual(t, "baseline_unavailable", string(w.Code))
		}
	})
}

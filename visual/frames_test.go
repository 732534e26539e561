package visual_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/visual"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const step = 20 * time.Millisecond

// page draws a little page with integers only: stripes of "text", one box per
// given place.
func page(w, h int, dark bool, boxes ...image.Rectangle) *image.RGBA {
	paper, ink := color.RGBA{250, 250, 250, 255}, color.RGBA{30, 32, 40, 255}
	if dark {
		paper, ink = ink, paper
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	for y := 12; y+6 < h; y += 16 {
		for x := 10; x+5 < w-10; x += 7 {
			if (x*31+y*17)%5 < 3 {
				draw.Draw(img, image.Rect(x, y, x+5, y+6), image.NewUniform(ink), image.Point{}, draw.Src)
			}
		}
	}
	for i, b := range boxes {
		c := color.RGBA{uint8(200 - 60*i), uint8(40 + 80*i), 60, 255}
		draw.Draw(img, b, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return img
}

// imageFrame is a decoded frame at n steps.
func imageFrame(n int, img image.Image) visual.Frame {
	return visual.Frame{FrameMeta: visual.FrameMeta{ID: visual.FrameID(fmt.Sprintf("f-%d", n)), Time: time.Duration(n) * step}, Image: img}
}

func pngFrame(t testing.TB, n int, img image.Image) visual.Frame {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	f := imageFrame(n, nil)
	f.Data, f.Image = b.Bytes(), nil
	return f
}

func jpegFrame(t testing.TB, n int, img image.Image) visual.Frame {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}))
	f := imageFrame(n, nil)
	f.Data, f.Image = b.Bytes(), nil
	return f
}

// blinkFrames is a page on which a box is missing in frames 6 and 7 of 12 and
// another one moves from frame 3 on.
func blinkFrames(w, h int, dark bool) []visual.Frame {
	var out []visual.Frame
	for n := range 12 {
		moving := image.Rect(20+6*max(0, n-3), 20, 60+6*max(0, n-3), 40)
		boxes := []image.Rectangle{moving}
		if n != 6 && n != 7 {
			boxes = append(boxes, image.Rect(w/2, h/2, w/2+50, h/2+30))
		}
		out = append(out, imageFrame(n, page(w, h, dark, boxes...)))
	}
	return out
}

func blink() visual.Sequence {
	return visual.Sequence{Source: visual.Slice(blinkFrames(320, 200, false)), Anchor: visual.At(2*step+step/2, "click")}
}

func analyze(t testing.TB, s visual.Sequence, o visual.Options) *visual.Analysis {
	t.Helper()
	a, err := visual.Analyze(context.Background(), s, o)
	require.NoError(t, err)
	return a
}

// artifacts draws every kind of picture.
func artifacts(t testing.TB, a *visual.Analysis) map[string]*visual.Artifact {
	t.Helper()
	ctx := context.Background()
	out := make(map[string]*visual.Artifact)
	keep := func(name string, art *visual.Artifact, err error) {
		require.NoError(t, err, name)
		out[name] = art
	}
	art, err := a.Storyboard(ctx, visual.StoryboardOptions{})
	keep("storyboard", art, err)
	art, err = a.DifferenceMap(ctx, visual.MapOptions{})
	keep("difference_map", art, err)
	art, err = a.MotionHistory(ctx, visual.MapOptions{})
	keep("motion_history", art, err)
	art, err = a.Orientation(ctx)
	keep("orientation", art, err)
	art, err = a.Filmstrip(ctx, visual.Region{Rect: image.Rect(-10, 10, 110, 60)}, visual.FilmstripOptions{})
	keep("filmstrip", art, err)
	return out
}

func chosenIDs(s visual.Selection) []visual.FrameID {
	var out []visual.FrameID
	for _, c := range s.Frames {
		out = append(out, c.Frame)
	}
	return out
}

// labelColor is the colour of the first label of a tile.
var labelColor = color.RGBA{0xf4, 0xf6, 0xf9, 0xff}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // recorded frames
	_ "image/png"  // artifacts
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// minShare is how much of a picture must have a colour for it to count as shown: a panel, not a fringe.
const minShare = 0.002

// tolerance is how far a channel may be off: JPEG at the recorder's quality stays well within it on flat areas.
const tolerance = 24

// seen looks for a colour in the exact frames around the last action, read as resources.
func (p *player) seen(ctx context.Context, hex string) error {
	a, err := p.must(ctx, "fetch_source_frames", []byte(`{"max_frames":64,"inline_images":false}`))
	if err != nil {
		return err
	}
	var listed struct {
		Resources []struct{ Role, URI string }
	}
	if err := json.Unmarshal(a.raw, &listed); err != nil {
		return err
	}
	var frames [][]byte
	for _, r := range listed.Resources {
		if !strings.Contains(r.URI, "/frames/") {
			continue
		}
		read, err := p.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI})
		if err != nil {
			return fmt.Errorf("%s: %w", r.URI, err)
		}
		for _, content := range read.Contents {
			frames = append(frames, content.Blob)
		}
	}
	return anyShows(frames, hex)
}

func (p *player) picture(hex string) error { return anyShows(p.last.images, hex) }

func anyShows(images [][]byte, hex string) error {
	var want color.RGBA
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &want.R, &want.G, &want.B); err != nil {
		return fmt.Errorf("%q is not #rrggbb", hex)
	}
	best := 0.0
	for _, data := range images {
		picture, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("a picture cannot be decoded: %w", err)
		}
		best = max(best, share(picture, want))
	}
	return expect(best >= minShare, "none of %d pictures shows %s; the nearest has %.2f %% of it", len(images), hex, 100*best)
}

// share is the part of the pixels that have the colour, within the tolerance.
func share(picture image.Image, want color.RGBA) float64 {
	bounds := picture.Bounds()
	hits := 0
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			if near(r, want.R) && near(g, want.G) && near(b, want.B) {
				hits++
			}
		}
	}
	return float64(hits) / float64(max(1, bounds.Dx()*bounds.Dy()))
}

func near(channel uint32, want uint8) bool {
	d := int(channel>>8) - int(want)
	return d >= -tolerance && d <= tolerance
}

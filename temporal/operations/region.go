package operations

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/visual"
)

// maxRatio bounds the terms of a scale, maxUnits the units a viewport is divided into to make it exact.
const (
	maxRatio = 1 << 16
	maxUnits = 64
	// maxCoordinate bounds declared areas.
	maxCoordinate = 1 << 20
)

// checkRegion refuses a request that names no region, several, or a contradictory one.
func checkRegion(r *evidence.FilmstripRequest) error {
	named := 0
	for _, set := range []bool{r.Rect != nil, r.Ref != "", r.Mask != ""} {
		if set {
			named++
		}
	}
	switch {
	case named != 1:
		return fault.Input("rect, ref, mask", "give exactly one of them")
	case r.FrameID != "" && r.Rect == nil:
		return fault.Input("frame_id", "goes with rect only")
	case r.Rect == nil:
		return nil
	case r.FrameID != "" && r.Rect.Space == evidence.SpaceViewport:
		return fault.Input("rect.space", "is viewport_css, but frame_id means pixels of that frame; give one of them")
	case r.FrameID == "" && r.Rect.Space == evidence.SpaceSource:
		return fault.Input("frame_id", "is needed with source_pixels")
	case r.Rect.Width <= 0 || r.Rect.Height <= 0:
		return fault.Input("rect", "must have a positive width and height")
	}
	for _, v := range []float64{r.Rect.X, r.Rect.Y, r.Rect.Width, r.Rect.Height} {
		if math.IsNaN(v) || math.Abs(v) > maxCoordinate {
			return fault.Input("rect", "lies outside every page")
		}
	}
	return nil
}

// place is a region made concrete: the epoch it is about and how the pictures are asked for.
type place struct {
	region  evidence.Region
	request artifact.Request
}

// locate turns what the caller named into pixels of one epoch.
func (o Operations) locate(r *evidence.FilmstripRequest, seq sequence.Sequence, box *evidence.Box) (place, error) {
	epoch := anchorEpoch(seq)
	if r.FrameID != "" {
		found, ok := epochOf(seq, r.FrameID)
		if !ok {
			return place{}, fault.Input("frame_id", "is no frame of this range; list_source_frames shows them")
		}
		epoch = found
	}
	shape, ok := epochShape(seq, epoch)
	if !ok {
		return place{}, fault.New(fault.ArtifactGenerationFailed, "the range holds no frame to draw").
			WithRecovery("ask for a range in which the page sent frames")
	}
	p := place{request: artifact.Request{
		Sequence: seq, Kinds: []string{evidence.Filmstrip}, Epochs: []int{epoch}, Exhaustive: r.Sampling == "exhaustive",
		StripOptions: visual.FilmstripOptions{Tiles: r.Tiles, Scale: r.Scale},
	}}
	var err error
	switch {
	case r.Mask != "":
		err = p.masked(r.Mask)
	case box != nil:
		p.region = evidence.Region{Method: "current_geometry", Ref: r.Ref}
		err = p.viewport(evidence.RegionRect{X: box.X, Y: box.Y, Width: box.Width, Height: box.Height, Space: evidence.SpaceViewport}, shape)
	case r.FrameID != "":
		p.source(*r.Rect)
	default:
		p.region.Method = "fixed_rectangle"
		err = p.viewport(*r.Rect, shape)
	}
	if err != nil {
		return place{}, err
	}
	return p, p.inside(shape)
}

// inside refuses a region that does not touch the frames.
func (p *place) inside(shape record.Frame) error {
	at := p.request.Strip.Pixels()
	p.region.X, p.region.Y, p.region.Width, p.region.Height = at.Min.X, at.Min.Y, at.Dx(), at.Dy()
	if at.Overlaps(image.Rect(0, 0, shape.Width, shape.Height)) {
		return nil
	}
	if p.region.Method == "current_geometry" {
		return fault.New(fault.NotFound, "the element is not in the viewport now, so it has no place on the recorded frames").
			WithRecovery("bring it into view with scroll, or name the area with rect")
	}
	return fault.Input("rect", fmt.Sprintf("lies outside the frames of %d x %d pixels", shape.Width, shape.Height))
}

// source is a rectangle in pixels of a frame.
func (p *place) source(r evidence.RegionRect) {
	r.Space = evidence.SpaceSource
	p.region.Method, p.region.Declared = "fixed_rectangle", &r
	p.region.ScaleNum, p.region.ScaleDen = 1, 1
	p.request.Strip = visual.Region{Rect: outward(r), Space: visual.ImagePixels, Label: "region"}
}

// viewport is a rectangle in CSS pixels, mapped by the geometry that the browser sent with the frames.
func (p *place) viewport(r evidence.RegionRect, shape record.Frame) error {
	r.Space = evidence.SpaceViewport
	num, den, ok := ratio(shape)
	if !ok {
		return fault.New(fault.ArtifactGenerationFailed, "the frames carry no usable viewport geometry, so CSS pixels cannot be placed on them").
			WithRecovery("give rect with frame_id, in pixels of a frame")
	}
	p.region.Declared, p.region.ScaleNum, p.region.ScaleDen = &r, num, den
	label := "region"
	if p.region.Ref != "" {
		label = p.region.Ref + " as placed now"
	}
	shifted := r
	shifted.Y += shape.Viewport.OffsetTop
	p.request.Strip = visual.Region{Rect: outward(shifted), Space: visual.Viewport, Num: num, Den: den, Label: label}
	return nil
}

// outward rounds to whole units that hold the area.
func outward(r evidence.RegionRect) image.Rectangle {
	return image.Rect(int(math.Floor(r.X)), int(math.Floor(r.Y)), int(math.Ceil(r.X+r.Width)), int(math.Ceil(r.Y+r.Height)))
}

// ratio is frame pixels per CSS pixel, num/den exactly: the frame's width over the viewport's in CSS pixels.
func ratio(f record.Frame) (num, den int, ok bool) {
	width := f.Viewport.Width
	if f.Viewport.PageScale > 0 {
		width /= f.Viewport.PageScale
	}
	if f.Width <= 0 || width < 1 {
		return 0, 0, false
	}
	for units := 1; units <= maxUnits; units++ {
		whole := width * float64(units)
		if n, d := f.Width*units, int(math.Round(whole)); math.Abs(whole-math.Round(whole)) < 1e-6 && n <= maxRatio && d <= maxRatio {
			g := gcd(n, d)
			return n / g, d / g, true
		}
	}
	return 0, 0, false
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// masked is a region of any shape; the strip shows its bounding box.
func (p *place) masked(text string) error {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fault.Input("mask", "must be base64 in the standard alphabet")
	}
	mask, err := visual.DecodeMask(raw)
	var limit *visual.LimitError
	switch {
	case errors.As(err, &limit):
		return fault.New(fault.ResourceLimitExceeded, "the mask is too large").WithLimit(limit.Subject, limit.Value, limit.Limit, limit.TryAtMost)
	case err != nil:
		return fault.Input("mask", "must be an 8-bit grey PNG").Because(err)
	}
	bounds, selected := selection(mask)
	if selected == 0 {
		return fault.Input("mask", "selects nothing: every pixel is black")
	}
	sum := sha256.Sum256(raw)
	p.request.Mask, p.request.MaskHash = mask, hex.EncodeToString(sum[:])
	p.request.Strip = visual.Region{Rect: bounds, Space: visual.ImagePixels, Label: "mask"}
	p.region = evidence.Region{Method: "mask", Selected: selected}
	return nil
}

// selection is the bounding box and the number of selected pixels.
func selection(m *visual.Mask) (bounds image.Rectangle, selected int) {
	size := m.Size()
	for y := range size.Y {
		for x := range size.X {
			if m.Selects(x, y) {
				bounds = bounds.Union(image.Rect(x, y, x+1, y+1))
				selected++
			}
		}
	}
	return bounds, selected
}

// epochOf finds the epoch of a frame; the baseline belongs to the first one.
func epochOf(s sequence.Sequence, f id.Frame) (int, bool) {
	if s.CarryIn != nil && s.CarryIn.ID == f {
		return 0, true
	}
	for _, e := range s.Epochs {
		for _, have := range s.Frames[e.First : e.Last+1] {
			if have.ID == f {
				return e.Index, true
			}
		}
	}
	return 0, false
}

// epochShape is a frame of the epoch, for its geometry.
func epochShape(s sequence.Sequence, epoch int) (record.Frame, bool) {
	if epoch < len(s.Epochs) {
		return s.Frames[s.Epochs[epoch].First], true
	}
	return record.Frame{}, false
}

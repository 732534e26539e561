package observe

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // picture sizes are read from the pictures themselves
	_ "image/png"
	"math"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// Bounds of pictures.
const (
	maxSide    = 1568
	maxPixels  = 1_150_000
	maxFile    = 16 << 20
	maxShrink  = 4.0 // CSS pixels in a picture pixel, beyond which nothing can be read
	shotLimit  = 10 * time.Second
	jpegOfView = 80
)

// area is what to picture, in document CSS pixels; whole is set for the present viewport.
type area struct {
	x, y, width, height float64
	view                bool
}

// taken is an encoded picture with its geometry.
type taken struct {
	data   []byte
	width  int
	height int
	media  string
	area   area
	view   page.Viewport
}

func (t taken) cssPerPixel() float64 { return t.area.width / float64(t.width) }

// Screenshot takes the requested picture.
func (o *Observer) Screenshot(ctx context.Context, r core.ScreenshotRequest) (core.ScreenshotResult, error) {
	if err := r.Validate(); err != nil {
		return core.ScreenshotResult{}, err
	}
	s, err := o.pages.Page(r.Target)
	if err != nil {
		return core.ScreenshotResult{}, err
	}
	end := s.Observing("screenshot")
	defer end()
	view, err := s.Viewport(ctx)
	if err != nil {
		return core.ScreenshotResult{}, err
	}
	a, err := o.areaOf(ctx, s, r, view)
	if err != nil {
		return core.ScreenshotResult{}, err
	}
	t, err := capture(ctx, s, a, view, r.Format, r.Quality)
	if err != nil {
		return core.ScreenshotResult{}, err
	}
	return o.answer(s, t, r.Format), nil
}

func (o *Observer) answer(s *page.Session, t taken, format string) core.ScreenshotResult {
	name, uri := o.keep(s, t)
	picture := t.picture(evidence.RoleScreenshot)
	picture.ObservationID = name
	return core.ScreenshotResult{
		Width: t.width, Height: t.height, Format: format, Bytes: len(t.data), CSSPerPixel: round(t.cssPerPixel()),
		Rect:     core.Rect{X: t.area.x, Y: t.area.y, Width: t.area.width, Height: t.area.height, Space: core.SpaceDocument},
		Picture:  picture,
		Resource: &evidence.Resource{Role: string(evidence.RoleScreenshot), URI: uri, Name: "screenshot", MediaType: t.media, Bytes: int64(len(t.data))},
	}
}

// areaOf resolves what is to be pictured. Elements are brought into view first.
func (o *Observer) areaOf(ctx context.Context, s *page.Session, r core.ScreenshotRequest, v page.Viewport) (area, error) {
	switch r.Of {
	case "full_page":
		return area{width: math.Max(v.ContentWidth, 1), height: math.Max(v.ContentHeight, 1)}, nil
	case "region":
		a := area{x: r.Rect.X, y: r.Rect.Y, width: r.Rect.Width, height: r.Rect.Height}
		if r.Rect.Space == core.SpaceViewport {
			a.x, a.y = a.x+v.PageX, a.y+v.PageY
		}
		if a.x >= v.ContentWidth || a.y >= v.ContentHeight {
			return area{}, fault.Input("rect", fmt.Sprintf("lies outside the document of %.0fx%.0f CSS pixels", v.ContentWidth, v.ContentHeight))
		}
		a.width, a.height = math.Min(a.width, v.ContentWidth-a.x), math.Min(a.height, v.ContentHeight-a.y)
		return a, nil
	case "element":
		return o.elementArea(ctx, s, r.Element)
	}
	return area{x: v.PageX, y: v.PageY, width: v.VisualWidth, height: v.VisualHeight, view: true}, nil
}

type geometry struct {
	Stale  bool    `json:"stale"`
	Why    string  `json:"why"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

func (o *Observer) elementArea(ctx context.Context, s *page.Session, e core.Element) (area, error) {
	l, err := o.snapshots.Locate(ctx, s, e)
	if err != nil {
		return area{}, err
	}
	var g geometry
	if err := l.Document.Call(ctx, &g, "geometry", l.Node, true); err != nil {
		return area{}, snapshot.Failure(err, l.Document)
	}
	switch {
	case g.Stale:
		return area{}, snapshot.Stale(s.Target())
	case g.Why != "" || g.Width <= 0 || g.Height <= 0:
		return area{}, fault.New(fault.ReferenceNotActionable, "the element is not rendered, so there is nothing to picture").
			WithRecovery("make it visible first, or picture what contains it")
	}
	offset, err := o.snapshots.Offset(ctx, l.Document, true)
	if err != nil {
		return area{}, snapshot.Failure(err, l.Document)
	}
	v, err := s.Viewport(ctx)
	if err != nil {
		return area{}, err
	}
	x, y := offset.Apply(g.X, g.Y)
	return area{x: math.Max(0, x+v.PageX), y: math.Max(0, y+v.PageY), width: g.Width * offset.Scale, height: g.Height * offset.Scale}, nil
}

// capture asks the browser for a picture within the bounds. Only what differs from the plain viewport is
// clipped: a clip makes the browser lay the page out for the picture.
func capture(ctx context.Context, s *page.Session, a area, v page.Viewport, format string, quality int) (taken, error) {
	density := v.DeviceScale * v.Scale
	if density <= 0 {
		density = 1
	}
	scale := fit(a.width*density, a.height*density)
	if shrink := 1 / (scale * density); shrink > maxShrink {
		return taken{}, tooBig(a)
	}
	params := map[string]any{"format": format, "optimizeForSpeed": format == "png"}
	if format == "jpeg" {
		params["quality"] = quality
	}
	if !a.view || scale < 1 || v.Scale != 1 {
		params["clip"] = map[string]any{"x": a.x, "y": a.y, "width": a.width, "height": a.height, "scale": scale}
		params["captureBeyondViewport"] = !a.view
	}
	data, err := shoot(ctx, s, params)
	if err != nil {
		return taken{}, err
	}
	return measured(data, a, v, format)
}

// fit is the scale that keeps a picture within the bounds, at most 1.
func fit(width, height float64) float64 {
	scale := math.Min(1, maxSide/math.Max(width, height))
	if area := width * height * scale * scale; area > maxPixels {
		scale *= math.Sqrt(maxPixels / area)
	}
	return scale
}

func tooBig(a area) error {
	fits := int64(math.Min(maxShrink*maxSide, maxShrink*maxShrink*maxPixels/a.width))
	return fault.New(fault.ResourceLimitExceeded, "the picture would be shrunk beyond reading: %.0fx%.0f CSS pixels", a.width, a.height).
		WithLimit("height_css_px", int64(a.height), fits, fits/2).
		WithRecovery("picture it in parts: of=region with rect {x, y, width, height <= %d, space document_css}", fits/2)
}

func shoot(ctx context.Context, s *page.Session, params map[string]any) ([]byte, error) {
	var reply struct {
		Data string `json:"data"`
	}
	if err := s.SendWithin(ctx, shotLimit, "Page.captureScreenshot", params, &reply); err != nil {
		if _, ok := errors.AsType[*cdp.Error](err); ok {
			return nil, fault.New(fault.ScreenshotFailed, "the browser refused the screenshot").
				WithRecovery("snapshot_page shows whether the page is there; a smaller region may work").Because(err)
		}
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(reply.Data)
	if err != nil {
		return nil, fault.New(fault.ScreenshotFailed, "the browser sent an unreadable screenshot").Because(err)
	}
	if len(data) > maxFile {
		return nil, fault.New(fault.ResourceLimitExceeded, "the screenshot's file is too large").
			WithLimit("image_bytes", int64(len(data)), maxFile, 0).WithRecovery("use format=jpeg or a smaller region")
	}
	return data, nil
}

func measured(data []byte, a area, v page.Viewport, format string) (taken, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width == 0 {
		return taken{}, fault.New(fault.ScreenshotFailed, "the browser sent an unreadable screenshot").Because(err)
	}
	return taken{data: data, width: config.Width, height: config.Height, media: "image/" + format, area: a, view: v}, nil
}

func (t taken) picture(role evidence.Role) evidence.Picture {
	data := t.data
	return evidence.Picture{
		Role: role, Kind: "screenshot", Width: t.width, Height: t.height, CSSPerPixel: round(t.cssPerPixel()), MediaType: t.media,
		Origin: &evidence.Origin{X: t.area.x, Y: t.area.y},
		Load:   func(context.Context) ([]byte, error) { return data, nil },
	}
}

func round(v float64) float64 { return math.Round(v*10000) / 10000 }

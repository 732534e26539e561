package evidence

import (
	"context"

	"github.com/krometrail/krometrail/core/id"
)

// FilmstripRequest is the request of generate_region_filmstrip. Exactly one of Rect, Ref and Mask names the region.
type FilmstripRequest struct {
	RangeRef
	Rect    *RegionRect `json:"rect,omitempty" doc:"viewport CSS px, or with frame_id its pixels"`
	FrameID id.Frame    `json:"frame_id,omitempty"`
	Ref     string      `json:"ref,omitempty" doc:"where this element is now"`
	Mask    string      `json:"mask,omitempty" doc:"base64 8-bit grey PNG of the frames' size" maxlen:"8388608"`
	Tiles   int         `json:"tiles,omitempty" min:"1" max:"24" default:"8"`
	Scale   int         `json:"scale,omitempty" min:"10" max:"800" doc:"percent; default fits"`
	// Sampling is as for the other pictures.
	Sampling string `json:"sampling,omitempty" enum:"bounded,exhaustive" default:"bounded"`
}

// RegionRect is an area; sides are positive.
type RegionRect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	// Space is viewport_css, or source_pixels with frame_id.
	Space string `json:"space,omitempty" enum:"viewport_css,source_pixels"`
}

// The spaces of a region.
const (
	SpaceViewport = "viewport_css"
	SpaceSource   = "source_pixels"
)

// FilmstripResult is the result of generate_region_filmstrip.
type FilmstripResult struct {
	Region  Region          `json:"region"`
	Outcome ArtifactOutcome `json:"outcome"`
}

// Region is where a filmstrip looks. It is fixed: it stays at these pixels when the page scrolls or its content moves.
type Region struct {
	// Method is fixed_rectangle, current_geometry or mask.
	Method string `json:"method"`
	Ref    string `json:"ref,omitempty"`
	// Declared is the area as it was given, or where the element is now.
	Declared *RegionRect `json:"declared,omitempty"`
	// X, Y, Width and Height are frame pixels, rounded outward; the part beyond the frame is padding.
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
	// ScaleNum / ScaleDen is frame pixels per unit of Declared, exactly.
	ScaleNum int `json:"scale_num,omitempty"`
	ScaleDen int `json:"scale_den,omitempty"`
	// Selected counts the pixels of a mask.
	Selected int `json:"selected_pixels,omitempty"`
}

// Geometry finds where elements of live pages are now.
type Geometry interface {
	// Box measures the referenced element without scrolling. Failures: stale_reference, reference_not_actionable when it
	// is not rendered, and those of a page that cannot be read.
	Box(ctx context.Context, ref string) (Box, error)
}

// Box is an element's rectangle in CSS pixels of its page's viewport.
type Box struct {
	TargetID            id.Target
	X, Y, Width, Height float64
	// ScrollX and ScrollY are the page's scroll position then.
	ScrollX, ScrollY float64
}

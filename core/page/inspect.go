package page

import (
	"encoding/json"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// InspectRequest asks for a page's identity and state.
type InspectRequest struct{ Scope }

// InspectResult is a page's identity, geometry and progress.
type InspectResult struct {
	PageState
	// ReadyState is loading, interactive or complete; "" when it was not observed.
	ReadyState string         `json:"ready_state,omitempty"`
	Navigation *NavigationRef `json:"navigation,omitempty"`
	Dialog     *Dialog        `json:"dialog,omitempty"`
	Viewport   *Viewport      `json:"viewport,omitempty"`
	Scroll     *Scroll        `json:"scroll,omitempty"`
	// Visibility is visible or hidden.
	Visibility string         `json:"visibility,omitempty"`
	Warnings   []*fault.Error `json:"-"`
}

// Viewport is the observed geometry in CSS pixels.
type Viewport struct {
	VisualWidth  float64 `json:"visual_width"`
	VisualHeight float64 `json:"visual_height"`
	LayoutWidth  float64 `json:"layout_width"`
	LayoutHeight float64 `json:"layout_height"`
	// Scale is the pinch zoom, DeviceScale the device pixels of a CSS pixel.
	Scale       float64 `json:"scale"`
	DeviceScale float64 `json:"device_scale_factor"`
}

// Scroll is the document's scroll position and extent in CSS pixels.
type Scroll struct {
	X             float64 `json:"x"`
	Y             float64 `json:"y"`
	ContentWidth  float64 `json:"content_width"`
	ContentHeight float64 `json:"content_height"`
}

// SnapshotRequest asks for the structure of a page.
type SnapshotRequest struct {
	Scope
	Frames string `json:"frames,omitempty" doc:"all, main or ifr_" default:"all" maxlen:"32"`
	Anchor string `json:"anchor,omitempty" doc:"viewport: on-screen first" enum:"document,viewport" default:"document"`
}

// Validate fills in defaults and checks.
func (r *SnapshotRequest) Validate() error {
	if r.Frames == "" {
		r.Frames = "all"
	}
	if r.Frames != "all" && r.Frames != "main" {
		if _, err := id.Parse[id.DocumentFrame](r.Frames); err != nil {
			return fault.Input("frames", "must be all, main, or an ifr_ identifier from list_frames")
		}
	}
	return oneOf(&r.Anchor, "anchor", "document", "viewport")
}

// ScreenshotRequest asks for a picture.
type ScreenshotRequest struct {
	Scope
	Element
	Of      string `json:"of,omitempty" enum:"viewport,full_page,element,region" default:"viewport"`
	Rect    *Rect  `json:"rect,omitempty" doc:"with of=region"`
	Format  string `json:"format,omitempty" enum:"png,jpeg" default:"png"`
	Quality int    `json:"quality,omitempty" doc:"jpeg (80)" min:"1" max:"100"`
}

// PageRefs implements capability.PageScoped.
func (r *ScreenshotRequest) PageRefs() []string { return r.Element.Refs() }

// Validate fills in defaults and checks. A locator or rectangle without of implies it.
func (r *ScreenshotRequest) Validate() error {
	if r.Of == "" && !r.Element.Empty() {
		r.Of = "element"
	}
	if r.Of == "" && r.Rect != nil {
		r.Of = "region"
	}
	if err := oneOf(&r.Of, "of", "viewport", "full_page", "element", "region"); err != nil {
		return err
	}
	if err := oneOf(&r.Format, "format", "png", "jpeg"); err != nil {
		return err
	}
	return first(r.checkSubject(), r.checkQuality())
}

func (r *ScreenshotRequest) checkSubject() error {
	if r.Of == "element" {
		if err := r.Element.check("", false); err != nil {
			return err
		}
	} else if !r.Element.Empty() {
		return fault.Input(r.Element.named()[0], "only of=element takes a locator")
	}
	switch {
	case r.Of == "region" && r.Rect == nil:
		return fault.Input("rect", "of=region needs it")
	case r.Of == "region":
		return r.Rect.check("rect")
	case r.Rect != nil:
		return fault.Input("rect", "only of=region takes it")
	}
	return nil
}

func (r *ScreenshotRequest) checkQuality() error {
	if r.Format == "png" && r.Quality != 0 {
		return fault.Input("quality", "only format=jpeg takes it")
	}
	if r.Format == "png" {
		return nil
	}
	return within(&r.Quality, "quality", 1, 100, 80)
}

// ScreenshotResult describes the picture that was taken.
type ScreenshotResult struct {
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Format string `json:"format"`
	Bytes  int    `json:"bytes"`
	// CSSPerPixel is how many CSS pixels one picture pixel stands for.
	CSSPerPixel float64 `json:"css_per_pixel"`
	// Rect is what is pictured, in document CSS pixels.
	Rect Rect `json:"document_rect"`

	Picture  evidence.Picture   `json:"-"`
	Resource *evidence.Resource `json:"-"`
	Warnings []*fault.Error     `json:"-"`
}

// EvaluateRequest runs script in a page's main world.
type EvaluateRequest struct {
	Scope
	Expression   string        `json:"expression" doc:"expression, or function of args" maxlen:"262144"`
	Args         []EvaluateArg `json:"args,omitempty" doc:"each {ref} or {value}"`
	AwaitPromise *bool         `json:"await_promise,omitempty" default:"true"`
	ReadOnly     bool          `json:"read_only,omitempty" default:"false"`
	TimeoutMS    int           `json:"timeout_ms,omitempty" min:"1" max:"55000" default:"5000"`
	Frames       string        `json:"frames,omitempty" doc:"ifr_; default main" maxlen:"32"`
}

// EvaluateArg is one argument: the node of a reference, or a JSON value.
type EvaluateArg struct {
	Ref   string          `json:"ref,omitempty" maxlen:"48"`
	Value json.RawMessage `json:"value,omitempty"`
}

// PageRefs implements capability.PageScoped.
func (r *EvaluateRequest) PageRefs() []string {
	var refs []string
	for _, a := range r.Args {
		if a.Ref != "" {
			refs = append(refs, a.Ref)
		}
	}
	return refs
}

// RequestLane implements capability.Laned: what changes nothing need not queue.
func (r *EvaluateRequest) RequestLane() capability.Lane {
	if r.ReadOnly {
		return capability.Observing
	}
	return capability.Mutating
}

// Await reports whether a promise is awaited.
func (r *EvaluateRequest) Await() bool { return r.AwaitPromise == nil || *r.AwaitPromise }

// Validate fills in defaults and checks.
func (r *EvaluateRequest) Validate() error {
	if r.Expression == "" {
		return fault.Input("expression", "must not be empty")
	}
	if len(r.Args) > 32 {
		return fault.Input("args", "at most 32")
	}
	for i, a := range r.Args {
		if (a.Ref == "") == (len(a.Value) == 0) {
			return fault.Input(index("args", i), "give exactly one of ref and value")
		}
		if a.Ref != "" {
			if err := (Element{Ref: a.Ref}).checkText(index("args", i)); err != nil {
				return err
			}
		}
	}
	if r.Frames != "" {
		if _, err := id.Parse[id.DocumentFrame](r.Frames); err != nil {
			return fault.Input("frames", "must be an ifr_ identifier from list_frames")
		}
	}
	return within(&r.TimeoutMS, "timeout_ms", 1, 55000, 5000)
}

// EvaluateResult is the value: undefined, or JSON of at most 1 MiB.
type EvaluateResult struct {
	Undefined bool            `json:"undefined,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
}

// ObserveRequest asks for the live observation.
type ObserveRequest struct{ Scope }

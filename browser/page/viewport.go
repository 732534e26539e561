package page

import (
	"context"
	"math"

	"github.com/krometrail/krometrail/core/fault"
)

// Viewport is the geometry of the page as it is now, in CSS pixels.
type Viewport struct {
	// LayoutWidth and LayoutHeight are the layout viewport without scrollbars.
	LayoutWidth, LayoutHeight float64
	// VisualWidth and VisualHeight are what is visible at the present pinch zoom.
	VisualWidth, VisualHeight float64
	// WindowWidth and WindowHeight are innerWidth and innerHeight: with scrollbars.
	WindowWidth, WindowHeight float64
	// PageX and PageY are the document position of the visual viewport's corner: the scroll position.
	PageX, PageY float64
	// OffsetX and OffsetY place the visual viewport in the layout viewport.
	OffsetX, OffsetY float64
	// Scale is the pinch zoom, DeviceScale device pixels per CSS pixel.
	Scale, DeviceScale float64
	// ContentWidth and ContentHeight are the size of the whole document.
	ContentWidth, ContentHeight float64
	// Fallback is set when the browser's metrics were unusable and script measurements were used instead.
	Fallback bool
}

// Emulated is the device emulation in force for a page.
type Emulated struct {
	Width, Height int
	DeviceScale   float64
	Mobile, Touch bool
}

// SetEmulated records the device emulation that has been sent to the page; nil for none.
func (s *Session) SetEmulated(e *Emulated) {
	root := s.root()
	root.mu.Lock()
	root.emulated = e
	root.mu.Unlock()
}

// Emulated returns the device emulation in force, nil for none.
func (s *Session) Emulated() *Emulated {
	root := s.root()
	root.mu.Lock()
	defer root.mu.Unlock()
	return root.emulated
}

type rect struct {
	OffsetX float64 `json:"offsetX"`
	OffsetY float64 `json:"offsetY"`
	PageX   float64 `json:"pageX"`
	PageY   float64 `json:"pageY"`
	Width   float64 `json:"clientWidth"`
	Height  float64 `json:"clientHeight"`
	Scale   float64 `json:"scale"`
}

type layoutMetrics struct {
	Layout  rect `json:"cssLayoutViewport"`
	Visual  rect `json:"cssVisualViewport"`
	Content struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
	} `json:"cssContentSize"`
}

type scriptMetrics struct {
	Result struct {
		Value []float64 `json:"value"`
	} `json:"result"`
}

const metricsScript = `[innerWidth,innerHeight,devicePixelRatio,scrollX,scrollY,` +
	`document.documentElement?document.documentElement.scrollWidth:0,document.documentElement?document.documentElement.scrollHeight:0]`

// Viewport asks the browser for the present geometry. Unusable metrics fall back to what scripts observe;
// when that fails too the result is page_observation_failed with reload or navigation as the recovery.
func (s *Session) Viewport(ctx context.Context) (Viewport, error) {
	world, err := s.World(ctx, "")
	if err != nil {
		return Viewport{}, err
	}
	metrics, err := s.Start(ctx, "Page.getLayoutMetrics", nil)
	if err != nil {
		return Viewport{}, err
	}
	var m layoutMetrics
	var script scriptMetrics
	scriptErr := s.Send(ctx, "Runtime.evaluate", map[string]any{
		"expression": metricsScript, "contextId": world, "returnByValue": true,
	}, &script)
	metricsErr := metrics.Wait(&m)
	observed := script.Result.Value
	if scriptErr != nil || len(observed) != 7 {
		observed = nil
	}
	switch {
	case metricsErr == nil && m.usable():
		return m.viewport(observed), nil
	case observed != nil && observed[0] > 0 && observed[1] > 0:
		return scriptViewport(observed), nil
	case metricsErr != nil && fault.CodeOf(metricsErr) != fault.Internal:
		return Viewport{}, metricsErr
	}
	return Viewport{}, fault.New(fault.PageObservationFailed, "the page reports no usable viewport").
		WithRetry(fault.AfterRecovery).WithRecovery("reload_page or navigate_to, then try again").About(s.gate.about)
}

func (m layoutMetrics) usable() bool {
	for _, v := range []float64{m.Layout.Width, m.Layout.Height, m.Visual.Width, m.Visual.Height} {
		if !(v > 0) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func (m layoutMetrics) viewport(observed []float64) Viewport {
	v := Viewport{
		LayoutWidth: m.Layout.Width, LayoutHeight: m.Layout.Height,
		VisualWidth: m.Visual.Width, VisualHeight: m.Visual.Height,
		WindowWidth: m.Layout.Width, WindowHeight: m.Layout.Height,
		PageX: m.Visual.PageX, PageY: m.Visual.PageY, OffsetX: m.Visual.OffsetX, OffsetY: m.Visual.OffsetY,
		Scale: m.Visual.Scale, ContentWidth: m.Content.Width, ContentHeight: m.Content.Height,
	}
	if observed != nil {
		v.WindowWidth, v.WindowHeight, v.DeviceScale = observed[0], observed[1], observed[2]
	}
	return v
}

func scriptViewport(o []float64) Viewport {
	return Viewport{
		LayoutWidth: o[0], LayoutHeight: o[1], VisualWidth: o[0], VisualHeight: o[1], WindowWidth: o[0], WindowHeight: o[1],
		PageX: o[3], PageY: o[4], Scale: 1, DeviceScale: o[2], ContentWidth: o[5], ContentHeight: o[6], Fallback: true,
	}
}

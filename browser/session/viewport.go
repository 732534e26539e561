package session

import (
	"context"
	"math"
	"sync"

	"github.com/krometrail/krometrail/browser/capture"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
)

// maxViewport bounds an emulated side in CSS pixels.
const maxViewport = 10_000

// material is the difference between wanted and observed size that is worth a word, in CSS pixels.
const material = 2

// maxTouchPoints is what emulated touch screens report.
const maxTouchPoints = 5

// presets materialize into explicit metrics.
var presets = map[string]override{
	"responsive_small":   {intent: "responsive_css", Emulated: page.Emulated{Width: 390, Height: 844, DeviceScale: 1}},
	"responsive_tablet":  {intent: "responsive_css", Emulated: page.Emulated{Width: 768, Height: 1024, DeviceScale: 1}},
	"responsive_desktop": {intent: "responsive_css", Emulated: page.Emulated{Width: 1440, Height: 900, DeviceScale: 1}},
	"mobile_phone":       {intent: "mobile_device", Emulated: page.Emulated{Width: 390, Height: 844, DeviceScale: 3, Mobile: true, Touch: true}},
	"mobile_tablet":      {intent: "mobile_device", Emulated: page.Emulated{Width: 768, Height: 1024, DeviceScale: 2, Mobile: true, Touch: true}},
}

type override struct {
	page.Emulated
	intent string
}

// viewports keeps what each page's viewport was set to. As a target.Observer it restores that before a page paints.
type viewports struct {
	// baseline is the size of pages without an override, nil where the browser's own size stays.
	baseline *corepage.Size
	recorder *capture.Recorder

	mu        sync.Mutex
	overrides map[id.Target]override
}

func newViewports() *viewports { return &viewports{overrides: map[id.Target]override{}} }

// PageAttached implements target.Observer.
func (v *viewports) PageAttached(p target.Page) {
	v.mu.Lock()
	o, ok := v.overrides[p.ID]
	v.mu.Unlock()
	switch {
	case ok:
		post(p.Session, &o.Emulated)
	case v.baseline != nil:
		post(p.Session, v.base())
	}
}

// PageDetached implements target.Observer.
func (v *viewports) PageDetached(p target.Page, closed bool) {
	if closed {
		v.mu.Lock()
		delete(v.overrides, p.ID)
		v.mu.Unlock()
	}
}

func (v *viewports) base() *page.Emulated {
	if v.baseline == nil {
		return nil
	}
	return &page.Emulated{Width: v.baseline.Width, Height: v.baseline.Height, DeviceScale: 1}
}

func post(s *page.Session, e *page.Emulated) {
	for _, c := range emulation(e) {
		if s.Post(c.method, c.params) != nil {
			return // the connection is gone
		}
	}
	s.SetEmulated(e)
}

type command struct {
	method string
	params any
}

// emulation returns the commands that put e into force, nil clears everything.
func emulation(e *page.Emulated) []command {
	if e == nil {
		return []command{
			{"Emulation.clearDeviceMetricsOverride", nil},
			{"Emulation.setTouchEmulationEnabled", map[string]any{"enabled": false}},
		}
	}
	touch := map[string]any{"enabled": e.Touch}
	if e.Touch {
		touch["maxTouchPoints"] = maxTouchPoints
	}
	return []command{
		{"Emulation.setDeviceMetricsOverride", map[string]any{
			"width": e.Width, "height": e.Height, "deviceScaleFactor": e.DeviceScale, "mobile": e.Mobile,
		}},
		{"Emulation.setTouchEmulationEnabled", touch},
	}
}

func (v *viewports) list() []corepage.ViewportOverride {
	v.mu.Lock()
	defer v.mu.Unlock()
	var rows []corepage.ViewportOverride
	for t, o := range v.overrides {
		rows = append(rows, corepage.ViewportOverride{
			TargetID: t, Intent: o.intent, Width: o.Width, Height: o.Height, DeviceScaleFactor: o.DeviceScale, Mobile: o.Mobile, Touch: o.Touch,
		})
	}
	return rows
}

func (v *viewports) set(t id.Target, o *override) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if o == nil {
		delete(v.overrides, t)
		return
	}
	v.overrides[t] = *o
}

// SetViewport emulates a viewport for one page, or goes back to its default, and answers with what the page shows. sending
// is called right before the first command leaves.
func (b *Browser) SetViewport(ctx context.Context, r *corepage.ViewportRequest, sending func()) (corepage.ViewportResult, error) {
	wanted, err := wantedViewport(r)
	if err != nil {
		return corepage.ViewportResult{}, err
	}
	l, err := b.running()
	if err != nil {
		return corepage.ViewportResult{}, err
	}
	row, err := l.find(r.Target)
	if err != nil {
		return corepage.ViewportResult{}, err
	}
	next := l.viewport.base()
	if wanted != nil {
		next = &wanted.Emulated
	}
	sending()
	for _, c := range emulation(next) {
		if err := row.Session.Send(ctx, c.method, c.params, nil); err != nil {
			return corepage.ViewportResult{}, sentFault(err)
		}
	}
	row.Session.SetEmulated(next)
	l.viewport.set(row.ID, wanted)
	observed, err := row.Session.Viewport(ctx)
	if err != nil {
		return corepage.ViewportResult{}, sentFault(err)
	}
	if wanted != nil {
		l.recorder.ExpectViewport(row.ID, float64(wanted.Width), float64(wanted.Height))
	}
	return viewportResult(r.Preset, wanted, observed), nil
}

// wantedViewport returns the override asked for, nil for a clear.
func wantedViewport(r *corepage.ViewportRequest) (*override, error) {
	custom := r.Width != 0 || r.Height != 0 || r.DeviceScaleFactor != 0 || r.Mobile || r.Touch
	switch {
	case r.Clear && (custom || r.Preset != ""):
		return nil, fault.Input("clear", "alone, without preset or metrics")
	case r.Clear:
		return nil, nil
	case r.Preset != "" && custom:
		return nil, fault.Input("preset", "alone, without width, height, device_scale_factor, mobile or touch")
	case r.Preset != "":
		o, ok := presets[r.Preset]
		if !ok {
			return nil, fault.Input("preset", "one of responsive_small, responsive_tablet, responsive_desktop, mobile_phone, mobile_tablet")
		}
		return &o, nil
	case r.Width < 1 || r.Height < 1 || r.Width > maxViewport || r.Height > maxViewport:
		return nil, fault.Input("width", "a preset, or width and height between 1 and 10000, or clear")
	}
	scale := r.DeviceScaleFactor
	if scale == 0 {
		scale = 1
	}
	if scale < 0.1 || scale > 8 {
		return nil, fault.Input("device_scale_factor", "between 0.1 and 8")
	}
	return &override{intent: "override", Emulated: page.Emulated{
		Width: r.Width, Height: r.Height, DeviceScale: scale, Mobile: r.Mobile, Touch: r.Touch,
	}}, nil
}

func viewportResult(preset string, wanted *override, o page.Viewport) corepage.ViewportResult {
	result := corepage.ViewportResult{
		Intent: "browser_default", Preset: preset, Scale: o.Scale, DeviceScaleFactor: o.DeviceScale,
		Layout: corepage.ViewportSize{Width: o.WindowWidth, Height: o.WindowHeight},
		Visual: corepage.ViewportSize{Width: o.VisualWidth, Height: o.VisualHeight},
	}
	if o.Fallback {
		result.Warnings = append(result.Warnings, fault.New(fault.LayoutMetricsFallback, "the browser's layout metrics were unusable; sizes are those that scripts observe"))
	}
	if wanted == nil {
		return result
	}
	result.Intent, result.Mobile, result.Touch = wanted.intent, wanted.Mobile, wanted.Touch
	result.Requested = &corepage.Size{Width: wanted.Width, Height: wanted.Height}
	result.Guidance = guidance(wanted, o)
	return result
}

// guidance explains what the page made of the request. Desktop emulation promises the layout size; mobile emulation
// promises the visual viewport, because page scale and the page's own viewport declaration decide the layout.
func guidance(w *override, o page.Viewport) string {
	width, height := float64(w.Width), float64(w.Height)
	if w.Mobile {
		switch {
		case differs(o.LayoutWidth, width) && o.LayoutWidth > width:
			return "the layout is wider than the device: the page probably lacks <meta name=viewport content=\"width=device-width\">, so it is laid out wide and shown scaled"
		case differs(o.VisualWidth*o.Scale, width) || differs(o.VisualHeight*o.Scale, height):
			return "the visual viewport differs from the device's size; the page has changed its scale"
		}
		return ""
	}
	switch {
	case differs(o.WindowWidth, width) || differs(o.WindowHeight, height):
		return "the page's layout does not have the declared size yet; inspect_page shows the present one"
	case differs(o.VisualWidth, width) || differs(o.VisualHeight, height):
		return "media queries see the declared size; the visible content is smaller because of scrollbars or page zoom"
	}
	return ""
}

func differs(a, b float64) bool { return math.Abs(a-b) > material }

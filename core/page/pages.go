package page

import (
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// ListRequest lists the open pages.
type ListRequest struct{}

// Page is one row of the page list. URL and Title are live page data, bounded and without credentials.
type Page struct {
	TargetID id.Target `json:"target_id"`
	URL      string    `json:"url"`
	Title    string    `json:"title"`
	// Visibility is visible, hidden or unknown.
	Visibility string    `json:"visibility"`
	Selected   bool      `json:"selected"`
	Opener     id.Target `json:"opener,omitempty"`
	// Dialog is unknown, none, alert, confirm, prompt or beforeunload.
	Dialog string `json:"dialog"`
	// Capture is set when the page is not being recorded: limit, failed or crashed.
	Capture string `json:"capture,omitempty"`
}

// Pages is the answer of list_pages.
type Pages struct {
	Pages []Page `json:"pages"`
	// Cursor anchors wait_for_page at this moment.
	Cursor string `json:"cursor"`
}

// WaitForPageRequest waits for a page that appears.
type WaitForPageRequest struct {
	After     string    `json:"after,omitempty" doc:"cursor; default before the last action" maxlen:"64"`
	Opener    id.Target `json:"opener,omitempty" doc:"only its popups"`
	TimeoutMS int       `json:"timeout_ms,omitempty" min:"1" max:"30000" default:"10000"`
}

// NewPageResult is the page that appeared.
type NewPageResult struct {
	Page   Page   `json:"page"`
	Cursor string `json:"cursor"`
}

// OpenRequest creates a page and selects it.
type OpenRequest struct {
	URL   string `json:"url,omitempty" maxlen:"65536"`
	Trace bool   `json:"trace,omitempty" default:"false"`
}

// OpenResult names the created page.
type OpenResult struct {
	Target     id.Target      `json:"created"`
	Selected   id.Target      `json:"selected"`
	Navigation *NavigationRef `json:"navigation,omitempty"`
}

// SelectPageRequest selects a page.
type SelectPageRequest struct {
	Target id.Target `json:"target"`
}

// PageTarget implements capability.PageScoped.
func (r *SelectPageRequest) PageTarget() id.Target { return r.Target }

// SetPageTarget implements capability.PageScoped.
func (r *SelectPageRequest) SetPageTarget(t id.Target) { r.Target = t }

// PageRefs implements capability.PageScoped.
func (r *SelectPageRequest) PageRefs() []string { return nil }

// SelectPageResult names the selection before and after.
type SelectPageResult struct {
	Previous id.Target `json:"previous,omitempty"`
	Selected id.Target `json:"selected"`
}

// ActivateRequest brings a page to the front once.
type ActivateRequest struct {
	Scope
}

// ActivateResult says whether the page became visible.
type ActivateResult struct {
	Target     id.Target `json:"activated"`
	Visibility string    `json:"visibility"`
}

// CloseRequest closes a page.
type CloseRequest struct {
	Scope
}

// CloseResult names the closed page and the selection afterwards.
type CloseResult struct {
	Closed id.Target `json:"closed"`
	// Selected is empty when the last page was closed, which ends a managed session.
	Selected id.Target `json:"selected,omitempty"`
	// FinalTrace is the closed page's trace, when it was traced.
	FinalTrace any `json:"final_trace,omitempty"`
}

// NavigateRequest loads an address.
type NavigateRequest struct {
	Scope
	URL       string `json:"url" maxlen:"65536"`
	Wait      string `json:"wait,omitempty" enum:"load,dom,none" default:"load"`
	TimeoutMS int    `json:"timeout_ms,omitempty" min:"1" max:"120000" default:"25000"`
}

// ReloadRequest loads the page again.
type ReloadRequest struct {
	Scope
	BypassCache bool `json:"bypass_cache,omitempty" default:"false"`
}

// BackRequest goes back in the page's history.
type BackRequest struct {
	Scope
}

// ForwardRequest goes forward in the page's history.
type ForwardRequest struct {
	Scope
}

// NavigateResult says how far the navigation got.
type NavigateResult struct {
	Navigation *NavigationRef `json:"navigation,omitempty"`
	// Download is set when the address was downloaded instead of shown.
	Download bool `json:"download,omitempty"`
	// Incomplete is set when the load did not reach the wanted state in time; the page goes on loading.
	Incomplete bool           `json:"incomplete,omitempty"`
	Warnings   []*fault.Error `json:"-"`
}

// ViewportRequest sets or clears a page's emulated viewport: exactly one of preset, width with height, or clear.
type ViewportRequest struct {
	Scope
	Preset            string  `json:"preset,omitempty" enum:"responsive_small,responsive_tablet,responsive_desktop,mobile_phone,mobile_tablet"`
	Width             int     `json:"width,omitempty" doc:"CSS px" min:"1" max:"10000"`
	Height            int     `json:"height,omitempty" min:"1" max:"10000"`
	DeviceScaleFactor float64 `json:"device_scale_factor,omitempty" min:"0.1" max:"8" default:"1"`
	Mobile            bool    `json:"mobile,omitempty" default:"false"`
	Touch             bool    `json:"touch,omitempty" default:"false"`
	Clear             bool    `json:"clear,omitempty" doc:"back to default" default:"false"`
}

// ViewportResult is the geometry that was observed afterwards.
type ViewportResult struct {
	// Intent is responsive_css, mobile_device, override or browser_default.
	Intent string `json:"intent"`
	Preset string `json:"preset,omitempty"`
	// Requested is the declared size; absent after a clear.
	Requested *Size `json:"requested,omitempty"`
	// Layout is the size that media queries see; Visual is the content area without scrollbars, at the present
	// page scale.
	Layout            ViewportSize `json:"layout"`
	Visual            ViewportSize `json:"visual"`
	Scale             float64      `json:"page_scale"`
	DeviceScaleFactor float64      `json:"device_scale_factor"`
	Mobile            bool         `json:"mobile"`
	Touch             bool         `json:"touch"`
	// Guidance explains a material difference between what was asked for and what the page shows.
	Guidance string         `json:"guidance,omitempty"`
	Warnings []*fault.Error `json:"-"`
}

// ViewportSize is an observed size in CSS pixels.
type ViewportSize struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Notices are the warnings that go with the result.
func (r NavigateResult) Notices() []*fault.Error { return r.Warnings }

// Notices are the warnings that go with the result.
func (r ViewportResult) Notices() []*fault.Error { return r.Warnings }

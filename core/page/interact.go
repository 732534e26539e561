package page

import (
	"slices"

	"github.com/krometrail/krometrail/core/fault"
)

// ClickRequest clicks an element or a position with trusted input.
type ClickRequest struct {
	Scope
	Locator
	Button            string   `json:"button,omitempty" enum:"left,middle,right" default:"left"`
	Modifiers         []string `json:"modifiers,omitempty" enum:"alt,control,shift,meta"`
	Count             int      `json:"count,omitempty" min:"1" max:"3" default:"1"`
	WaitForNavigation bool     `json:"wait_for_navigation,omitempty" doc:"wait for the load it starts" default:"false"`
}

// PageRefs implements capability.PageScoped.
func (r *ClickRequest) PageRefs() []string { return r.Locator.Element().Refs() }

// Validate fills in defaults and checks.
func (r *ClickRequest) Validate() error {
	for i, m := range r.Modifiers {
		if !slices.Contains([]string{"alt", "control", "shift", "meta"}, m) {
			return fault.Input(index("modifiers", i), "must be one of alt, control, shift, meta")
		}
	}
	return first(r.Locator.check(""), oneOf(&r.Button, "button", "left", "middle", "right"), within(&r.Count, "count", 1, 3, 1))
}

// FillRequest sets the value of a field.
type FillRequest struct {
	Scope
	Element
	Value             string `json:"value" doc:"date, time, color and range controls: the complete value" maxlen:"1048576"`
	Mode              string `json:"mode,omitempty" enum:"replace,append" default:"replace"`
	WaitForNavigation bool   `json:"wait_for_navigation,omitempty" doc:"wait for the load it starts" default:"false"`
}

// PageRefs implements capability.PageScoped.
func (r *FillRequest) PageRefs() []string { return r.Element.Refs() }

// Validate fills in defaults and checks.
func (r *FillRequest) Validate() error {
	return first(r.Element.check("", false), oneOf(&r.Mode, "mode", "replace", "append"))
}

// TypeRequest types text at the caret.
type TypeRequest struct {
	Scope
	Element
	Text string `json:"text" maxlen:"65536"`
}

// PageRefs implements capability.PageScoped.
func (r *TypeRequest) PageRefs() []string { return r.Element.Refs() }

// Validate checks.
func (r *TypeRequest) Validate() error {
	if r.Text == "" {
		return fault.Input("text", "must not be empty")
	}
	return r.Element.check("", true)
}

// PressRequest presses keys and chords.
type PressRequest struct {
	Scope
	Element
	Keys              []string `json:"keys" doc:"such as Enter, Control+Shift+K" min:"1" max:"32"`
	HoldMS            int      `json:"hold_ms,omitempty" min:"0" max:"5000"`
	WaitForNavigation bool     `json:"wait_for_navigation,omitempty" doc:"wait for the load it starts" default:"false"`
}

// PageRefs implements capability.PageScoped.
func (r *PressRequest) PageRefs() []string { return r.Element.Refs() }

// Validate checks.
func (r *PressRequest) Validate() error {
	if len(r.Keys) < 1 || len(r.Keys) > 32 {
		return fault.Input("keys", "give 1 to 32 chords")
	}
	for i, k := range r.Keys {
		if _, err := ParseChord(k); err != nil {
			return fault.Input(index("keys", i), err.Error())
		}
	}
	return first(r.Element.check("", true), bounded(r.HoldMS, "hold_ms", 0, 5000))
}

// SelectRequest chooses options of a native select.
type SelectRequest struct {
	Scope
	Element
	Value  *string  `json:"value,omitempty"`
	Label  *string  `json:"label,omitempty"`
	Index  *int     `json:"index,omitempty" doc:"from 0" min:"0"`
	Values []string `json:"values,omitempty" doc:"of a multiple select"`
	Labels []string `json:"labels,omitempty"`
	Many   []int    `json:"indexes,omitempty"`
}

// PageRefs implements capability.PageScoped.
func (r *SelectRequest) PageRefs() []string { return r.Element.Refs() }

// Validate checks.
func (r *SelectRequest) Validate() error {
	given := 0
	for _, has := range []bool{r.Value != nil, r.Label != nil, r.Index != nil, r.Values != nil, r.Labels != nil, r.Many != nil} {
		if has {
			given++
		}
	}
	if given != 1 {
		return fault.Input("value", "give exactly one of value, label, index, values, labels, indexes")
	}
	if r.Index != nil && *r.Index < 0 {
		return fault.Input("index", "must not be negative")
	}
	return r.Element.check("", false)
}

// ToggleRequest switches a checkbox, radio, switch or details element.
type ToggleRequest struct {
	Scope
	Element
	State string `json:"state,omitempty" enum:"flip,on,off" default:"flip"`
}

// PageRefs implements capability.PageScoped.
func (r *ToggleRequest) PageRefs() []string { return r.Element.Refs() }

// Validate fills in defaults and checks.
func (r *ToggleRequest) Validate() error {
	return first(r.Element.check("", false), oneOf(&r.State, "state", "flip", "on", "off"))
}

// ToggleResult says what the state was and is.
type ToggleResult struct {
	Before  string `json:"before"`
	After   string `json:"after"`
	Changed bool   `json:"changed"`
}

// ClearRequest empties a field.
type ClearRequest struct {
	Scope
	Element
}

// PageRefs implements capability.PageScoped.
func (r *ClearRequest) PageRefs() []string { return r.Element.Refs() }

// Validate checks.
func (r *ClearRequest) Validate() error { return r.Element.check("", false) }

// HoverRequest moves the pointer onto something and leaves it there.
type HoverRequest struct {
	Scope
	Locator
}

// PageRefs implements capability.PageScoped.
func (r *HoverRequest) PageRefs() []string { return r.Locator.Element().Refs() }

// Validate checks.
func (r *HoverRequest) Validate() error { return r.Locator.check("") }

// DragRequest drags from one place to another.
type DragRequest struct {
	Scope
	From   Locator `json:"from"`
	To     Locator `json:"to"`
	Steps  int     `json:"steps,omitempty" min:"1" max:"100" default:"10"`
	HoldMS int     `json:"hold_ms,omitempty" min:"0" max:"5000"`
}

// PageRefs implements capability.PageScoped.
func (r *DragRequest) PageRefs() []string {
	return append(r.From.Element().Refs(), r.To.Element().Refs()...)
}

// Validate fills in defaults and checks.
func (r *DragRequest) Validate() error {
	return first(r.From.check("from"), r.To.check("to"),
		within(&r.Steps, "steps", 1, 100, 10), bounded(r.HoldMS, "hold_ms", 0, 5000))
}

// ScrollRequest scrolls by an offset or brings something into view.
type ScrollRequest struct {
	Scope
	Locator
	DX      float64 `json:"dx,omitempty" doc:"CSS px right"`
	DY      float64 `json:"dy,omitempty" doc:"CSS px down"`
	ToRef   string  `json:"to_ref,omitempty" doc:"bring into view"`
	ToQuery string  `json:"to_query,omitempty" maxlen:"1024"`
	ToCSS   string  `json:"to_css,omitempty" maxlen:"1024"`
}

// To is what to bring into view.
func (r *ScrollRequest) To() Element { return Element{Ref: r.ToRef, Query: r.ToQuery, CSS: r.ToCSS} }

// PageRefs implements capability.PageScoped.
func (r *ScrollRequest) PageRefs() []string {
	return append(r.Locator.Element().Refs(), r.To().Refs()...)
}

// Validate checks.
func (r *ScrollRequest) Validate() error {
	to := r.To()
	if !to.Empty() {
		if r.DX != 0 || r.DY != 0 {
			return fault.Input("dx", "give either an offset or something to bring into view")
		}
		if err := to.check("", false); err != nil {
			return fault.Input("to_ref", "give exactly one valid to_ref, to_query or to_css")
		}
	} else if r.DX == 0 && r.DY == 0 {
		return fault.Input("dy", "give dx or dy, or one of to_ref, to_query, to_css")
	}
	if !finite(r.DX) || !finite(r.DY) || max(r.DX, -r.DX, r.DY, -r.DY) > 1_000_000 {
		return fault.Input("dy", "offsets must lie within a million pixels")
	}
	if r.Point == nil && r.Locator.Element().Empty() {
		return nil
	}
	return r.Locator.check("")
}

// ScrollResult says how far the container really scrolled.
type ScrollResult struct {
	// Container describes what scrolled: document, or the role and name of the element.
	Container string `json:"container"`
	// MovedX and MovedY are CSS pixels; 0 means that nothing moved in that direction.
	MovedX float64 `json:"moved_x"`
	MovedY float64 `json:"moved_y"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	MaxX   float64 `json:"max_x"`
	MaxY   float64 `json:"max_y"`
	// InView is set when something was to be brought into view.
	InView *bool `json:"in_view,omitempty"`
}

// UploadRequest gives files to a file input.
type UploadRequest struct {
	Scope
	Element
	Files []string `json:"files" doc:"paths" min:"1" max:"8"`
}

// PageRefs implements capability.PageScoped.
func (r *UploadRequest) PageRefs() []string { return r.Element.Refs() }

// Validate checks.
func (r *UploadRequest) Validate() error {
	if len(r.Files) < 1 || len(r.Files) > 8 {
		return fault.Input("files", "give 1 to 8 paths")
	}
	if slices.Contains(r.Files, "") {
		return fault.Input(index("files", slices.Index(r.Files, "")), "must not be empty")
	}
	return r.Element.check("", false)
}

// UploadResult says where the files went.
type UploadResult struct {
	Files int `json:"files"`
	// Input is the native input's reference.
	Input string `json:"input"`
}

// HandleDialogRequest answers an open JavaScript dialog.
type HandleDialogRequest struct {
	Scope
	Action     string  `json:"action" enum:"accept,dismiss"`
	PromptText *string `json:"prompt_text,omitempty" maxlen:"65536"`
}

// Validate checks.
func (r *HandleDialogRequest) Validate() error {
	if r.Action != "accept" && r.Action != "dismiss" {
		return fault.Input("action", "must be accept or dismiss")
	}
	if r.PromptText != nil && r.Action == "dismiss" {
		return fault.Input("prompt_text", "only action=accept takes it")
	}
	return nil
}

// HandleDialogResult names the dialog that was answered.
type HandleDialogResult struct {
	Type   string `json:"type"`
	Action string `json:"action"`
}

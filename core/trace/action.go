package trace

import (
	"math"
	"slices"

	"github.com/krometrail/krometrail/core/redact"
)

// Kind names a recorded action.
type Kind string

// The recorded actions. The last three are coarse: nothing of their input is kept.
const (
	KindOpenPage     Kind = "open_page"
	KindNavigateTo   Kind = "navigate_to"
	KindClick        Kind = "click"
	KindTypeText     Kind = "type_text"
	KindSelectOption Kind = "select_option"
	KindScroll       Kind = "scroll"
	KindToggle       Kind = "toggle"
	KindClear        Kind = "clear"
	KindClosePage    Kind = "close_page"
	KindEvaluate     Kind = "evaluate"
	KindSetCookies   Kind = "set_cookies"
	KindClearCookies Kind = "clear_cookies"
)

// Replayable reports whether an event of this kind can be validated: lifecycle and coarse actions cannot.
func (k Kind) Replayable() bool {
	switch k {
	case KindNavigateTo, KindClick, KindTypeText, KindSelectOption, KindScroll, KindToggle, KindClear:
		return true
	}
	return false
}

// needsTarget reports whether the action is nothing without an element.
func (k Kind) needsTarget() bool {
	return k.Replayable() && k != KindNavigateTo && k != KindScroll
}

// Action is one of the structs below: the request as it was made. Only its sanitized form is kept.
type Action interface {
	Kind() Kind
	sanitize(k *key) sanitized
}

// sanitized is what an event says about a request. Fields with the zero value of their type that say nothing
// are left to the caller to omit.
type sanitized struct {
	fields   map[string]any
	redacted []string
	omitted  []string
}

// withheld takes the place of a value. It has no digest: a digest of a short value can be guessed.
type withheld struct {
	Redacted   bool `json:"redacted"`
	ByteLength int  `json:"byte_length"`
}

func withhold(value string) withheld { return withheld{Redacted: true, ByteLength: len(value)} }

// OpenPage is open_page; URL is empty for a blank page.
type OpenPage struct{ URL string }

// NavigateTo is navigate_to with its URL, and reload_page, go_back and go_forward without.
type NavigateTo struct {
	URL string
	// Via is url, reload, back or forward.
	Via string
}

// Click is click. Locator is ref, query, css, point or focused in this and the following.
type Click struct {
	Button            string
	Count             int
	Modifiers         []string
	WaitForNavigation bool
	Locator           string
}

// TypeText is fill and type_text.
type TypeText struct {
	Text string
	// Via is fill or type_text; Mode is replace or append.
	Via, Mode string
	Locator   string
}

// SelectOption is select_option.
type SelectOption struct {
	// By is value, label or index; Values are what was selected, an index in decimal.
	By      string
	Values  []string
	Locator string
}

// Scroll is scroll, by an offset in CSS pixels or to an element.
type Scroll struct {
	DX, DY    float64
	ToElement bool
	Locator   string
}

// Toggle is toggle; State is on, off or flip.
type Toggle struct{ State, Locator string }

// Clear is clear.
type Clear struct{ Locator string }

// The actions without anything to keep.
type (
	// ClosePage is close_page.
	ClosePage struct{}
	// Evaluate is evaluate, read-only or not.
	Evaluate struct{}
	// SetCookies is set_cookies.
	SetCookies struct{}
	// ClearCookies is clear_cookies.
	ClearCookies struct{}
)

// Kind implements Action.
func (OpenPage) Kind() Kind { return KindOpenPage }

// Kind implements Action.
func (NavigateTo) Kind() Kind { return KindNavigateTo }

// Kind implements Action.
func (Click) Kind() Kind { return KindClick }

// Kind implements Action.
func (TypeText) Kind() Kind { return KindTypeText }

// Kind implements Action.
func (SelectOption) Kind() Kind { return KindSelectOption }

// Kind implements Action.
func (Scroll) Kind() Kind { return KindScroll }

// Kind implements Action.
func (Toggle) Kind() Kind { return KindToggle }

// Kind implements Action.
func (Clear) Kind() Kind { return KindClear }

// Kind implements Action.
func (ClosePage) Kind() Kind { return KindClosePage }

// Kind implements Action.
func (Evaluate) Kind() Kind { return KindEvaluate }

// Kind implements Action.
func (SetCookies) Kind() Kind { return KindSetCookies }

// Kind implements Action.
func (ClearCookies) Kind() Kind { return KindClearCookies }

func (a OpenPage) sanitize(k *key) sanitized {
	fields, redacted := destination(k, a.URL)
	return sanitized{fields: fields, redacted: redacted}
}

func (a NavigateTo) sanitize(k *key) sanitized {
	fields, redacted := destination(k, a.URL)
	fields["via"] = oneOf(a.Via, "url", "reload", "back", "forward")
	return sanitized{fields: fields, redacted: redacted}
}

// destination keeps the origin of a URL and a fingerprint of the whole.
func destination(k *key, url string) (fields map[string]any, redacted []string) {
	fields = map[string]any{}
	if url == "" {
		return fields, nil
	}
	fields["url_fingerprint"] = k.fingerprint(urlDomain, []byte(url))
	if origin := redact.Origin(url); origin != "" {
		fields["origin"] = redact.Name(origin, MaxString)
	}
	return fields, []string{"url"}
}

func (a Click) sanitize(*key) sanitized {
	fields := map[string]any{"button": oneOf(a.Button, "left", "middle", "right"), "count": a.Count, "wait_for_navigation": a.WaitForNavigation}
	if len(a.Modifiers) > 0 {
		modifiers := make([]string, 0, len(a.Modifiers))
		for _, m := range a.Modifiers {
			modifiers = append(modifiers, oneOf(m, "alt", "control", "shift", "meta"))
		}
		slices.Sort(modifiers)
		fields["modifiers"] = slices.Compact(modifiers)
	}
	return located(fields, a.Locator)
}

func (a TypeText) sanitize(*key) sanitized {
	s := located(map[string]any{"text": withhold(a.Text), "via": oneOf(a.Via, "fill", "type_text"), "mode": oneOf(a.Mode, "replace", "append")}, a.Locator)
	s.redacted = []string{"text"}
	return s
}

func (a SelectOption) sanitize(*key) sanitized {
	values := make([]withheld, 0, len(a.Values))
	for _, v := range a.Values {
		values = append(values, withhold(v))
	}
	s := located(map[string]any{"by": oneOf(a.By, "value", "label", "index"), "values": values}, a.Locator)
	s.redacted = []string{"values"}
	return s
}

func (a Scroll) sanitize(*key) sanitized {
	fields := map[string]any{"to_element": a.ToElement}
	if !a.ToElement {
		fields["dx"], fields["dy"] = finite(a.DX), finite(a.DY)
	}
	return located(fields, a.Locator)
}

func (a Toggle) sanitize(*key) sanitized {
	return located(map[string]any{"state": oneOf(a.State, "on", "off", "flip")}, a.Locator)
}

func (a Clear) sanitize(*key) sanitized { return located(map[string]any{}, a.Locator) }

func (ClosePage) sanitize(*key) sanitized { return sanitized{fields: map[string]any{}} }

func (Evaluate) sanitize(*key) sanitized {
	return sanitized{fields: map[string]any{}, omitted: []string{"args", "expression", "result"}}
}

func (SetCookies) sanitize(*key) sanitized {
	return sanitized{fields: map[string]any{}, omitted: []string{"cookies", "result"}}
}

func (ClearCookies) sanitize(*key) sanitized {
	return sanitized{fields: map[string]any{}, omitted: []string{"domain", "name", "result", "url"}}
}

// located says how the element was named, never by what.
func located(fields map[string]any, locator string) sanitized {
	if locator == "" {
		return sanitized{fields: fields}
	}
	fields["locator"] = oneOf(locator, "ref", "query", "css", "point", "focused")
	return sanitized{fields: fields, omitted: []string{"locator_value"}}
}

// oneOf lets only known words through.
func oneOf(word string, known ...string) string {
	if word == "" {
		return known[0]
	}
	if slices.Contains(known, word) {
		return word
	}
	return "other"
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

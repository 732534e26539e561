// Package page holds the requests and results of everything that is done to a page or learned from it.
//
// Field tags: json is the argument's or field's name; on requests doc is the short description shown to the
// model, and enum, min, max, default, pattern and maxlen become schema constraints.
package page

import "github.com/krometrail/krometrail/core/id"

// Scope is embedded in every request that is about one page.
type Scope struct {
	Target id.Target `json:"target,omitempty" doc:"page; default: the reference's page, else the selected page"`
}

// PageTarget implements capability.PageScoped.
func (s *Scope) PageTarget() id.Target { return s.Target }

// SetPageTarget implements capability.PageScoped.
func (s *Scope) SetPageTarget(t id.Target) { s.Target = t }

// PageRefs implements capability.PageScoped for requests without references.
func (s *Scope) PageRefs() []string { return nil }

// Element locates one element by exactly one of its fields.
type Element struct {
	Ref   string `json:"ref,omitempty" doc:"node reference such as e42@7 (preferred)"`
	Query string `json:"query,omitempty" doc:"semantic query; acts only on one match"`
	CSS   string `json:"css,omitempty" doc:"CSS selector (debugging escape hatch)"`
}

// Point is a position in a declared space.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Space is viewport_css (default), document_css, or image: pixels of the newest picture of the page.
	Space string `json:"space,omitempty" enum:"viewport_css,document_css,image" default:"viewport_css"`
}

// Rect is an area in CSS pixels of a declared space.
type Rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	// Space is viewport_css (default) or document_css.
	Space string `json:"space,omitempty" enum:"viewport_css,document_css" default:"viewport_css"`
}

// Package page holds the requests and results of everything that is done to a page or learned from it,
// and the pure rules over them: the query grammar, semantic matching, and the projections of a snapshot.
//
// Field tags: json is the argument's or field's name; on requests doc is the short description shown to the
// model, and enum, min, max, default, pattern, maxlen and type become schema constraints. Validate of a request
// fills in the defaults and then checks what a schema cannot say; its errors name the argument.
package page

import (
	"strings"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Scope is embedded in every request that is about one page.
type Scope struct {
	Target id.Target `json:"target,omitempty"`
}

// PageTarget implements capability.PageScoped.
func (s *Scope) PageTarget() id.Target { return s.Target }

// SetPageTarget implements capability.PageScoped.
func (s *Scope) SetPageTarget(t id.Target) { s.Target = t }

// PageRefs implements capability.PageScoped for requests without references.
func (s *Scope) PageRefs() []string { return nil }

// Element locates one element by exactly one of its fields.
type Element struct {
	Ref   string `json:"ref,omitempty"`
	Query string `json:"query,omitempty" maxlen:"1024"`
	CSS   string `json:"css,omitempty" maxlen:"1024"`
}

// Locator is an Element or a position.
type Locator struct {
	Ref   string `json:"ref,omitempty"`
	Query string `json:"query,omitempty" maxlen:"1024"`
	CSS   string `json:"css,omitempty" maxlen:"1024"`
	Point *Point `json:"point,omitempty"`
}

// Element is the locator without its position.
func (l Locator) Element() Element { return Element{Ref: l.Ref, Query: l.Query, CSS: l.CSS} }

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

// The coordinate spaces of points and rectangles.
const (
	SpaceViewport = "viewport_css"
	SpaceDocument = "document_css"
	SpaceImage    = "image"
)

// Empty reports whether nothing is named.
func (e Element) Empty() bool { return e.Ref == "" && e.Query == "" && e.CSS == "" }

// Refs are the references in the locator: its own and the one its query lies within.
func (e Element) Refs() []string {
	refs := make([]string, 0, 2)
	if e.Ref != "" {
		refs = append(refs, e.Ref)
	}
	if e.Query != "" {
		if q, err := ParseQuery(e.Query); err == nil && q.Within != "" {
			refs = append(refs, q.Within)
		}
	}
	return refs
}

// check reports how an element locator breaks its rules; path prefixes argument names, "" at the top.
func (e Element) check(path string, optional bool) error {
	named := e.named()
	switch {
	case len(named) == 0 && optional:
		return nil
	case len(named) == 0:
		return fault.Input(join(path, "ref"), "name exactly one of ref, query or css; none was given")
	case len(named) > 1:
		return fault.Input(join(path, named[1]), "name exactly one of ref, query or css; given were "+strings.Join(named, " and "))
	}
	return e.checkText(path)
}

func (e Element) checkText(path string) error {
	if e.Ref != "" {
		if _, err := ParseRef(e.Ref); err != nil {
			return fault.Input(join(path, "ref"), "a node reference looks like e42@7; take one from snapshot_page or query_page")
		}
	}
	if e.Query != "" {
		if _, err := ParseQuery(e.Query); err != nil {
			return fault.Input(join(path, "query"), err.Error())
		}
	}
	return nil
}

func (e Element) named() []string {
	var named []string
	for _, f := range []struct{ name, value string }{{"ref", e.Ref}, {"query", e.Query}, {"css", e.CSS}} {
		if f.value != "" {
			named = append(named, f.name)
		}
	}
	return named
}

func (l Locator) check(path string) error {
	if l.Point == nil {
		if l.Element().Empty() {
			return fault.Input(join(path, "ref"), "name exactly one of ref, query, css or point; none was given")
		}
		return l.Element().check(path, false)
	}
	if named := l.Element().named(); len(named) > 0 {
		return fault.Input(join(path, "point"), "name exactly one of ref, query, css or point; given were "+named[0]+" and point")
	}
	return l.Point.check(join(path, "point"))
}

func (p *Point) check(path string) error {
	if err := oneOf(&p.Space, join(path, "space"), SpaceViewport, SpaceDocument, SpaceImage); err != nil {
		return err
	}
	if !finite(p.X) || !finite(p.Y) || p.X < 0 || p.Y < 0 {
		return fault.Input(path, "x and y must be finite and not negative")
	}
	return nil
}

func (r *Rect) check(path string) error {
	if err := oneOf(&r.Space, join(path, "space"), SpaceViewport, SpaceDocument); err != nil {
		return err
	}
	if !finite(r.X) || !finite(r.Y) || !finite(r.Width) || !finite(r.Height) || r.X < 0 || r.Y < 0 {
		return fault.Input(path, "x, y, width and height must be finite, x and y not negative")
	}
	if r.Width <= 0 || r.Height <= 0 {
		return fault.Input(path, "width and height must be above 0")
	}
	return nil
}

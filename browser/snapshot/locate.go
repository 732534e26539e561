package snapshot

import (
	"context"
	"errors"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// Located is the one element that a locator means.
type Located struct {
	Document *Document
	Node     uint64
}

// Ref is the element's reference.
func (l Located) Ref() string { return l.Document.Ref(l.Node) }

// Locate resolves an element locator on the present page. Nothing ambiguous is ever returned.
func (r *Registry) Locate(ctx context.Context, s *page.Session, e core.Element) (Located, error) {
	if e.Ref != "" {
		d, node, err := r.Find(s, e.Ref)
		return Located{d, node}, err
	}
	for attempt := 0; ; attempt++ {
		l, err := r.locateNow(ctx, s, e)
		if !errors.Is(err, ErrGone) || attempt == 2 {
			return l, err
		}
	}
}

func (r *Registry) locateNow(ctx context.Context, s *page.Session, e core.Element) (Located, error) {
	d, err := r.Document(ctx, s, "")
	if err != nil {
		return Located{}, err
	}
	if e.CSS != "" {
		return bySelector(ctx, d, e.CSS)
	}
	q, err := core.ParseQuery(e.Query)
	if err != nil {
		return Located{}, fault.Input("query", err.Error())
	}
	if d, err = r.DocumentFor(ctx, d, q); err != nil {
		return Located{}, err
	}
	result, err := r.Query(ctx, d, q, 20)
	if err != nil {
		return Located{}, err
	}
	return r.single(d, q, result)
}

func (r *Registry) single(d *Document, q core.Query, result core.QueryResult) (Located, error) {
	about := fault.Context{TargetID: d.Session.Target()}
	switch result.Outcome {
	case core.Unique:
		ref, err := core.ParseRef(result.Ref)
		return Located{d, ref.Node}, err
	case core.NoMatch:
		return Located{}, fault.New(fault.NotFound, "the query matches nothing that can be acted on%s", result.Explain()).
			WithRecovery("%s", r.elsewhere(d, q, result)).About(about)
	}
	return Located{}, fault.New(fault.LocatorNotUnique, "the query matches %d elements", result.Count).
		WithRecovery("narrow it with name, text (of the row or item) or within, or use a reference from snapshot_page").About(about)
}

// elsewhere says how to reach what the query did not: what is no control, and what lies in a frame.
func (r *Registry) elsewhere(d *Document, q core.Query, result core.QueryResult) string {
	advice := "snapshot_page shows what is there; ~= matches a part of a text"
	if n := result.NonActionable; n != nil && n.Count > 0 {
		advice += "; css or point reach what is no control"
	}
	if q.Frame != "" || len(r.Shown(d.Session.Target()).Sections) < 2 {
		return advice
	}
	return advice + "; the query looked in the main document only: for a frame use its references, or add frame=ifr_…"
}

func bySelector(ctx context.Context, d *Document, css string) (Located, error) {
	var found struct {
		Bad   bool   `json:"bad"`
		Count int    `json:"count"`
		Node  uint64 `json:"node"`
	}
	if err := d.Call(ctx, &found, "find", css); err != nil {
		return Located{}, err
	}
	about := fault.Context{TargetID: d.Session.Target()}
	switch {
	case found.Bad:
		return Located{}, fault.Input("css", "is no valid selector")
	case found.Count == 0:
		return Located{}, fault.New(fault.NotFound, "the selector matches nothing in the main document").
			WithRecovery("snapshot_page shows what is there").About(about)
	case found.Count > 1:
		return Located{}, fault.New(fault.LocatorNotUnique, "the selector matches %d elements", found.Count).
			WithRecovery("narrow the selector, or use a reference from snapshot_page").About(about)
	}
	return Located{d, found.Node}, nil
}

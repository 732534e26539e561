package target

import (
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// Page is one page of a View.
type Page struct {
	ID id.Target
	// CDPTarget is the browser's name of the page.
	CDPTarget string
	// Session serves the page; nil while a known page is not attached.
	Session *page.Session
	// Opener is the page whose script opened this one, "" for none.
	Opener id.Target
	// URL and Title are live page data. They are never stored.
	URL, Title string
	CreatedNS  clock.SessionTime
	// Sequence is the View's sequence in which the page appeared.
	Sequence uint64
	// Limited is set for pages beyond MaxPages: they are listed and driven, but not captured.
	Limited bool
}

// View is the map at one moment. It is immutable.
type View struct {
	// Pages are in order of appearance.
	Pages []Page
	// Selected is the page that requests without a target mean, "" when there is none.
	Selected id.Target
	// Sequence increases with every change.
	Sequence uint64
	// Closed counts the pages that have been closed.
	Closed int
	// LastSelected is the selection before the last page closed.
	LastSelected id.Target
	// changed is closed when this view is no longer the newest.
	changed chan struct{}
}

// Find returns the page, ok false when it is not (or no longer) in the view.
func (v *View) Find(t id.Target) (p Page, ok bool) {
	for _, p := range v.Pages {
		if p.ID == t {
			return p, true
		}
	}
	return Page{}, false
}

// FindCDP finds a page by the browser's name.
func (v *View) FindCDP(target string) (p Page, ok bool) {
	for _, p := range v.Pages {
		if p.CDPTarget == target {
			return p, true
		}
	}
	return Page{}, false
}

// Changed is closed when this view is no longer the newest.
func (v *View) Changed() <-chan struct{} { return v.changed }

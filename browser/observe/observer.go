package observe

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/id"
)

// Pages finds the session of a page.
type Pages interface {
	// Page returns the live session of a page; not_found, session_ended or browser_disconnected without one.
	Page(t id.Target) (*page.Session, error)
}

// Observer looks at pages. Safe for concurrent use.
type Observer struct {
	pages     Pages
	snapshots *snapshot.Registry
	ring      *Ring
	traffic   Traffic

	mu       sync.Mutex
	pictures map[id.Target]Shown
	// titles are those of the newest documents, for when a dialog keeps a page from telling.
	titles map[id.Target]titled
}

type titled struct{ loader, title string }

// Traffic knows the requests of a page that began before anybody asked, by the browser's ids.
type Traffic interface {
	InFlight(ctx context.Context, t id.Target) []string
}

// Follow makes waits for a quiet network count what traffic knows. Call it before the observer is used.
func (o *Observer) Follow(t Traffic) { o.traffic = t }

// New returns an observer; the registry is shared with whoever acts on its references.
func New(p Pages, s *snapshot.Registry, r *Ring) *Observer {
	return &Observer{pages: p, snapshots: s, ring: r, pictures: map[id.Target]Shown{}, titles: map[id.Target]titled{}}
}

// Shown is the geometry of a picture that was returned: what image points refer to.
type Shown struct {
	Width, Height int
	// X and Y are the document position of its corner, CSSPerPixel its scale.
	X, Y, CSSPerPixel float64
	// The view it was taken in. A later scroll or viewport change makes image points refer to nothing.
	ScrollX, ScrollY, ViewWidth, ViewHeight float64
}

// Newest is the newest picture of a page; ok is false when there is none.
func (o *Observer) Newest(t id.Target) (s Shown, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok = o.pictures[t]
	return s, ok
}

func (o *Observer) showed(t id.Target, s Shown) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pictures[t] = s
}

// Forget drops what is kept of a closed page.
func (o *Observer) Forget(t id.Target) {
	o.mu.Lock()
	delete(o.pictures, t)
	delete(o.titles, t)
	o.mu.Unlock()
	o.snapshots.Forget(t)
}

func (o *Observer) remember(s *page.Session, title string) {
	doc, _ := s.Document("")
	o.mu.Lock()
	defer o.mu.Unlock()
	o.titles[s.Target()] = titled{doc.Loader, title}
}

// known is the title that the present document had when it was last observed.
func (o *Observer) known(s *page.Session) string {
	doc, _ := s.Document("")
	o.mu.Lock()
	defer o.mu.Unlock()
	if t := o.titles[s.Target()]; t.loader == doc.Loader {
		return t.title
	}
	return ""
}

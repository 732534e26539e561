package trace

import (
	"maps"
	"sync"

	"github.com/krometrail/krometrail/core/id"
)

// Book holds the traces of one browser session, one for each traced page. Safe for concurrent use.
type Book struct {
	session id.Session
	every   bool

	mu    sync.Mutex
	pages map[id.Target]*Recorder // nil: known and not traced
}

// NewBook returns the book of a session. everyPage traces every page from its first appearance on.
func NewBook(session id.Session, everyPage bool) *Book {
	return &Book{session: session, every: everyPage, pages: map[id.Target]*Recorder{}}
}

// Opened decides once for each page whether it is traced: when the session traces every page or when asked
// is set. A later call for the same page changes nothing, because a trace that begins in the middle would look
// like a whole one. It returns the page's recorder, nil when it has none.
func (b *Book) Opened(page id.Target, asked bool) *Recorder {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, known := b.pages[page]
	if !known {
		if asked || b.every {
			r = NewRecorder(b.session, page)
		}
		b.pages[page] = r
	}
	return r
}

// Of returns a page's recorder, nil when it has none.
func (b *Book) Of(page id.Target) *Recorder {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pages[page]
}

// For returns the recorder of a live page, nil when it has none. In a session that traces every page it starts the
// trace of a page that opened by itself; new says so.
func (b *Book) For(page id.Target) (r *Recorder, isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, known := b.pages[page]
	if known || !b.every {
		return r, false
	}
	r = NewRecorder(b.session, page)
	b.pages[page] = r
	return r, true
}

// Keep destroys the traces of all pages but the live ones.
func (b *Book) Keep(live func(id.Target) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.pages, func(page id.Target, _ *Recorder) bool { return !live(page) })
}

// Session is the session whose pages are traced.
func (b *Book) Session() id.Session { return b.session }

// Status returns a page's counters, or those of a disabled trace.
func (b *Book) Status(page id.Target) Status {
	if r := b.Of(page); r != nil {
		return r.Status()
	}
	return Disabled()
}

// Closed destroys a closed page's trace and returns its last export, nil when it had none.
func (b *Book) Closed(page id.Target) *Export {
	b.mu.Lock()
	r := b.pages[page]
	delete(b.pages, page)
	b.mu.Unlock()
	if r == nil {
		return nil
	}
	final := r.Export()
	return &final
}

// Validate is Recorder.Validate for the named page. A page without a trace refuses every trace id.
func (b *Book) Validate(page id.Target, q Request, now Current) Verdict {
	r := b.Of(page)
	if r == nil {
		return refuse(q, CrossSession)
	}
	return r.Validate(q, now)
}

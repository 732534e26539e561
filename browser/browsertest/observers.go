package browsertest

import (
	"sync"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
)

// observers hands everything on to those who observe at present.
type observers struct {
	mu   sync.Mutex
	list []target.Observer
}

// Observe tells o of pages that open from now on, until the returned function is called.
func (b *Browser) Observe(o target.Observer) (stop func()) {
	b.observers.mu.Lock()
	defer b.observers.mu.Unlock()
	b.observers.list = append(b.observers.list, o)
	return func() {
		b.observers.mu.Lock()
		defer b.observers.mu.Unlock()
		for i, other := range b.observers.list {
			if other == o {
				b.observers.list = append(b.observers.list[:i:i], b.observers.list[i+1:]...)
				return
			}
		}
	}
}

func (o *observers) each(f func(target.Observer)) {
	o.mu.Lock()
	list := append([]target.Observer(nil), o.list...)
	o.mu.Unlock()
	for _, observer := range list {
		f(observer)
	}
}

func (o *observers) eachChild(f func(target.ChildObserver)) {
	o.each(func(observer target.Observer) {
		if c, ok := observer.(target.ChildObserver); ok {
			f(c)
		}
	})
}

// PageAttached implements target.Observer.
func (o *observers) PageAttached(p target.Page) {
	o.each(func(t target.Observer) { t.PageAttached(p) })
}

// PageDetached implements target.Observer.
func (o *observers) PageDetached(p target.Page, closed bool) {
	o.each(func(t target.Observer) { t.PageDetached(p, closed) })
}

// FrameAttached implements target.ChildObserver.
func (o *observers) FrameAttached(p target.Page, frame *page.Session) {
	o.eachChild(func(t target.ChildObserver) { t.FrameAttached(p, frame) })
}

// WorkerAttached implements target.ChildObserver.
func (o *observers) WorkerAttached(p target.Page, kind, cdpTarget, session string) (follow bool) {
	o.eachChild(func(t target.ChildObserver) { follow = t.WorkerAttached(p, kind, cdpTarget, session) || follow })
	return follow
}

// ChildDetached implements target.ChildObserver.
func (o *observers) ChildDetached(p target.Page, session string) {
	o.eachChild(func(t target.ChildObserver) { t.ChildDetached(p, session) })
}

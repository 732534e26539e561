package target

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// MaxPages is how many pages are captured at once. Later pages are listed, driven and marked as limited.
const MaxPages = 128

// eventQueue bounds the target events that wait for the owner of the map.
const eventQueue = 4096

// Observer follows pages. Its methods are called by the goroutine that owns the map and must not wait.
type Observer interface {
	// PageAttached is called before a new page runs its first script or sends its first request, and for
	// pages that were there already. It may send commands with Post; they take effect before the page runs.
	PageAttached(p Page)
	// PageDetached is called when the page was closed, or, with closed false, when the connection was lost.
	PageDetached(p Page, closed bool)
}

// ChildObserver is an Observer that follows what runs beside a page's main document as well.
type ChildObserver interface {
	Observer
	// FrameAttached is PageAttached for an out-of-process frame of p.
	FrameAttached(p Page, frame *page.Session)
	// WorkerAttached is called before a worker of p runs its script. kind is worker, shared_worker or
	// service_worker; session is its protocol session. A worker that no observer follows is detached.
	WorkerAttached(p Page, kind, cdpTarget, session string) (follow bool)
	// ChildDetached is called when a frame or worker is gone.
	ChildDetached(p Page, session string)
}

// Config of a registry.
type Config struct {
	Browser *page.Browser
	Session id.Session
	Clock   clock.Session
	Facts   record.FactSink
	// Observers are told in this order.
	Observers []Observer
	// Inherit is the map before a reconnect: pages keep their identity and selection.
	Inherit *View
	// URLs is the session's key for address summaries.
	URLs   *redact.Key
	Logger *slog.Logger
}

// Registry owns the map of pages of one connection.
type Registry struct {
	config   Config
	view     atomic.Pointer[View]
	commands chan func()
	events   *cdp.Subscription
	done     chan struct{}

	// What follows belongs to the owning goroutine.
	pages    []*entry
	sessions map[string]*entry // by protocol session, of pages and of their frames
	selected id.Target
	recent   []id.Target // selection history, newest last
	sequence uint64
	closed   int
	last     id.Target
	lost     uint64
}

type entry struct {
	Page
	known bool // inherited and not yet attached again
}

// Start begins to discover and attach pages. It returns once the browser has accepted that; pages that exist
// already appear soon after. The registry ends with the connection; Done tells.
func Start(ctx context.Context, c Config) (*Registry, error) {
	r := &Registry{
		config: c, commands: make(chan func()), done: make(chan struct{}), sessions: map[string]*entry{},
		events: c.Browser.Client().SubscribeAll(eventQueue, "Target.attachedToTarget", "Target.detachedFromTarget",
			"Target.targetInfoChanged", "Target.targetDestroyed"),
	}
	r.inherit()
	r.publish()
	go r.run()
	if err := r.attachAll(ctx); err != nil {
		r.events.Close()
		<-r.done
		return nil, err
	}
	return r, nil
}

var pageFilter = []map[string]any{{"type": "page"}, {"type": "webview"}, {"exclude": true}}

func (r *Registry) attachAll(ctx context.Context) error {
	err := r.config.Browser.Send(ctx, "Target.setDiscoverTargets", map[string]any{"discover": true, "filter": pageFilter}, nil)
	if err != nil {
		return err
	}
	return r.config.Browser.Send(ctx, "Target.setAutoAttach", map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": pageFilter,
	}, nil)
}

// inherit lists the pages of the map before a reconnect; those that do not come back are dropped by Settle.
func (r *Registry) inherit() {
	old := r.config.Inherit
	if old == nil {
		return
	}
	for _, p := range old.Pages {
		p.Session = nil
		r.pages = append(r.pages, &entry{Page: p, known: true})
	}
	r.selected, r.sequence, r.closed, r.last = old.Selected, old.Sequence, old.Closed, old.LastSelected
}

func (r *Registry) run() {
	defer close(r.done)
	for {
		select {
		case event, ok := <-r.events.Events():
			if !ok {
				r.detachAll()
				return
			}
			r.handle(event)
		case command := <-r.commands:
			command()
		}
		if lost := r.events.Dropped(); lost != r.lost {
			r.lost = lost
			r.config.Logger.Warn("target events were dropped", "total", lost)
		}
	}
}

// Done is closed when the registry has ended.
func (r *Registry) Done() <-chan struct{} { return r.done }

// Stop ends the registry and tells the observers that every page is detached. The browser is not touched.
func (r *Registry) Stop() {
	r.events.Close()
	<-r.done
}

// View returns the newest view.
func (r *Registry) View() *View { return r.view.Load() }

// Wait returns the first view, starting with the newest, that satisfies ok, or the cause of ctx. When the
// registry has ended it returns the last view and cdp.ErrClosed.
func (r *Registry) Wait(ctx context.Context, ok func(*View) bool) (*View, error) {
	for {
		v := r.View()
		if ok(v) {
			return v, nil
		}
		select {
		case <-v.changed:
		case <-ctx.Done():
			return v, context.Cause(ctx)
		case <-r.done:
			if v = r.View(); ok(v) {
				return v, nil
			}
			return v, cdp.ErrClosed
		}
	}
}

// do runs f on the owning goroutine and waits for it. It does nothing when the registry has ended.
func (r *Registry) do(f func()) {
	ran := make(chan struct{})
	select {
	case r.commands <- func() { f(); close(ran) }:
		<-ran
	case <-r.done:
	}
}

// publish makes the present map the newest view.
func (r *Registry) publish() {
	v := &View{
		Pages: make([]Page, 0, len(r.pages)), Selected: r.selected, Sequence: r.sequence, Closed: r.closed,
		LastSelected: r.last, changed: make(chan struct{}),
	}
	for _, e := range r.pages {
		v.Pages = append(v.Pages, e.Page)
	}
	if old := r.view.Swap(v); old != nil {
		close(old.changed)
	}
}

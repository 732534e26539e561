package session

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
)

// Browser is the program's one browser. Sessions follow one another; at most one is alive.
type Browser struct {
	deps     Deps
	profiles chrome.Profiles

	// transition is held by whoever starts or ends a session.
	transition chan struct{}

	mu    sync.Mutex
	state corepage.State
	live  *live // the present session, or the last one that ended
}

// New returns a browser in state none. Shutdown must be called.
func New(d Deps) *Browser {
	return &Browser{
		deps: d, profiles: chrome.NewProfiles(d.ProfileRoot), state: corepage.StateNone,
		transition: make(chan struct{}, 1),
	}
}

// enter takes the right to start or end sessions; leave gives it back.
func (b *Browser) enter(ctx context.Context) (leave func(), err error) {
	select {
	case b.transition <- struct{}{}:
		return func() { <-b.transition }, nil
	case <-ctx.Done():
		return nil, fault.New(fault.Cancelled, "another start or stop was under way").Because(context.Cause(ctx))
	}
}

func (b *Browser) setState(s corepage.State) {
	b.mu.Lock()
	b.state = s
	b.mu.Unlock()
}

func (b *Browser) snapshot() (corepage.State, *live) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.live
}

// running returns the session that serves requests.
func (b *Browser) running() (*live, error) {
	state, l := b.snapshot()
	switch state {
	case corepage.StateReady:
		return l, nil
	case corepage.StateReconnecting:
		return nil, fault.New(fault.BrowserDisconnected, "the connection to the browser was lost and is being restored").
			WithRetry(fault.Safe).WithRecovery("try again in a few seconds").About(fault.Context{SessionID: l.id})
	case corepage.StateEnded:
		return nil, endedFault(l)
	case corepage.StateConnecting, corepage.StateStopping:
		return nil, fault.New(fault.InvalidLifecycleTransition, "the browser is %s", state).
			WithRetry(fault.Safe).WithRecovery("try again when browser_status is ready or none")
	}
	return nil, fault.New(fault.InvalidLifecycleTransition, "no browser has been started").
		WithRetry(fault.AfterRecovery).WithRecovery("start_browser first")
}

func endedFault(l *live) error {
	f := fault.New(fault.SessionEnded, "the browser session has ended: %s", l.endReason()).
		WithRecovery("start_browser begins a new session; what was recorded stays readable")
	return f.About(fault.Context{SessionID: l.id})
}

// Page returns the session of an open page; target "" is the selected page.
func (b *Browser) Page(t id.Target) (*page.Session, error) {
	l, err := b.running()
	if err != nil {
		return nil, err
	}
	row, err := l.find(t)
	if err != nil {
		return nil, err
	}
	return row.Session, nil
}

// ResolvePage returns the page a request is about: t when it is open, the selected page for "". The page of node
// references is not known here.
func (b *Browser) ResolvePage(t id.Target) (id.Target, error) {
	l, err := b.running()
	if err != nil {
		return "", err
	}
	row, err := l.find(t)
	return row.ID, err
}

// EnsureStarted starts the default browser in state none and reports whether it did. Any other state that cannot
// serve requests is an error: a session that ended by itself is not replaced silently.
func (b *Browser) EnsureStarted(ctx context.Context) (started bool, err error) {
	state, _ := b.snapshot()
	if state == corepage.StateConnecting {
		leave, err := b.enter(ctx) // another request is starting it
		if err != nil {
			return false, err
		}
		leave()
		state, _ = b.snapshot()
	}
	if state != corepage.StateNone {
		_, err := b.running()
		return false, err
	}
	if _, err := b.Start(ctx, corepage.StartRequest{}); err != nil {
		if state, _ := b.snapshot(); state == corepage.StateReady {
			return false, nil // another request was faster
		}
		return false, err
	}
	return true, nil
}

// Current returns the running session and its clock.
func (b *Browser) Current() (id.Session, clock.Session, error) {
	l, err := b.running()
	if err != nil {
		return "", clock.Session{}, err
	}
	return l.id, l.clock, nil
}

// Latest returns the present or last session and the page that is or was selected in it; ok is false when
// there never was one.
func (b *Browser) Latest() (session id.Session, selected id.Target, ok bool) {
	_, l := b.snapshot()
	if l == nil {
		return "", "", false
	}
	v := l.view()
	if v.Selected != "" {
		return l.id, v.Selected, true
	}
	return l.id, v.LastSelected, true
}

// Selected returns the selected page, "" when there is none.
func (b *Browser) Selected() id.Target {
	l, err := b.running()
	if err != nil {
		return ""
	}
	return l.view().Selected
}

// GapsSince lists the page's capture gaps that touch the time since t.
func (b *Browser) GapsSince(t id.Target, since clock.SessionTime) []id.Gap {
	_, l := b.snapshot()
	if l == nil {
		return nil
	}
	return l.recorder.GapsSince(t, since)
}

// CaptureFailure is why the page is not recorded as it should, nil while it is.
func (b *Browser) CaptureFailure(t id.Target) error {
	_, l := b.snapshot()
	if l == nil {
		return nil
	}
	if f := l.recorder.Failure(t); f != nil {
		return f
	}
	return nil
}

// FlushCapture waits until every frame received and every fact made so far has been given to the store.
func (b *Browser) FlushCapture(ctx context.Context) error {
	_, l := b.snapshot()
	if l == nil {
		return nil
	}
	if err := l.recorder.Flush(ctx); err != nil {
		return err
	}
	return l.facts.flush(ctx)
}

// Profiles lists the managed profiles.
func (b *Browser) Profiles(context.Context) (corepage.Profiles, error) { return b.profiles.List() }

package page

import (
	"context"
	"strings"
	"sync"

	"github.com/krometrail/krometrail/core/fault"
)

// Dialog is an open JavaScript dialog.
type Dialog struct {
	// Type is alert, confirm, prompt or beforeunload.
	Type string
	// Message and DefaultPrompt are page text, bounded to 2 KiB each. They are never stored.
	Message       string
	DefaultPrompt string
}

// gate holds what makes renderer calls pointless: a dialog blocks the renderer and a crash ends it, and
// in both cases such calls are never answered. Page and out-of-process frames share one gate.
type gate struct {
	mu      sync.Mutex
	dialog  *Dialog
	known   bool // the browser reports dialogs of this page
	crashed bool
	waiters map[*waiter]struct{}
	about   fault.Context
	// blocked is closed while a dialog is open or the page has crashed.
	blocked   chan struct{}
	isBlocked bool
}

type waiter struct {
	method string
	cancel context.CancelCauseFunc
}

func newGate(about fault.Context) *gate {
	return &gate{waiters: map[*waiter]struct{}{}, about: about, blocked: make(chan struct{})}
}

// enter refuses method while it could not be answered; else cancel is called when that changes before leave.
func (g *gate) enter(method string, cancel context.CancelCauseFunc) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.refusal(method); err != nil {
		return nil, err
	}
	w := &waiter{method: method, cancel: cancel}
	g.waiters[w] = struct{}{}
	return w, nil
}

func (g *gate) leave(w *waiter) {
	g.mu.Lock()
	delete(g.waiters, w)
	g.mu.Unlock()
}

func (g *gate) refusal(method string) *fault.Error {
	if g.crashed && !worksCrashed(method) {
		return fault.New(fault.TargetFailed, "the page has crashed").
			WithRecovery("reload_page or navigate_to starts a fresh renderer").WithRetry(fault.AfterRecovery).About(g.about)
	}
	if g.dialog != nil && !worksUnderDialog(method) {
		return dialogFault(g.dialog.Type).About(g.about)
	}
	return nil
}

func dialogFault(kind string) *fault.Error {
	return fault.New(fault.DialogOpen, "a dialog (%s) is open and blocks the page", kind).
		WithRecovery("handle_dialog first")
}

// update keeps blocked in step with the state and cancels the calls that can no longer be answered.
func (g *gate) update() {
	now := g.dialog != nil || g.crashed
	switch {
	case now && !g.isBlocked:
		close(g.blocked)
	case !now && g.isBlocked:
		g.blocked = make(chan struct{})
	}
	g.isBlocked = now
	for w := range g.waiters {
		if err := g.refusal(w.method); err != nil {
			w.cancel(err.Because(ErrInterrupted))
		}
	}
}

func (g *gate) openDialog(d Dialog) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dialog, g.known = &d, true
	g.update()
}

func (g *gate) closeDialog() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dialog = nil
	g.update()
}

// block returns a channel that is closed once the page is blocked, and then the reason.
func (g *gate) block() (blocked <-chan struct{}, reason func() *fault.Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.blocked, func() *fault.Error {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.refusal("Runtime.evaluate")
	}
}

func (g *gate) setKnown() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known = true
}

func (g *gate) setCrashed(crashed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.crashed = crashed
	if crashed {
		g.dialog = nil // a dialog dies with its renderer, without a closing event
	}
	g.update()
}

func (g *gate) state() (dialog *Dialog, known, crashed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dialog != nil {
		d := *g.dialog
		dialog = &d
	}
	return dialog, g.known, g.crashed
}

// worksUnderDialog lists what the browser process answers by itself.
func worksUnderDialog(method string) bool {
	switch method {
	case "Page.handleJavaScriptDialog", "Page.enable", "Page.startScreencast", "Page.stopScreencast":
		return true
	}
	return browserMethod(method)
}

func worksCrashed(method string) bool {
	switch method {
	case "Page.navigate", "Page.reload", "Page.enable", "Page.startScreencast", "Page.stopScreencast",
		"Page.handleJavaScriptDialog", "Page.getNavigationHistory", "Page.navigateToHistoryEntry":
		return true
	}
	return browserMethod(method)
}

func browserMethod(method string) bool {
	return strings.HasPrefix(method, "Target.") || strings.HasPrefix(method, "Browser.")
}

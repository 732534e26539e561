package session

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/browser/capture"
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// live is one session, from its connection to its end and after it.
type live struct {
	browser  *Browser
	id       id.Session
	clock    clock.Session
	facts    *facts
	urls     *redact.Key
	recorder *capture.Recorder
	viewport *viewports
	profile  *chrome.Profile // nil for attached browsers
	process  Process         // nil for attached browsers
	endpoint endpoint        // zero for managed browsers
	focus    string
	sandbox  [2]string // state and reason
	found    []corepage.InstalledBrowser
	probe    []corepage.ProbeRow

	// stop is closed when the session is to end; supervision tells when supervise has ended.
	stop        chan struct{}
	stopOnce    sync.Once
	supervision sync.WaitGroup

	// cursors binds page cursors to this session.
	cursors string

	mu         sync.Mutex
	record     record.Session
	client     *cdp.Client
	root       *page.Browser
	registry   *target.Registry
	reconnects int
	end        *fault.Error
	outcome    corepage.StopResult
	mark       uint64 // the view's sequence before the last action
	marked     bool
}

// connection returns what belongs to the present connection.
func (l *live) connection() (*page.Browser, *target.Registry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.root, l.registry
}

func (l *live) view() *target.View {
	_, registry := l.connection()
	return registry.View()
}

// find returns an open page; "" is the selected one.
func (l *live) find(t id.Target) (target.Page, error) {
	v := l.view()
	if t == "" {
		t = v.Selected
	}
	row, ok := v.Find(t)
	switch {
	case t == "":
		return target.Page{}, fault.New(fault.NotFound, "no page is open").WithRetry(fault.AfterRecovery).
			WithRecovery("open_page").About(fault.Context{SessionID: l.id})
	case !ok:
		return target.Page{}, fault.New(fault.NotFound, "no open page has this target").WithRetry(fault.AfterRecovery).
			WithRecovery("list_pages shows the open pages").About(fault.Context{SessionID: l.id, TargetID: t})
	case row.Session == nil:
		return target.Page{}, fault.New(fault.BrowserDisconnected, "the page is being attached again").WithRetry(fault.Safe).
			About(fault.Context{SessionID: l.id, TargetID: t})
	}
	return row, nil
}

func (l *live) endReason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end == nil {
		return "it was stopped"
	}
	return l.end.Message
}

// connect makes the session's packages serve a new connection.
func (l *live) connect(ctx context.Context, client *cdp.Client, version page.Versions, inherit *target.View) error {
	root := page.NewBrowser(client, l.browser.deps.Clock, version)
	observers := []target.Observer{l.viewport}
	if !l.browser.deps.CaptureOff {
		l.recorder.Bind(client)
		observers = append(observers, l.recorder)
	}
	started := Started{Session: l.id, Clock: l.clock, Browser: root, Facts: l.facts, URLs: l.urls, Managed: l.process != nil}
	for _, s := range l.browser.deps.Subsystems {
		if o := s.Begin(started); o != nil {
			observers = append(observers, o)
		}
	}
	registry, err := target.Start(ctx, target.Config{
		Browser: root, Session: l.id, Clock: l.clock, Facts: l.facts, Observers: observers, Inherit: inherit,
		URLs: l.urls, Logger: l.browser.deps.Logger,
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.client, l.root, l.registry = client, root, registry
	l.mu.Unlock()
	return nil
}

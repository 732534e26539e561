package page

import (
	"sync"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// Config describes an attached page.
type Config struct {
	Browser *Browser
	// CDPSession is the flat protocol session, CDPTarget the browser's name of the target.
	CDPSession, CDPTarget string
	Target                id.Target
	Session               id.Session
	Clock                 clock.Session
	// Facts takes observer intervals and navigations. Put is also called on the connection's reading
	// goroutine and must not block.
	Facts record.FactSink
	// URLs is the session's key for address summaries.
	URLs *redact.Key
}

// Session is one attachment to a page, or to an out-of-process frame of it. It lives until the target is
// detached; afterwards its commands fail with target_failed. All methods are safe for concurrent use.
type Session struct {
	client   *cdp.Client
	browser  *Browser
	id       string
	cdp      string
	target   id.Target
	record   id.Session
	clock    clock.Session
	facts    record.FactSink
	versions Versions
	gate     *gate
	worlds   *worlds
	docs     *documents
	navs     *navigations
	urls     *redact.Key
	parent   *Session
	taps     []*cdp.Subscription
	shots    shots

	mu       sync.Mutex
	children map[string]*Session
	emulated *Emulated
}

// New returns the session of an attached page and starts following its events. Prepare turns them on.
func New(c Config) *Session {
	about := fault.Context{SessionID: c.Session, TargetID: c.Target}
	s := &Session{
		client: c.Browser.client, browser: c.Browser, id: c.CDPSession, cdp: c.CDPTarget, target: c.Target,
		record: c.Session, clock: c.Clock, facts: c.Facts, versions: c.Browser.versions, gate: newGate(about),
		children: map[string]*Session{}, urls: c.URLs, navs: &navigations{changed: make(chan struct{})},
	}
	s.follow()
	return s
}

// AddChild attaches an out-of-process frame, whose target name is its frame id. It is called by the owner of
// the target map.
func (s *Session) AddChild(cdpSession, frame string) *Session {
	child := &Session{
		client: s.client, browser: s.browser, id: cdpSession, cdp: frame, target: s.target, record: s.record,
		clock: s.clock, facts: s.facts, versions: s.versions, gate: s.gate, parent: s.root(), children: map[string]*Session{},
	}
	child.follow()
	root := s.root()
	root.mu.Lock()
	root.children[cdpSession] = child
	root.mu.Unlock()
	return child
}

// RemoveChild forgets a detached frame.
func (s *Session) RemoveChild(cdpSession string) {
	root := s.root()
	root.mu.Lock()
	child := root.children[cdpSession]
	delete(root.children, cdpSession)
	root.mu.Unlock()
	if child != nil {
		child.Detach()
	}
}

// Detach stops following events. It is called by the owner of the target map when the target is gone.
func (s *Session) Detach() {
	for _, tap := range s.taps {
		tap.Close()
	}
	for _, child := range s.Children() {
		child.Detach()
	}
}

func (s *Session) root() *Session {
	if s.parent != nil {
		return s.parent
	}
	return s
}

// Children returns the sessions of the page's out-of-process frames at every depth, in no order. A child
// has none of its own.
func (s *Session) Children() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Session, 0, len(s.children))
	for _, child := range s.children {
		list = append(list, child)
	}
	return list
}

// Child returns the session that serves the out-of-process frame, nil when there is none.
func (s *Session) Child(frame string) *Session {
	for _, child := range s.root().Children() {
		if child.cdp == frame {
			return child
		}
	}
	return nil
}

// Page returns the session of the page that this frame's session belongs to, itself for a page.
func (s *Session) Page() *Session { return s.root() }

// Target is the page's identity.
func (s *Session) Target() id.Target { return s.target }

// RecordSession is the recording session.
func (s *Session) RecordSession() id.Session { return s.record }

// CDPSession is the flat protocol session, CDPTarget the browser's target name.
func (s *Session) CDPSession() string { return s.id }

// CDPTarget is the browser's own name of the target.
func (s *Session) CDPTarget() string { return s.cdp }

// Clock is the session clock.
func (s *Session) Clock() clock.Session { return s.clock }

// Now is the present session time.
func (s *Session) Now() clock.SessionTime { return s.clock.Now() }

// Browser is the browser-level session.
func (s *Session) Browser() *Browser { return s.browser }

// Subscribe returns the queue of this session's events with the given methods, or of all when none is
// given. Events of child sessions are not in it. It ends when the page is detached; close it when done.
func (s *Session) Subscribe(methods ...string) *cdp.Subscription {
	return s.client.Subscribe(s.id, methods...)
}

// Tap calls f for events on the connection's reading goroutine; f must not block.
func (s *Session) Tap(f func(cdp.Event), methods ...string) *cdp.Subscription {
	return s.client.Tap(s.id, f, methods...)
}

// Dialog returns the open dialog, nil when none is open. known is false while the browser has not
// confirmed that it reports this page's dialogs.
func (s *Session) Dialog() (open *Dialog, known bool) {
	open, known, _ = s.gate.state()
	return open, known
}

// Crashed reports whether the renderer has crashed and not been replaced.
func (s *Session) Crashed() bool {
	_, _, crashed := s.gate.state()
	return crashed
}

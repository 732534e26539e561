package events

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// States and kinds of record.Navigation.
const (
	NavStarted   = "started"
	NavCommitted = "committed"
	NavDOM       = "dom"
	NavComplete  = "complete"
	NavFailed    = "failed"

	kindDocument = "document"
	kindSame     = "same_document"
	kindReload   = "reload"
	kindHistory  = "history"
)

// rememberedNavs is how many navigations of a page are found by their loader.
const rememberedNavs = 32

// navMessages drive navigations; they are listened to in any case.
var navMessages = []string{
	"Page.frameStartedNavigating", "Page.frameNavigated", "Page.navigatedWithinDocument", "Page.frameStoppedLoading", "Page.lifecycleEvent",
}

// Navigations follows the main document of every page. Its state is kept by taps on the connection's reader, so
// whoever has seen a reply or event of the browser sees the navigations before it. Safe for concurrent use.
type Navigations struct {
	clock   clock.Session
	session id.Session
	key     *redact.Key
	// changed is called with every new state, on the reader.
	changed func(s *stream, n record.Navigation)

	mu    sync.Mutex
	pages map[id.Target]*pageNavs
	wake  chan struct{} // closed and replaced when something changed
}

type pageNavs struct {
	begun    uint64 // navigations so far
	document *nav   // the newest one that loads a document
	latest   *nav
	recent   []*nav
}

type nav struct {
	record.Navigation
	loader string
	number uint64
}

func newNavigations(c clock.Session, session id.Session, key *redact.Key) *Navigations {
	return &Navigations{clock: c, session: session, key: key, pages: map[id.Target]*pageNavs{}, wake: make(chan struct{})}
}

// Mark is the number of navigations that a page has begun so far.
func (n *Navigations) Mark(t id.Target) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.pages[t]; p != nil {
		return p.begun
	}
	return 0
}

// Latest returns the newest navigation of a page, ok false before the first.
func (n *Navigations) Latest(t id.Target) (record.Navigation, bool) { return n.After(t, 0) }

// After returns the newest navigation that began after the mark was taken, ok false when none has.
func (n *Navigations) After(t id.Target, mark uint64) (record.Navigation, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.pages[t]
	if p == nil || p.latest == nil || p.latest.number <= mark {
		return record.Navigation{}, false
	}
	return p.latest.Navigation, true
}

// Await waits until the newest navigation after the mark satisfies ok and returns it. When ctx ends first it
// returns the newest there is with the cause. A page that closes gives target_failed.
func (n *Navigations) Await(ctx context.Context, t id.Target, mark uint64, ok func(record.Navigation) bool) (record.Navigation, error) {
	for {
		n.mu.Lock()
		wake, page := n.wake, n.pages[t]
		n.mu.Unlock()
		if page == nil {
			return record.Navigation{}, fault.New(fault.TargetFailed, "the page was closed").About(fault.Context{TargetID: t})
		}
		newest, found := n.After(t, mark)
		if found && ok(newest) {
			return newest, nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return newest, context.Cause(ctx)
		}
	}
}

// of finds a recent navigation by its document's loader.
func (n *Navigations) of(t id.Target, loader string) id.Navigation {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.pages[t]
	if p == nil || loader == "" {
		return ""
	}
	for _, candidate := range p.recent {
		if candidate.loader == loader {
			return candidate.ID
		}
	}
	return ""
}

func (n *Navigations) add(t id.Target) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pages[t] == nil {
		n.pages[t] = &pageNavs{}
	}
}

func (n *Navigations) remove(t id.Target) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pages, t)
	n.broadcast()
}

func (n *Navigations) broadcast() {
	close(n.wake)
	n.wake = make(chan struct{})
}

type wireNavigation struct {
	ID     string `json:"frameId"`
	Loader string `json:"loaderId"`
	URL    string `json:"url"`
	Type   string `json:"navigationType"`
}

// observe runs on the reader.
func (n *Navigations) observe(s *stream, e cdp.Event) {
	n.mu.Lock()
	p := n.pages[s.target]
	if p == nil {
		n.mu.Unlock()
		return
	}
	var states []record.Navigation
	put := func(v *nav) { states = append(states, v.Navigation) }
	at := n.clock.At(e.Received)
	switch e.Method {
	case "Page.frameStartedNavigating":
		n.started(s, p, e, at, put)
	case "Page.frameNavigated":
		n.committed(s, p, e, at, put)
	case "Page.navigatedWithinDocument":
		n.within(s, p, e, at, put)
	case "Page.lifecycleEvent":
		n.milestone(s, p, e, at, put)
	case "Page.frameStoppedLoading":
		n.stopped(s, p, e, put)
	}
	if len(states) > 0 {
		n.broadcast()
	}
	n.mu.Unlock()
	for _, state := range states {
		n.changed(s, state)
	}
}

func (n *Navigations) begin(s *stream, p *pageNavs, at clock.SessionTime, kind, loader, url string) *nav {
	p.begun++
	v := &nav{loader: loader, number: p.begun, Navigation: record.Navigation{
		ID: id.New[id.Navigation](), SessionID: n.session, TargetID: s.target, StartNS: at, State: NavStarted, Kind: kind, URL: encode(redact.Summarize(url, n.key)),
	}}
	p.latest = v
	p.recent = append(p.recent, v)
	if len(p.recent) > rememberedNavs {
		p.recent = append([]*nav(nil), p.recent[1:]...)
	}
	return v
}

func (n *Navigations) started(s *stream, p *pageNavs, e cdp.Event, at clock.SessionTime, put func(*nav)) {
	var w wireNavigation
	if e.Decode(&w) != nil || s.childFrame(w.ID) {
		return
	}
	kind := kindDocument
	switch w.Type {
	case "sameDocument", "historySameDocument":
		return // navigatedWithinDocument tells it when it has happened
	case "reload", "reloadBypassingCache":
		kind = kindReload
	case "historyDifferentDocument", "restore", "restoreWithPost":
		kind = kindHistory
	}
	if old := p.document; old != nil && old.State == NavStarted {
		if old.loader == w.Loader {
			return
		}
		old.State = NavFailed // superseded before it could commit
		put(old)
	}
	p.document = n.begin(s, p, at, kind, w.Loader, w.URL)
	put(p.document)
}

func (n *Navigations) committed(s *stream, p *pageNavs, e cdp.Event, at clock.SessionTime, put func(*nav)) {
	var w struct {
		Frame struct {
			ID          string `json:"id"`
			Parent      string `json:"parentId"`
			Loader      string `json:"loaderId"`
			URL         string `json:"url"`
			Fragment    string `json:"urlFragment"`
			Unreachable string `json:"unreachableUrl"`
		} `json:"frame"`
		Type string `json:"type"`
	}
	if e.Decode(&w) != nil || w.Frame.Parent != "" {
		return
	}
	v := p.document
	if v == nil || v.loader != w.Frame.Loader {
		if v != nil && v.State == NavStarted && v.loader == "" {
			v.loader = w.Frame.Loader
		} else {
			v = n.begin(s, p, at, kindDocument, w.Frame.Loader, w.Frame.URL+w.Frame.Fragment)
			p.document = v
		}
	}
	v.CommitNS, v.State = &at, NavCommitted
	v.URL = encode(redact.Summarize(w.Frame.URL+w.Frame.Fragment, n.key))
	switch {
	case w.Frame.Unreachable != "":
		v.State = NavFailed // what has committed is the browser's error page
		v.URL = encode(redact.Summarize(w.Frame.Unreachable, n.key))
	case w.Type == "BackForwardCacheRestore":
		v.State, v.DOMNS, v.LoadNS = NavComplete, &at, &at
	}
	put(v)
}

func (n *Navigations) within(s *stream, p *pageNavs, e cdp.Event, at clock.SessionTime, put func(*nav)) {
	var w wireNavigation
	if e.Decode(&w) != nil || s.childFrame(w.ID) {
		return
	}
	v := n.begin(s, p, at, kindSame, "", w.URL)
	v.CommitNS, v.State = &at, NavComplete
	put(v)
}

func (n *Navigations) milestone(s *stream, p *pageNavs, e cdp.Event, at clock.SessionTime, put func(*nav)) {
	var w wireLifecycle
	v := p.document
	if v == nil || e.Decode(&w) != nil || s.childFrame(w.Frame) || w.Loader != v.loader || v.State == NavFailed || v.CommitNS == nil {
		return
	}
	switch {
	case w.Name == "DOMContentLoaded" && v.DOMNS == nil:
		v.DOMNS = &at
		if v.State != NavComplete {
			v.State = NavDOM
		}
	case w.Name == "load" && v.LoadNS == nil:
		v.LoadNS, v.State = &at, NavComplete
	default:
		return
	}
	put(v)
}

// stopped ends a navigation that never committed: a download, an empty answer, or a stop.
func (n *Navigations) stopped(s *stream, p *pageNavs, e cdp.Event, put func(*nav)) {
	var w wireNavigation
	v := p.document
	if v == nil || v.State != NavStarted || e.Decode(&w) != nil || s.childFrame(w.ID) {
		return
	}
	v.State = NavFailed
	put(v)
}

// navigationPayload is one state of a navigation; the milestones after it are lifecycle events.
type navigationPayload struct {
	NavID id.Navigation      `json:"nav_id"`
	State string             `json:"state"`
	Kind  string             `json:"kind"`
	URL   *redact.URLSummary `json:"url,omitempty"`
}

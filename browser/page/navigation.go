package page

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// States of a navigation, in order. A failed navigation was refused, aborted or became a download.
const (
	NavStarted   = "started"
	NavCommitted = "committed"
	NavDOM       = "dom"
	NavComplete  = "complete"
	NavFailed    = "failed"
)

// Navigation is the newest navigation of the page's main document.
type Navigation struct {
	record.Navigation
	// Address is live and whole. It is never stored.
	Address string
	// Loader is the browser's id of the new document, "" for a navigation within the document.
	Loader string
	// loading is set while the frame loads.
	loading bool
}

// Reached reports whether the navigation got as far as state, or failed.
func (n Navigation) Reached(state string) bool {
	return n.State == NavFailed || rank(n.State) >= rank(state)
}

// Ended reports whether nothing more will happen to the navigation.
func (n Navigation) Ended() bool { return n.State == NavFailed || n.State == NavComplete }

func rank(state string) int {
	switch state {
	case NavCommitted:
		return 1
	case NavDOM:
		return 2
	case NavComplete:
		return 3
	}
	return 0
}

// navigations follows the main document of one page.
type navigations struct {
	mu      sync.Mutex
	current Navigation
	known   bool
	changed chan struct{}
	// tell is called with every new state, in order, under mu.
	tell func(Navigation)
}

// restored is the type of a navigation whose document comes from the back-forward cache.
const restored = "BackForwardCacheRestore"

var navigationEvents = []string{
	"Page.frameStartedNavigating", "Page.frameNavigated", "Page.navigatedWithinDocument", "Page.lifecycleEvent",
	"Page.frameStartedLoading", "Page.frameStoppedLoading", "Page.downloadWillBegin",
}

// Navigation returns the newest navigation; ok is false when none has been seen.
func (s *Session) Navigation() (n Navigation, ok bool) {
	v := s.root().navs
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.current, v.known
}

// FollowNavigations calls f with every new state of the page's navigations, in order. f must not wait and must not call
// this session. There is one follower; nil ends the following.
func (s *Session) FollowNavigations(f func(Navigation)) {
	v := s.root().navs
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tell = f
}

// AwaitNavigation returns the newest navigation as soon as it satisfies ok, or the cause of ctx with the navigation as it
// was then. It is told of every newest navigation, not of every one in between. A dialog or a crash ends the wait with
// dialog_open or target_failed.
func (s *Session) AwaitNavigation(ctx context.Context, ok func(Navigation) bool) (Navigation, error) {
	v := s.root().navs
	for {
		blocked, reason := s.gate.block()
		v.mu.Lock()
		current, known, changed := v.current, v.known, v.changed
		v.mu.Unlock()
		if known && ok(current) {
			return current, nil
		}
		select {
		case <-changed:
		case <-blocked:
			if f := reason(); f != nil {
				return current, f
			}
		case <-ctx.Done():
			return current, context.Cause(ctx)
		case <-s.client.Done():
			return current, cdp.ErrClosed
		}
	}
}

func (s *Session) onNavigation(e cdp.Event) {
	at := s.clock.At(e.Received)
	switch e.Method {
	case "Page.frameStartedNavigating":
		s.navStarted(e, at)
	case "Page.frameNavigated":
		s.navCommitted(e, at)
	case "Page.navigatedWithinDocument":
		s.navWithin(e, at)
	case "Page.lifecycleEvent":
		s.navLifecycle(e, at)
	case "Page.frameStartedLoading", "Page.frameStoppedLoading":
		s.navLoading(e)
	case "Page.downloadWillBegin":
		s.navDownloaded(e)
	}
}

func (s *Session) navStarted(e cdp.Event, at clock.SessionTime) {
	var p struct {
		Frame  string `json:"frameId"`
		URL    string `json:"url"`
		Loader string `json:"loaderId"`
		Type   string `json:"navigationType"`
	}
	if e.Decode(&p) != nil || p.Frame != s.MainFrame() {
		return
	}
	kind, ok := navigationKind(p.Type)
	if !ok {
		return // within the document: its own event tells the rest
	}
	s.updateNav(func(n *Navigation) bool {
		if n.State == NavStarted && n.Loader == p.Loader {
			return false
		}
		loading := n.loading
		*n = s.newNavigation(kind, p.URL, p.Loader, at)
		n.loading = loading
		return true
	})
}

func navigationKind(browserType string) (kind string, document bool) {
	switch browserType {
	case "sameDocument", "historySameDocument":
		return "same_document", false
	case "reload", "reloadBypassingCache":
		return "reload", true
	case "historyDifferentDocument":
		return "history", true
	}
	return "document", true
}

func (s *Session) newNavigation(kind, url, loader string, at clock.SessionTime) Navigation {
	return Navigation{
		Navigation: record.Navigation{
			ID: id.New[id.Navigation](), SessionID: s.record, TargetID: s.target, StartNS: at, State: NavStarted,
			Kind: kind, URL: s.summary(url),
		},
		Address: url, Loader: loader,
	}
}

func (s *Session) summary(url string) json.RawMessage {
	raw, err := json.Marshal(redact.Summarize(url, s.urls))
	if err != nil {
		return nil
	}
	return raw
}

func (s *Session) navCommitted(e cdp.Event, at clock.SessionTime) {
	var p struct {
		Frame struct {
			frameInfo
			Unreachable string `json:"unreachableUrl"`
		} `json:"frame"`
		Type string `json:"type"`
	}
	if e.Decode(&p) != nil || p.Frame.ParentID != "" {
		return
	}
	s.updateNav(func(n *Navigation) bool {
		if p.Type == restored && n.Kind == "history" && n.State == NavStarted {
			n.Loader = p.Frame.LoaderID // announced under another name
		}
		// A navigation that was not announced begins with its commit.
		if n.Loader != p.Frame.LoaderID || n.Loader == "" || n.CommitNS != nil {
			*n = s.newNavigation("document", p.Frame.URL, p.Frame.LoaderID, at)
		}
		n.CommitNS, n.State, n.Address = &at, NavCommitted, p.Frame.URL+p.Frame.Fragment
		n.URL = s.summary(n.Address)
		if p.Type == restored {
			n.DOMNS, n.LoadNS, n.State = &at, &at, NavComplete // a restored document does not load again
		}
		if p.Frame.Unreachable != "" {
			n.State, n.Address = NavFailed, p.Frame.Unreachable
			n.URL = s.summary(n.Address)
		}
		return true
	})
}

func (s *Session) navWithin(e cdp.Event, at clock.SessionTime) {
	var p struct {
		Frame string `json:"frameId"`
		URL   string `json:"url"`
	}
	if e.Decode(&p) != nil || p.Frame != s.MainFrame() {
		return
	}
	s.updateNav(func(n *Navigation) bool {
		if n.State != "" && !n.Ended() {
			return false // a load is under way and stays the navigation of interest
		}
		*n = s.newNavigation("same_document", p.URL, "", at)
		n.CommitNS, n.DOMNS, n.LoadNS, n.State = &at, &at, &at, NavComplete
		return true
	})
}

func (s *Session) navLifecycle(e cdp.Event, at clock.SessionTime) {
	var p struct {
		Frame  string `json:"frameId"`
		Loader string `json:"loaderId"`
		Name   string `json:"name"`
	}
	if e.Decode(&p) != nil || p.Frame != s.MainFrame() {
		return
	}
	if p.Name != "DOMContentLoaded" && p.Name != "load" {
		return
	}
	s.updateNav(func(n *Navigation) bool {
		if n.State == "" {
			// The document was committed before this session listened.
			*n = s.newNavigation("document", "", p.Loader, at)
			n.CommitNS, n.State = &at, NavCommitted
		}
		if n.Loader == "" || n.Loader != p.Loader || n.State == NavFailed {
			return false
		}
		switch {
		case p.Name == "DOMContentLoaded" && n.DOMNS == nil:
			n.DOMNS, n.State = &at, NavDOM
		case p.Name == "load" && n.LoadNS == nil:
			n.LoadNS, n.State = &at, NavComplete
		default:
			return false
		}
		return true
	})
}

// navFound takes over a document that was there when the session began to listen.
func (s *Session) navFound(f frameInfo) {
	at := s.clock.Now()
	s.updateNav(func(n *Navigation) bool {
		switch {
		case n.State == "":
			*n = s.newNavigation("document", "", f.LoaderID, at)
			n.CommitNS, n.State = &at, NavCommitted
		case n.Loader != f.LoaderID || n.Address != "":
			return false
		}
		n.Address = f.URL + f.Fragment
		n.URL = s.summary(n.Address)
		return true
	})
}

// abortSettle is how long after the end of loading a navigation may still commit. The end of the document that is being
// left looks the same as the end of a navigation that was aborted or answered with no content.
const abortSettle = 500 * time.Millisecond

// navLoading finds navigations that never commit.
func (s *Session) navLoading(e cdp.Event) {
	var p struct {
		Frame string `json:"frameId"`
	}
	if e.Decode(&p) != nil || p.Frame != s.MainFrame() {
		return
	}
	v := s.navs
	v.mu.Lock()
	defer v.mu.Unlock()
	v.current.loading = e.Method == "Page.frameStartedLoading"
	if suspect := v.current.ID; !v.current.loading && v.current.State == NavStarted {
		s.clock.Clock().AfterFunc(abortSettle, func() {
			s.failNav(func(n *Navigation) bool { return n.ID == suspect && !n.loading })
		})
	}
}

func (s *Session) navDownloaded(e cdp.Event) {
	var p struct {
		Frame string `json:"frameId"`
		URL   string `json:"url"`
	}
	if e.Decode(&p) == nil && p.Frame == s.MainFrame() {
		s.failNav(func(n *Navigation) bool { return n.Address == p.URL })
	}
}

// failNav ends the newest navigation if it has not been committed and is the one meant.
func (s *Session) failNav(meant func(*Navigation) bool) {
	s.updateNav(func(n *Navigation) bool {
		if n.State != NavStarted || !meant(n) {
			return false
		}
		n.State = NavFailed
		return true
	})
}

// updateNav changes the newest navigation and puts it on the timeline. One that is replaced before it was committed has
// failed.
func (s *Session) updateNav(change func(*Navigation) bool) {
	v := s.navs
	v.mu.Lock()
	old, next := v.current, v.current
	if !change(&next) {
		v.mu.Unlock()
		return
	}
	v.current, v.known = next, true
	close(v.changed)
	v.changed = make(chan struct{})
	states := []Navigation{next}
	if old.State == NavStarted && old.ID != next.ID {
		old.State = NavFailed
		states = []Navigation{old, next}
	}
	for _, state := range states {
		if v.tell != nil {
			v.tell(state)
		}
	}
	v.mu.Unlock()
	for _, state := range states {
		// The sink queues and reports its failures through its own status.
		_ = s.facts.Put(context.Background(), state.Navigation)
	}
}

package target

import (
	"context"
	"strings"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

type info struct {
	TargetID string `json:"targetId"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	URL      string `json:"url"`
	OpenerID string `json:"openerId"`
}

func (i info) isPage() bool {
	return (i.Type == "page" || i.Type == "webview") && !strings.HasPrefix(i.URL, "devtools://")
}

type attached struct {
	SessionID string `json:"sessionId"`
	Info      info   `json:"targetInfo"`
	Waiting   bool   `json:"waitingForDebugger"`
}

func (r *Registry) handle(e cdp.Event) {
	switch e.Method {
	case "Target.attachedToTarget":
		var a attached
		if e.Decode(&a) == nil {
			r.attached(e.Session, a)
		}
	case "Target.detachedFromTarget":
		var d struct {
			SessionID string `json:"sessionId"`
		}
		if e.Decode(&d) == nil {
			r.detached(d.SessionID)
		}
	case "Target.targetInfoChanged":
		var c struct {
			Info info `json:"targetInfo"`
		}
		if e.Decode(&c) == nil {
			r.infoChanged(c.Info)
		}
	case "Target.targetDestroyed":
		var d struct {
			TargetID string `json:"targetId"`
		}
		if e.Decode(&d) == nil {
			r.destroyed(d.TargetID)
		}
	}
}

// attached deals with a new session. Every waiting target must be let run, whatever it is, or it stays frozen
// for ever; everything sent before takes effect first.
func (r *Registry) attached(on string, a attached) {
	parent := r.sessions[on]
	switch {
	case on == "" && a.Info.isPage():
		r.attachPage(a)
	case parent != nil && a.Info.Type == "iframe":
		r.attachFrame(parent, a)
	case parent != nil && strings.HasSuffix(a.Info.Type, "worker") && r.followWorker(parent, a):
	default:
		r.release(on, a)
	}
}

// release lets a target run that is none of ours, such as a worker, and leaves it. on is the session it came with.
func (r *Registry) release(on string, a attached) {
	client := r.config.Browser.Client()
	if a.Waiting {
		_ = client.StartFunc(a.SessionID, "Runtime.runIfWaitingForDebugger", nil, ignore)
	}
	_ = client.StartFunc(on, "Target.detachFromTarget", map[string]any{"sessionId": a.SessionID}, ignore)
}

func ignore([]byte, error) {}

func (r *Registry) attachPage(a attached) {
	e := r.find(a.Info.TargetID)
	if e != nil && e.Session != nil {
		r.release("", a) // a second session on the same page would double every event
		return
	}
	created := e == nil
	if created {
		e = r.add(a.Info)
	}
	e.known = false
	e.URL, e.Title = a.Info.URL, a.Info.Title
	e.Session = page.New(page.Config{
		Browser: r.config.Browser, CDPSession: a.SessionID, CDPTarget: a.Info.TargetID, Target: e.ID,
		Session: r.config.Session, Clock: r.config.Clock, Facts: r.config.Facts, URLs: r.config.URLs,
	})
	r.sessions[a.SessionID] = e
	if e.Session.Prepare() != nil {
		return // the connection is gone; the queue of events ends next
	}
	for _, o := range r.config.Observers {
		o.PageAttached(e.Page)
	}
	_ = e.Session.Post("Runtime.runIfWaitingForDebugger", nil)
	if created {
		r.put(e, false)
	}
	r.changed()
}

func (r *Registry) add(i info) *entry {
	e := &entry{Page: Page{
		ID: id.New[id.Target](), CDPTarget: i.TargetID, CreatedNS: r.config.Clock.Now(), Sequence: r.sequence + 1,
		Limited: len(r.pages) >= MaxPages,
	}}
	if opener := r.find(i.OpenerID); opener != nil {
		e.Opener = opener.ID
	}
	r.pages = append(r.pages, e)
	if r.selected == "" {
		r.choose(e.ID)
	}
	return e
}

func (r *Registry) attachFrame(parent *entry, a attached) {
	child := parent.Session.AddChild(a.SessionID, a.Info.TargetID)
	r.sessions[a.SessionID] = parent
	if child.Prepare() != nil {
		return
	}
	for _, o := range r.childObservers() {
		o.FrameAttached(parent.Page, child)
	}
	_ = child.Post("Runtime.runIfWaitingForDebugger", nil)
}

// followWorker lets a worker run that an observer follows and reports whether one does.
func (r *Registry) followWorker(parent *entry, a attached) bool {
	followed := false
	for _, o := range r.childObservers() {
		followed = o.WorkerAttached(parent.Page, a.Info.Type, a.Info.TargetID, a.SessionID) || followed
	}
	if !followed {
		return false
	}
	r.sessions[a.SessionID] = parent
	_ = r.config.Browser.Client().StartFunc(a.SessionID, "Runtime.runIfWaitingForDebugger", nil, ignore)
	return true
}

func (r *Registry) childObservers() []ChildObserver {
	var list []ChildObserver
	for _, o := range r.config.Observers {
		if c, ok := o.(ChildObserver); ok {
			list = append(list, c)
		}
	}
	return list
}

func (r *Registry) detached(session string) {
	e := r.sessions[session]
	if e == nil {
		return // a target that was released
	}
	delete(r.sessions, session)
	if e.Session == nil || e.Session.CDPSession() != session {
		if e.Session != nil {
			e.Session.RemoveChild(session)
			for _, o := range r.childObservers() {
				o.ChildDetached(e.Page, session)
			}
		}
		return
	}
	r.remove(e)
}

func (r *Registry) destroyed(target string) {
	if e := r.find(target); e != nil {
		r.remove(e)
	}
}

// remove takes a closed page out of the map and hands a lost selection on.
func (r *Registry) remove(e *entry) {
	r.detach(e, true)
	for i, other := range r.pages {
		if other == e {
			r.pages = append(r.pages[:i:i], r.pages[i+1:]...)
			break
		}
	}
	r.closed++
	r.put(e, true)
	r.forget(e)
	r.changed()
}

func (r *Registry) detach(e *entry, closed bool) {
	if e.Session == nil {
		return
	}
	for _, o := range r.config.Observers {
		o.PageDetached(e.Page, closed)
	}
	e.Session.Detach()
	for session, owner := range r.sessions {
		if owner == e {
			delete(r.sessions, session)
		}
	}
	e.Session = nil
}

// detachAll runs when the connection has ended. The pages stay in the last view: after a reconnect they keep
// their identity.
func (r *Registry) detachAll() {
	for _, e := range r.pages {
		r.detach(e, false)
	}
	r.changed()
}

func (r *Registry) infoChanged(i info) {
	e := r.find(i.TargetID)
	if e == nil || (e.URL == i.URL && e.Title == i.Title) || !i.isPage() {
		return
	}
	renamed := redact.Origin(e.URL) != redact.Origin(i.URL)
	e.URL, e.Title = i.URL, i.Title
	if renamed {
		r.put(e, false)
	}
	r.publish()
}

func (r *Registry) changed() {
	r.sequence++
	r.publish()
}

func (r *Registry) find(target string) *entry {
	if target == "" {
		return nil
	}
	for _, e := range r.pages {
		if e.CDPTarget == target {
			return e
		}
	}
	return nil
}

func (r *Registry) put(e *entry, closed bool) {
	fact := record.Target{
		ID: e.ID, SessionID: r.config.Session, Opener: e.Opener, CreatedNS: e.CreatedNS, Name: redact.Origin(e.URL),
	}
	if closed {
		now := r.config.Clock.Now()
		fact.ClosedNS = &now
	}
	// The sink reports its failures through its own status; the page itself goes on.
	_ = r.config.Facts.Put(context.Background(), fact)
}

package tracing

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/trace"
)

// lookLimit bounds the look at a page before and after an action.
const lookLimit = 5 * time.Second

// Config of a Tracing.
type Config struct {
	Sessions  control.Sessions
	Inspector control.Inspector
	Pages     control.PageList
	// Off is set while the capability is disabled: asking for a trace is then refused.
	Off bool
}

// Tracing is the traces of the running session. It is a control.Tracer. Safe for concurrent use.
type Tracing struct {
	config Config

	mu   sync.Mutex
	book *trace.Book
}

var _ control.Tracer = (*Tracing)(nil)

// New returns a Tracing without traces.
func New(c Config) *Tracing { return &Tracing{config: c} }

// begin starts the book of a session.
func (t *Tracing) begin(session id.Session, everyPage bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.book = trace.NewBook(session, everyPage)
}

func (t *Tracing) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.book = nil
}

// current returns the book of the running session and its clock. A session that was begun without a word about
// tracing traces no page by itself.
func (t *Tracing) current() (*trace.Book, clock.Session, error) {
	session, clk, err := t.config.Sessions.Current()
	if err != nil {
		return nil, clk, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.book == nil || t.book.Session() != session {
		t.book = trace.NewBook(session, false)
	}
	return t.book, clk, nil
}

// recorder returns the trace of a page, nil when it has none.
func (t *Tracing) recorder(ctx context.Context, target id.Target) (*trace.Recorder, clock.Session) {
	book, clk, err := t.current()
	if err != nil || target == "" {
		return nil, clk
	}
	r, isNew := book.For(target)
	if isNew {
		t.prune(ctx, book, target)
	}
	return r, clk
}

// prune forgets the traces of pages that closed by themselves.
func (t *Tracing) prune(ctx context.Context, book *trace.Book, sure id.Target) {
	open, err := t.config.Pages.List(ctx)
	if err != nil {
		return
	}
	live := map[id.Target]bool{sure: true}
	for _, p := range open.Pages {
		live[p.TargetID] = true
	}
	book.Keep(func(p id.Target) bool { return live[p] })
}

// Before implements control.Tracer.
func (t *Tracing) Before(ctx context.Context, a control.Action) func(context.Context, control.Prepared, error) {
	action := actionOf(a.Request)
	if action == nil {
		return nil
	}
	r, clk := t.recorder(ctx, a.TargetID)
	if r == nil {
		return nil
	}
	before, _ := t.look(ctx, clk, a.TargetID)
	started := clk.Now()
	return func(ctx context.Context, p control.Prepared, err error) {
		took := clk.Now().Sub(started)
		after, _ := t.look(ctx, clk, a.TargetID)
		r.Record(trace.Entry{
			Action: action, Target: before.find(targetRef(a.Request, p)), Before: before.Page, After: after.Page, Err: err, Duration: took,
		})
	}
}

// seen is a page at one moment with its targets by reference.
type seen struct {
	trace.Current
	refs map[string]int
}

func (s seen) find(ref string) *trace.Element {
	i, ok := s.refs[ref]
	if !ok {
		return nil
	}
	return &s.Elements[i]
}

// look observes a page. What cannot be observed stays unknown, which no later state equals.
func (t *Tracing) look(ctx context.Context, clk clock.Session, target id.Target) (seen, error) {
	ctx, cancel := clock.WithTimeout(ctx, clk.Clock(), lookLimit)
	defer cancel()
	o, err := t.config.Inspector.Observe(ctx, target, false)
	s := seen{Current: trace.Current{Page: trace.Page{Exists: true, URL: o.Page.URL}}, refs: map[string]int{}}
	switch {
	case err != nil:
		return s, err
	case o.Dialog != nil:
		return s, fault.New(fault.DialogOpen, "a dialog (%s) is open and blocks the page", o.Dialog.Type).
			WithRecovery("handle_dialog first").About(fault.Context{TargetID: target})
	case o.Tree == nil:
		return s, fault.New(fault.PageObservationFailed, "the page's structure could not be observed; a document may be loading").
			WithRecovery("wait navigation=complete, then try again").About(fault.Context{TargetID: target})
	}
	s.Page.Snapshot = trace.Canonical(o.Tree)
	s.add(o.Tree)
	return s, nil
}

func (s *seen) add(tree *page.Snapshot) {
	for _, section := range tree.Sections {
		for _, n := range section.Nodes {
			if n.Ref == "" {
				continue
			}
			s.refs[n.Ref] = len(s.Elements)
			s.Elements = append(s.Elements, element(n))
		}
	}
}

func element(n page.Node) trace.Element {
	var f page.Field
	if n.Field != nil {
		f = *n.Field
	}
	actions := trace.ActionsFor(n.Role, f.Type, n.Has("disabled"), n.Has("readonly"))
	if n.Editable && f.Type != "select" && !n.Has("disabled") && !n.Has("readonly") {
		actions = append(actions, trace.KindTypeText, trace.KindClear)
	}
	return trace.Element{
		Node: n.Ref, Role: n.Role, Name: n.Name, Label: cmp.Or(f.Label, n.Label), NameAttr: f.Name, Href: n.URL,
		InputType: f.Type, Group: f.Group, Placeholder: f.Placeholder, Actions: actions,
	}
}

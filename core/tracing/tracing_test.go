package tracing_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/trace"
	"github.com/krometrail/krometrail/core/tracing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	session = id.Session("ses_000000000001")
	one     = id.Target("tgt_000000000001")
	two     = id.Target("tgt_000000000002")
)

// world is a browser of which everything can be changed by hand.
type world struct {
	clock  *coretest.Clock
	begun  clock.Session
	id     id.Session
	nodes  []page.Node
	url    string
	dialog *page.Dialog
	loads  bool
	open   []page.Page
	fail   error
	looks  int

	tracing *tracing.Tracing
	runner  *control.Runner
	pages   control.PageSet
	browser control.Browser
}

func newWorld(off bool) *world {
	c := coretest.NewClock(time.Unix(0, 0))
	w := &world{clock: c, begun: clock.Begin(c), id: session, url: "https://shop.example/orders", nodes: []page.Node{
		{Role: "heading", Name: "Orders"}, {Ref: "e1@1", Role: "button", Name: "Save"}, {Ref: "e2@1", Role: "textbox", Name: "Name", Value: "bo", Editable: true},
	}, open: []page.Page{{TargetID: one}, {TargetID: two}}}
	w.tracing = tracing.New(tracing.Config{Sessions: w, Inspector: inspector{w}, Pages: w, Off: off})
	w.runner = control.NewRunner(driver{w}, w, coretest.NewStore(), w.tracing, slog.New(slog.DiscardHandler))
	w.pages, w.browser = w.tracing.PageSet(pageSet{w: w}), w.tracing.Browser(lifecycle{w: w})
	return w
}

func (w *world) Current() (id.Session, clock.Session, error) {
	if w.id == "" {
		return "", w.begun, fault.New(fault.SessionEnded, "over")
	}
	return w.id, w.begun, nil
}
func (w *world) GapsSince(id.Target, clock.SessionTime) []id.Gap { return nil }
func (w *world) CaptureFailure(id.Target) error                  { return nil }
func (w *world) List(context.Context) (page.Pages, error)        { return page.Pages{Pages: w.open}, nil }

func (w *world) WaitForPage(context.Context, page.WaitForPageRequest) (page.NewPageResult, error) {
	return page.NewPageResult{}, nil
}

func (w *world) look() page.Observation {
	w.looks++
	o := page.Observation{Page: page.PageState{URL: w.url}, Dialog: w.dialog}
	if w.dialog == nil && !w.loads {
		o.Tree = &page.Snapshot{Sections: []page.Section{{Origin: "https://shop.example", Main: true, Nodes: w.nodes}}}
	}
	return o
}

type driver struct{ w *world }

type prepared struct{ ref string }

func (prepared) Parameters() json.RawMessage { return json.RawMessage(`{}`) }
func (p prepared) TargetRef() string         { return p.ref }

func (d driver) Resolve(_ context.Context, a control.Action) (control.Prepared, error) {
	if r, ok := a.Request.(*page.ClickRequest); ok && r.CSS == "#save" {
		return prepared{ref: "e1@1"}, nil
	}
	return prepared{}, d.w.fail
}

func (d driver) Dispatch(_ context.Context, _ control.Action, _ control.Prepared, sending func()) (any, error) {
	sending()
	d.w.clock.Advance(30 * time.Millisecond)
	return nil, nil
}

func (d driver) Settle(context.Context, control.Action, control.Prepared) (control.Settled, error) {
	return control.Settled{Rendezvous: true}, nil
}

func (d driver) Observe(context.Context, control.Action, control.Prepared, control.Settled) (page.Observation, error) {
	return page.Observation{}, nil
}

type inspector struct{ w *world }

func (i inspector) Observe(context.Context, id.Target, bool) (page.Observation, error) {
	return i.w.look(), nil
}

type pageSet struct {
	control.PageSet
	w *world
}

func (p pageSet) Open(_ context.Context, r page.OpenRequest) (page.OpenResult, error) {
	if r.URL == "bad:" {
		return page.OpenResult{}, fault.New(fault.NavigationFailed, "no")
	}
	return page.OpenResult{Target: two, Selected: two}, nil
}

func (p pageSet) Close(_ context.Context, r page.CloseRequest) (page.CloseResult, error) {
	return page.CloseResult{Closed: r.Target}, p.w.fail
}

type lifecycle struct {
	control.Browser
	w *world
}

func (l lifecycle) Start(context.Context, page.StartRequest) (page.Status, error) {
	return page.Status{SessionID: l.w.id}, nil
}

func (l lifecycle) Attach(context.Context, page.AttachRequest) (page.Status, error) {
	return page.Status{SessionID: l.w.id}, nil
}
func (l lifecycle) Stop(context.Context) (page.StopResult, error) { return page.StopResult{}, nil }

func (w *world) do(t *testing.T, target id.Target, operation string, request any) {
	t.Helper()
	_, _ = w.runner.Do(t.Context(), control.Kind{Operation: operation}, target, request)
}

func (w *world) ask(t *testing.T, tool string, request any) (capability.Outcome, error) {
	t.Helper()
	for _, op := range w.tracing.Ops() {
		if op.Name == tool {
			return op.Run(t.Context(), request)
		}
	}
	t.Fatalf("no tool %s", tool)
	return capability.Outcome{}, nil
}

func (w *world) events(t *testing.T, target id.Target) []trace.Event {
	t.Helper()
	out, err := w.ask(t, "trace_export", &tracing.TraceRequest{Scope: page.Scope{Target: target}})
	require.NoError(t, err)
	var list []trace.Event
	for _, raw := range out.Result.(trace.Export).Events {
		var e trace.Event
		require.NoError(t, json.Unmarshal(raw, &e))
		list = append(list, e)
	}
	return list
}

func ref(name string) page.Element { return page.Element{Ref: name} }

func TestActionsOfATracedPage(t *testing.T) {
	w := newWorld(false)
	opened, err := w.pages.Open(t.Context(), page.OpenRequest{URL: "https://shop.example/orders?token=hunter2", Trace: true})
	require.NoError(t, err)
	value, index := "red", 2
	for operation, request := range map[string]any{
		"click": &page.ClickRequest{Locator: page.Locator{CSS: "#save"}}, "fill": &page.FillRequest{Element: ref("e2@1"), Value: "hunter2", Mode: "replace"},
		"type_text": &page.TypeRequest{Text: "hunter2"}, "select_option": &page.SelectRequest{Element: ref("e2@1"), Value: &value},
		"scroll": &page.ScrollRequest{DY: 5}, "toggle": &page.ToggleRequest{Element: ref("e1@1")}, "clear": &page.ClearRequest{Element: ref("e2@1")},
		"navigate_to": &page.NavigateRequest{URL: "https://x.example/hunter2"}, "reload_page": &page.ReloadRequest{}, "go_back": &page.BackRequest{}, "go_forward": &page.ForwardRequest{},
		"evaluate": &page.EvaluateRequest{Expression: "hunter2", ReadOnly: true}, "set_cookies": &page.SetCookiesRequest{}, "clear_cookies": &page.ClearCookiesRequest{Name: "hunter2"},
	} {
		w.do(t, opened.Target, operation, request)
	}
	// What is not traced leaves no event.
	for operation, request := range map[string]any{"press_keys": &page.PressRequest{}, "hover": &page.HoverRequest{}, "handle_dialog": &page.HandleDialogRequest{}, "write_clipboard": &page.WriteClipboardRequest{}} {
		w.do(t, opened.Target, operation, request)
	}
	w.do(t, opened.Target, "select_option", &page.SelectRequest{Element: page.Element{Query: "x"}, Index: &index})

	list := w.events(t, opened.Target)
	require.Len(t, list, 16)
	kinds := map[trace.Kind]int{}
	for _, e := range list {
		kinds[e.Action]++
		assert.Equal(t, trace.Success, e.Outcome)
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		assert.NotContains(t, string(raw), "hunter2")
		if e.Action == trace.KindClick {
			require.NotNil(t, e.Target, "the element that a selector was resolved to")
			assert.Equal(t, "button", e.Target.Role)
			assert.Equal(t, int64(30), e.DurationMS)
		}
	}
	assert.Equal(t, map[trace.Kind]int{"open_page": 1, "navigate_to": 4, "click": 1, "type_text": 2, "select_option": 2, "scroll": 1, "toggle": 1, "clear": 1, "evaluate": 1, "set_cookies": 1, "clear_cookies": 1}, kinds)
	assert.False(t, list[0].Before.HasPage)
	assert.Equal(t, "https://shop.example", list[0].After.Origin)
}

func TestAFailureIsRecordedOnce(t *testing.T) {
	w := newWorld(false)
	_, _ = w.pages.Open(t.Context(), page.OpenRequest{Trace: true})
	w.fail = fault.New(fault.StaleReference, "gone")
	w.do(t, two, "click", &page.ClickRequest{Locator: page.Locator{Ref: "e1@1"}})
	list := w.events(t, two)
	require.Len(t, list, 2)
	assert.Equal(t, trace.Failure, list[1].Outcome)
	assert.Equal(t, "not_found", list[1].ErrorClass)
	require.NotNil(t, list[1].Target)

	_, err := w.pages.Close(t.Context(), page.CloseRequest{Scope: page.Scope{Target: two}})
	require.Error(t, err)
	assert.Len(t, w.events(t, two), 3, "a page that did not close keeps its trace")
	w.fail = nil
	closed, err := w.pages.Close(t.Context(), page.CloseRequest{Scope: page.Scope{Target: two}})
	require.NoError(t, err)
	final, ok := closed.FinalTrace.(*trace.Export)
	require.True(t, ok)
	assert.Len(t, final.Events, 4)
	_, err = w.ask(t, "trace_export", &tracing.TraceRequest{Scope: page.Scope{Target: two}})
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))
	_, err = w.pages.Open(t.Context(), page.OpenRequest{URL: "bad:", Trace: true})
	require.Error(t, err, "a failed open has no session to keep a trace in")
}

func TestUntracedPagesCostNothing(t *testing.T) {
	w := newWorld(false)
	_, _ = w.pages.Open(t.Context(), page.OpenRequest{})
	w.do(t, two, "click", &page.ClickRequest{})
	closed, err := w.pages.Close(t.Context(), page.CloseRequest{Scope: page.Scope{Target: two}})
	require.NoError(t, err)
	assert.Nil(t, closed.FinalTrace)
	assert.Zero(t, w.looks)
	out, err := w.ask(t, "trace_status", &tracing.TraceRequest{Scope: page.Scope{Target: two}})
	require.NoError(t, err)
	assert.Equal(t, trace.Disabled(), out.Result)
}

func TestASessionThatTracesEveryPage(t *testing.T) {
	for name, begin := range map[string]func(w *world) error{
		"start": func(w *world) error {
			_, err := w.browser.Start(context.Background(), page.StartRequest{Trace: true})
			return err
		},
		"attach": func(w *world) error {
			_, err := w.browser.Attach(context.Background(), page.AttachRequest{Trace: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(false)
			require.NoError(t, begin(w))
			w.do(t, one, "scroll", &page.ScrollRequest{DY: 1})
			assert.Len(t, w.events(t, one), 1, "also pages that opened by themselves")
			w.open = w.open[1:] // it closed by itself
			w.do(t, two, "scroll", &page.ScrollRequest{DY: 1})
			w.open = append(w.open, page.Page{TargetID: one})
			assert.Empty(t, w.events(t, one), "its trace went with it")
			_, err := w.browser.Stop(t.Context())
			require.NoError(t, err)
			out, err := w.ask(t, "trace_status", &tracing.TraceRequest{Scope: page.Scope{Target: two}})
			require.NoError(t, err)
			assert.Equal(t, trace.Disabled(), out.Result)
		})
	}
}

func TestToolsOnTraces(t *testing.T) {
	w := newWorld(false)
	_, _ = w.pages.Open(t.Context(), page.OpenRequest{Trace: true})
	w.do(t, two, "click", &page.ClickRequest{Locator: page.Locator{Ref: "e1@1"}})
	scope := page.Scope{Target: two}
	out, err := w.ask(t, "trace_status", &tracing.TraceRequest{Scope: scope, SessionID: session})
	require.NoError(t, err)
	status := out.Result.(trace.Status)
	assert.Equal(t, 2, status.RetainedEvents)
	_, err = w.ask(t, "trace_status", &tracing.TraceRequest{Scope: scope, SessionID: "ses_000000000009"})
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))

	check := func(change func(*tracing.ValidateRequest)) any {
		t.Helper()
		r := &tracing.ValidateRequest{Scope: scope, SessionID: session, TraceID: status.TraceID, Sequence: 2}
		change(r)
		out, err := w.ask(t, "replay_validate", r)
		require.NoError(t, err)
		v := out.Result.(trace.Verdict)
		if v.Refusal != nil {
			return v.Refusal.Drift
		}
		return v.Plan.Status
	}
	plain := func(*tracing.ValidateRequest) {}
	assert.Equal(t, trace.ConfirmationRequired, check(plain))
	assert.Equal(t, trace.Validated, check(func(r *tracing.ValidateRequest) { r.Confirmed = true }))
	assert.Equal(t, trace.CrossSession, check(func(r *tracing.ValidateRequest) { r.SessionID = "ses_000000000009" }))
	assert.Equal(t, trace.CrossSession, check(func(r *tracing.ValidateRequest) { r.Target = one }))
	assert.Equal(t, trace.EventNotRetained, check(func(r *tracing.ValidateRequest) { r.Sequence = 9 }))
	assert.Equal(t, trace.UnsupportedAction, check(func(r *tracing.ValidateRequest) { r.Sequence = 1 }))
	nodes := w.nodes
	with := func(change ...page.Node) trace.Drift {
		t.Helper()
		w.nodes = append(append([]page.Node{}, nodes[0]), change...)
		defer func() { w.nodes = nodes }()
		return check(plain).(trace.Drift)
	}
	assert.Equal(t, trace.TargetMissing, with(nodes[2]))
	assert.Equal(t, trace.TargetAmbiguous, with(nodes[1], page.Node{Ref: "e9@1", Role: "button", Name: "Save"}))
	assert.Equal(t, trace.ActionUnavailable, with(page.Node{Ref: "e1@1", Role: "button", Name: "Save", States: []string{"disabled"}}))
	assert.Equal(t, trace.StateDrift, with(nodes[1], page.Node{Ref: "e2@1", Role: "textbox", Name: "Name", Value: "ada", Editable: true}))
	w.url = "https://shop.example/other"
	assert.Equal(t, trace.PageDrift, check(plain))
	w.url = "https://other.example/"
	assert.Equal(t, trace.OriginDrift, check(plain))

	for code, change := range map[fault.Code]func(){
		fault.DialogOpen:            func() { w.dialog = &page.Dialog{Type: "alert"} },
		fault.PageObservationFailed: func() { w.dialog, w.loads = nil, true },
	} {
		w.dialog, w.loads = nil, false
		change()
		_, err = w.ask(t, "replay_validate", &tracing.ValidateRequest{Scope: scope, SessionID: session, TraceID: status.TraceID, Sequence: 2})
		assert.Equal(t, code, fault.CodeOf(err), "a page that cannot be seen is a failure, not a drift")
	}
	w.dialog, w.loads = nil, false
	out, err = w.ask(t, "trace_clear", &tracing.TraceRequest{Scope: scope})
	require.NoError(t, err)
	assert.Equal(t, 2, out.Result.(tracing.Cleared).Discarded)
	assert.Equal(t, trace.EventNotRetained, check(plain))
	w.id = ""
	_, err = w.ask(t, "trace_status", &tracing.TraceRequest{Scope: scope})
	assert.Equal(t, fault.SessionEnded, fault.CodeOf(err))
}

func TestRequestsAreChecked(t *testing.T) {
	good := tracing.ValidateRequest{SessionID: session, TraceID: "trc_000000000001", Sequence: 1}
	require.NoError(t, good.Validate())
	for i, change := range []func(*tracing.ValidateRequest){
		func(r *tracing.ValidateRequest) { r.SessionID = "x" }, func(r *tracing.ValidateRequest) { r.TraceID = "tgt_000000000001" }, func(r *tracing.ValidateRequest) { r.Sequence = 0 },
	} {
		bad := good
		change(&bad)
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(bad.Validate()), fmt.Sprint(i))
	}
}

func TestOffRefusesTheArgument(t *testing.T) {
	w := newWorld(true)
	_, err := w.pages.Open(t.Context(), page.OpenRequest{Trace: true})
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
	_, err = w.browser.Start(t.Context(), page.StartRequest{Trace: true})
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
	_, err = w.browser.Attach(t.Context(), page.AttachRequest{Trace: true})
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
	_, err = w.pages.Open(t.Context(), page.OpenRequest{})
	require.NoError(t, err)
}

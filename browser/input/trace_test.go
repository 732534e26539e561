package input_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/trace"
	"github.com/krometrail/krometrail/core/tracing"
)

// traced is the running session of a bench and a page of it that is traced.
type traced struct {
	*bench
	tracing *tracing.Tracing
	runner  *control.Runner
	page    *page.Session
	url     string
	id      id.Trace
}

func (x *traced) Current() (id.Session, clock.Session, error) {
	return x.browser.Session, x.browser.Clock, nil
}
func (x *traced) GapsSince(id.Target, clock.SessionTime) []id.Gap { return nil }
func (x *traced) CaptureFailure(id.Target) error                  { return nil }
func (x *traced) List(context.Context) (core.Pages, error) {
	return core.Pages{Pages: []core.Page{{TargetID: x.page.Target()}}}, nil
}

func (x *traced) WaitForPage(context.Context, core.WaitForPageRequest) (core.NewPageResult, error) {
	return core.NewPageResult{}, nil
}

// opened stands for the part of the session that opens pages.
type opened struct {
	control.PageSet
	target id.Target
}

func (o opened) Open(context.Context, core.OpenRequest) (core.OpenResult, error) {
	return core.OpenResult{Target: o.target, Selected: o.target}, nil
}

func newTraced(t *testing.T, html string) *traced {
	t.Helper()
	b := newBench(t)
	x := &traced{bench: b, url: b.browser.URL(html)}
	x.page = browsertest.Page(t, x.url)
	x.tracing = tracing.New(tracing.Config{Sessions: x, Inspector: b.observer, Pages: x})
	x.runner = control.NewRunner(b.driver, x, coretest.NewStore(), x.tracing, slog.New(slog.DiscardHandler))
	_, err := x.tracing.PageSet(opened{target: x.page.Target()}).Open(t.Context(), core.OpenRequest{URL: x.url, Trace: true})
	require.NoError(t, err)
	status, _ := x.ask(t, "trace_status", &tracing.TraceRequest{Scope: core.Scope{Target: x.page.Target()}}).(trace.Status)
	x.id = status.TraceID
	return x
}

func (x *traced) ask(t *testing.T, tool string, request any) any {
	t.Helper()
	for _, op := range x.tracing.Ops() {
		if op.Name == tool {
			out, err := op.Run(t.Context(), request)
			require.NoError(t, err)
			return out.Result
		}
	}
	t.Fatal("no tool " + tool)
	return nil
}

func (x *traced) do(t *testing.T, operation string, request any) (capability.Outcome, error) {
	t.Helper()
	return x.runner.Do(t.Context(), control.Kind{Operation: operation, Observe: true}, x.page.Target(), request)
}

func (x *traced) verdict(t *testing.T, change func(*tracing.ValidateRequest)) trace.Verdict {
	t.Helper()
	r := &tracing.ValidateRequest{Scope: core.Scope{Target: x.page.Target()}, SessionID: x.browser.Session, TraceID: x.id, Sequence: 2}
	if change != nil {
		change(r)
	}
	v, _ := x.ask(t, "replay_validate", r).(trace.Verdict)
	return v
}

func (x *traced) refused(t *testing.T, change func(*tracing.ValidateRequest)) trace.Drift {
	t.Helper()
	v := x.verdict(t, change)
	require.NotNil(t, v.Refusal, "%+v", v.Plan)
	return v.Refusal.Drift
}

func TestEveryRefusalOnARealPage(t *testing.T) {
	x := newTraced(t, `<main><button id=save>Save</button><label>Name <input id=name value=bo></label><p id=note>note</p></main>`)
	other := browsertest.Page(t, `other`)
	_, err := x.do(t, "click", &core.ClickRequest{Locator: core.Locator{CSS: "#save"}})
	require.NoError(t, err)
	_, err = x.do(t, "evaluate", &core.EvaluateRequest{Expression: "'hunter2'"})
	require.NoError(t, err)
	_, err = x.do(t, "click", &core.ClickRequest{Locator: core.Locator{CSS: "#nothing"}})
	require.Error(t, err)

	assert.Equal(t, trace.CrossSession, x.refused(t, func(r *tracing.ValidateRequest) { r.TraceID = id.New[id.Trace]() }))
	assert.Equal(t, trace.CrossSession, x.refused(t, func(r *tracing.ValidateRequest) { r.Target = other.Target() }))
	assert.Equal(t, trace.EventNotRetained, x.refused(t, func(r *tracing.ValidateRequest) { r.Sequence = 99 }))
	assert.Equal(t, trace.UnsupportedAction, x.refused(t, func(r *tracing.ValidateRequest) { r.Sequence = 1 }))
	assert.Equal(t, trace.UnsupportedAction, x.refused(t, func(r *tracing.ValidateRequest) { r.Sequence = 3 }))
	assert.Equal(t, trace.TargetMissing, x.refused(t, func(r *tracing.ValidateRequest) { r.Sequence = 4 }))

	for _, c := range []struct {
		change, back string
		want         trace.Drift
	}{
		{`history.replaceState(0, '', '/elsewhere')`, `history.replaceState(0, '', ` + quoted(x.url) + `)`, trace.PageDrift},
		{`save.remove()`, `document.querySelector('main').prepend(Object.assign(document.createElement('button'), {id: 'save', textContent: 'Save'}))`, trace.TargetMissing},
		{`save.after(Object.assign(save.cloneNode(true), {id: 'again'}))`, `again.remove()`, trace.TargetAmbiguous},
		{`save.disabled = true`, `save.disabled = false`, trace.ActionUnavailable},
		{`note.textContent = 'another note'`, `note.textContent = 'note'`, trace.StateDrift},
		{`document.getElementById('name').value = 'ada'`, `document.getElementById('name').value = 'bo'`, trace.StateDrift},
	} {
		text(t, x.page, `(`+c.change+`, 0)`)
		assert.Equal(t, c.want, x.refused(t, nil), c.change)
		text(t, x.page, `(`+c.back+`, 0)`)
	}
	x.planned(t)

	require.NoError(t, x.page.Send(t.Context(), "Page.navigate", map[string]any{"url": browsertest.CrossSite(x.url)}, nil))
	_, err = x.page.AwaitNavigation(t.Context(), func(n page.Navigation) bool { return n.Ended() && n.Address == browsertest.CrossSite(x.url) })
	require.NoError(t, err)
	assert.Equal(t, trace.OriginDrift, x.refused(t, nil))

	x.ask(t, "trace_clear", &tracing.TraceRequest{Scope: core.Scope{Target: x.page.Target()}})
	assert.Equal(t, trace.EventNotRetained, x.refused(t, nil))
}

// Controls of the same role and name are told apart by type, group, placeholder and name attribute.
func TestATargetIsKnownByMoreThanItsName(t *testing.T) {
	x := newTraced(t, `<main><fieldset><legend>Home</legend><input id=a aria-label=Street name=street placeholder=Road><button id=s type=button>Save</button></fieldset>
<fieldset id=work><legend>Work</legend><input id=b aria-label=Street name=street placeholder=Road></fieldset></main>`)
	_, err := x.do(t, "click", &core.ClickRequest{Locator: core.Locator{CSS: "#a"}})
	require.NoError(t, err)
	require.NotNil(t, x.verdict(t, nil).Plan, "the other one is in another group")
	for change, back := range map[string]string{
		`a.name = 'road'`: `a.name = 'street'`, `a.type = 'tel'`: `a.type = 'text'`, `a.placeholder = 'Lane'`: `a.placeholder = 'Road'`,
		`work.before(a), 0`: `s.before(a), 0`,
	} {
		text(t, x.page, `(`+change+`, '')`)
		assert.Equal(t, trace.TargetMissing, x.refused(t, nil), change)
		text(t, x.page, `(`+back+`, '')`)
	}
	text(t, x.page, `(document.querySelector('#work legend').textContent = 'Home', '')`)
	assert.Equal(t, trace.TargetAmbiguous, x.refused(t, nil))
}

// An event that made room for newer ones is refused like one that never was.
func TestAnEvictedEventIsRefused(t *testing.T) {
	x := newTraced(t, `<button id=save>Save</button>`)
	_, err := x.do(t, "click", &core.ClickRequest{Locator: core.Locator{CSS: "#save"}})
	require.NoError(t, err)
	require.NotNil(t, x.verdict(t, nil).Plan)
	for evicted := uint64(0); evicted < 2; {
		_, err := x.do(t, "evaluate", &core.EvaluateRequest{Expression: "1"})
		require.NoError(t, err)
		status, _ := x.ask(t, "trace_status", &tracing.TraceRequest{Scope: core.Scope{Target: x.page.Target()}}).(trace.Status)
		require.LessOrEqual(t, status.NextSequence, uint64(trace.MaxEvents+4))
		evicted = status.Evicted
	}
	assert.Equal(t, trace.EventNotRetained, x.refused(t, nil))
	assert.Equal(t, trace.UnsupportedAction, x.refused(t, func(r *tracing.ValidateRequest) { r.Sequence = 3 }))
}

// planned asks for the plan and sees that nothing has changed on the page.
func (x *traced) planned(t *testing.T) {
	t.Helper()
	text(t, x.page, `(window.clicks = 0, save.onclick = () => clicks++)`)
	before := x.structure(t)
	v := x.verdict(t, nil)
	require.NotNil(t, v.Plan, "%+v", v.Refusal)
	assert.Equal(t, trace.ConfirmationRequired, v.Plan.Status)
	v = x.verdict(t, func(r *tracing.ValidateRequest) { r.Confirmed = true })
	require.NotNil(t, v.Plan)
	assert.Equal(t, trace.Validated, v.Plan.Status)
	assert.Equal(t, before, x.structure(t))
	assert.Equal(t, "0", text(t, x.page, `clicks`))
}

func (x *traced) structure(t *testing.T) string {
	t.Helper()
	o, err := x.observer.Observe(t.Context(), x.page.Target(), false)
	require.NoError(t, err)
	return string(trace.Canonical(o.Tree))
}

func TestATracedFormKeepsNoValue(t *testing.T) {
	x := newTraced(t, `<label>Password <input type=password></label><select aria-label=Color><option>red<option value=hunter2>blue</select><label><input type=checkbox>ok</label>`)
	blue := "hunter2"
	for operation, request := range map[string]any{
		"fill": &core.FillRequest{Element: query(`label=Password`), Value: "hunter2"}, "select_option": &core.SelectRequest{Element: query(`role=combobox`), Value: &blue},
		"toggle": &core.ToggleRequest{Element: query(`role=checkbox`)}, "clear": &core.ClearRequest{Element: query(`label=Password`)},
	} {
		_, err := x.do(t, operation, request)
		require.NoError(t, err, operation)
	}
	export, _ := x.ask(t, "trace_export", &tracing.TraceRequest{Scope: core.Scope{Target: x.page.Target()}}).(trace.Export)
	require.Len(t, export.Events, 5)
	raw, err := json.Marshal(export)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "hunter2")
	var withTarget int
	for _, e := range export.Events {
		var event trace.Event
		require.NoError(t, json.Unmarshal(e, &event))
		if event.Target != nil {
			withTarget++
		}
	}
	assert.Equal(t, 4, withTarget, "each element is known by its description")
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

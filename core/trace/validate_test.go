package trace_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/trace"
)

func request(r *trace.Recorder, sequence uint64) trace.Request {
	return trace.Request{SessionID: session, TraceID: r.ID(), Sequence: sequence}
}

func unchanged() trace.Current {
	return trace.Current{Page: shop("a"), Elements: []trace.Element{{Role: "link", Name: "Home", Actions: []trace.Kind{trace.KindClick}}, *button()}}
}

func TestConfirmationThenPlan(t *testing.T) {
	r := trace.NewRecorder(session, target)
	entry := click()
	entry.Action = trace.TypeText{Text: "hunter2", Via: "fill", Locator: "ref"}
	entry.Target.Actions = []trace.Kind{trace.KindTypeText, trace.KindClick}
	r.Record(entry)
	now := trace.Current{Page: shop("a"), Elements: []trace.Element{*entry.Target}}
	before := export(t, r)

	q := request(r, 1)
	asked := r.Validate(q, now)
	require.NotNil(t, asked.Plan)
	assert.Equal(t, "confirmation_required", asked.Plan.Status)
	assert.Nil(t, asked.Plan.Parameters, "parameters are shown once confirmed")

	q.Confirmed = true
	raw, err := json.Marshal(r.Validate(q, now))
	require.NoError(t, err)
	var plan map[string]any
	require.NoError(t, json.Unmarshal(raw, &plan))
	assert.Equal(t, []string{"action", "drift", "execution", "execution_available", "message", "parameters", "schema", "sequence", "session_id", "side_effects", "status", "target", "trace_id"}, keysOf(plan))
	assert.Equal(t, "validated", plan["status"])
	assert.Nil(t, plan["drift"])
	assert.Equal(t, "validation_only", plan["execution"])
	assert.Equal(t, false, plan["execution_available"])
	assert.Equal(t, false, plan["side_effects"])
	assert.Equal(t, map[string]any{"redacted": true, "byte_length": 7.0}, plan["parameters"].(map[string]any)["text"])
	assert.Equal(t, before, export(t, r), "validation changes nothing")
}

func TestRefusals(t *testing.T) {
	other := button()
	other.Name = "Delete"
	disabled := button()
	disabled.Actions = nil
	more := button()
	more.Actions = []trace.Kind{trace.KindClick, trace.KindToggle}
	for _, c := range []struct {
		name   string
		entry  func(*trace.Entry)
		change func(*trace.Request, *trace.Current)
		want   trace.Drift
	}{
		{"other session", nil, func(q *trace.Request, _ *trace.Current) { q.SessionID = "ses_000000000009" }, trace.CrossSession},
		{"other trace", nil, func(q *trace.Request, _ *trace.Current) { q.TraceID = id.New[id.Trace]() }, trace.CrossSession},
		{"never recorded", nil, func(q *trace.Request, _ *trace.Current) { q.Sequence = 2 }, trace.EventNotRetained},
		{"lifecycle", func(e *trace.Entry) { e.Action = trace.OpenPage{} }, nil, trace.UnsupportedAction},
		{"closing", func(e *trace.Entry) { e.Action = trace.ClosePage{} }, nil, trace.UnsupportedAction},
		{"coarse", func(e *trace.Entry) { e.Action = trace.Evaluate{} }, nil, trace.UnsupportedAction},
		{"other origin", nil, func(_ *trace.Request, now *trace.Current) {
			now.Page.URL = "https://elsewhere.example/orders/17?mine=1#top"
		}, trace.OriginDrift},
		{"other address", nil, func(_ *trace.Request, now *trace.Current) { now.Page.URL = "https://shop.example/orders/18" }, trace.PageDrift},
		{"no page before", func(e *trace.Entry) { e.Before.Exists = false }, func(_ *trace.Request, now *trace.Current) { now.Page.URL = "about:blank" }, trace.PageDrift},
		{"target gone", nil, func(_ *trace.Request, now *trace.Current) { now.Elements = now.Elements[:1] }, trace.TargetMissing},
		{"target renamed", nil, func(_ *trace.Request, now *trace.Current) { now.Elements[1] = *other }, trace.TargetMissing},
		{"target never known", func(e *trace.Entry) { e.Target = nil }, nil, trace.TargetMissing},
		{"other actions", nil, func(_ *trace.Request, now *trace.Current) { now.Elements[1] = *more }, trace.TargetMissing},
		{"duplicate", nil, func(_ *trace.Request, now *trace.Current) { now.Elements = append(now.Elements, *button()) }, trace.TargetAmbiguous},
		{"disabled duplicate", nil, func(_ *trace.Request, now *trace.Current) { now.Elements = append(now.Elements, *disabled) }, trace.TargetAmbiguous},
		{"disabled", nil, func(_ *trace.Request, now *trace.Current) { now.Elements[1] = *disabled }, trace.ActionUnavailable},
		{"content changed", nil, func(_ *trace.Request, now *trace.Current) { now.Page.Snapshot = []byte("c") }, trace.StateDrift},
		{"state unknown now", nil, func(_ *trace.Request, now *trace.Current) { now.Page.Snapshot = nil }, trace.StateDrift},
		{"state unknown then", func(e *trace.Entry) { e.Before.Snapshot = nil }, func(_ *trace.Request, now *trace.Current) { now.Page.Snapshot = nil }, trace.StateDrift},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := trace.NewRecorder(session, target)
			entry := click()
			if c.entry != nil {
				c.entry(&entry)
			}
			r.Record(entry)
			q, now := request(r, 1), unchanged()
			q.Confirmed = true
			if c.change != nil {
				c.change(&q, &now)
			}
			verdict := r.Validate(q, now)
			require.NotNil(t, verdict.Refusal)
			assert.Equal(t, c.want, verdict.Refusal.Drift)
			raw, err := json.Marshal(verdict)
			require.NoError(t, err)
			var refusal map[string]any
			require.NoError(t, json.Unmarshal(raw, &refusal))
			assert.Equal(t, []string{"drift", "execution", "execution_available", "message", "schema", "sequence", "side_effects", "status", "trace_id"}, keysOf(refusal))
			assert.Equal(t, "refused", refusal["status"])
			assert.NotEmpty(t, refusal["message"])
		})
	}
}

// Where several things are wrong, the first in the fixed order is named.
func TestRefusalOrder(t *testing.T) {
	r := trace.NewRecorder(session, target)
	r.Record(click())
	lifecycle := r.Record(trace.Entry{Action: trace.ClosePage{}})
	all := trace.Current{Page: trace.Page{Exists: true, URL: "https://x.example/"}}
	drift := func(q trace.Request, now trace.Current) trace.Drift { return r.Validate(q, now).Refusal.Drift }
	wrong := trace.Request{SessionID: session, TraceID: "trc_000000000000", Sequence: 99}
	assert.Equal(t, trace.CrossSession, drift(wrong, all))
	assert.Equal(t, trace.EventNotRetained, drift(request(r, 99), all))
	assert.Equal(t, trace.UnsupportedAction, drift(request(r, lifecycle), all))
	assert.Equal(t, trace.OriginDrift, drift(request(r, 1), all))
	all.Page.URL = "https://shop.example/other"
	assert.Equal(t, trace.PageDrift, drift(request(r, 1), all))
	all.Page = shop("changed")
	assert.Equal(t, trace.TargetMissing, drift(request(r, 1), all))
	all.Elements = []trace.Element{*button()}
	assert.Equal(t, trace.StateDrift, drift(request(r, 1), all))
}

func TestEvictedAndClearedAreNotRetained(t *testing.T) {
	r := trace.NewRecorder(session, target)
	for range 200 {
		r.Record(click())
	}
	assert.Equal(t, trace.EventNotRetained, r.Validate(request(r, 1), unchanged()).Refusal.Drift)
	require.NotNil(t, r.Validate(request(r, 200), unchanged()).Plan)
	r.Clear()
	assert.Equal(t, trace.EventNotRetained, r.Validate(request(r, 200), unchanged()).Refusal.Drift)
}

func TestActionsWithoutTarget(t *testing.T) {
	r := trace.NewRecorder(session, target)
	for _, a := range []trace.Action{trace.NavigateTo{Via: "reload"}, trace.Scroll{DY: 100}} {
		n := r.Record(trace.Entry{Action: a, Before: shop("a"), After: shop("a")})
		verdict := r.Validate(request(r, n), trace.Current{Page: shop("a")})
		require.NotNil(t, verdict.Plan)
		assert.Nil(t, verdict.Plan.Target)
	}
}

func TestActionsFor(t *testing.T) {
	assert.Empty(t, trace.ActionsFor("button", "", true, false))
	assert.Equal(t, []trace.Kind{trace.KindClick}, trace.ActionsFor("button", "", false, false))
	assert.Equal(t, []trace.Kind{trace.KindClick, trace.KindClear, trace.KindTypeText}, trace.ActionsFor("textbox", "text", false, false))
	assert.Equal(t, []trace.Kind{trace.KindClick}, trace.ActionsFor("textbox", "text", false, true))
	assert.Equal(t, []trace.Kind{trace.KindClick, trace.KindToggle}, trace.ActionsFor("checkbox", "checkbox", false, false))
	assert.Equal(t, []trace.Kind{trace.KindClick, trace.KindSelectOption}, trace.ActionsFor("combobox", "select", false, false))
}

func TestBook(t *testing.T) {
	other, third := id.Target("tgt_000000000002"), id.Target("tgt_000000000003")
	b := trace.NewBook(session, false)
	assert.Nil(t, b.Opened(other, false), "tracing is disabled by default")
	assert.Nil(t, b.Opened(other, true), "it cannot be enabled afterwards")
	r := b.Opened(target, true)
	require.NotNil(t, r)
	assert.Same(t, r, b.Opened(target, false))
	assert.Same(t, r, b.Of(target))
	assert.Nil(t, b.Of(third))
	assert.False(t, b.Status(other).Enabled)
	assert.True(t, b.Status(target).Enabled)

	r.Record(click())
	require.NotNil(t, b.Validate(target, request(r, 1), unchanged()).Plan)
	assert.Equal(t, trace.CrossSession, b.Validate(other, request(r, 1), unchanged()).Refusal.Drift, "the trace belongs to another page")

	failed := trace.Entry{Action: trace.ClosePage{}, Before: shop("a"), After: shop("a"), Err: fault.New(fault.TargetFailed, "x")}
	r.Record(failed)
	r.Record(trace.Entry{Action: trace.ClosePage{}, Before: shop("a")})
	final := b.Closed(target)
	require.NotNil(t, final)
	assert.Len(t, final.Events, 3, "the final trace has the close itself")
	assert.Nil(t, b.Closed(target), "the trace is gone with the page")
	assert.Nil(t, b.Of(target))
	assert.Nil(t, b.Closed(other))

	untraced, isNew := b.For(third)
	assert.Nil(t, untraced)
	assert.False(t, isNew)

	all := trace.NewBook(session, true)
	popup, isNew := all.For(target)
	assert.NotNil(t, popup)
	assert.True(t, isNew)
	again, isNew := all.For(target)
	assert.Same(t, popup, again)
	assert.False(t, isNew)
	all.Keep(func(page id.Target) bool { return page != target })
	assert.Nil(t, all.Of(target))
	assert.Equal(t, session, all.Session())
	assert.NotNil(t, all.Opened(third, false), "a session can trace every page, popups too")
}

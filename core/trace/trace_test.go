package trace_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	session = id.Session("ses_000000000001")
	target  = id.Target("tgt_000000000001")
)

func shop(content string) trace.Page {
	return trace.Page{Exists: true, URL: "https://bo:pw@shop.example/orders/17?mine=1#top", Snapshot: []byte(content)}
}

func button() *trace.Element {
	return &trace.Element{Node: "e42", Role: "button", Name: "Save", Label: "Save order", NameAttr: "save", Href: "", Group: "Order", Actions: []trace.Kind{trace.KindClick}}
}

func click() trace.Entry {
	return trace.Entry{Action: trace.Click{Locator: "ref"}, Target: button(), Before: shop("a"), After: shop("b"), Duration: 41 * time.Millisecond}
}

func export(t *testing.T, r *trace.Recorder) string {
	t.Helper()
	raw, err := json.Marshal(r.Export())
	require.NoError(t, err)
	return string(raw)
}

func events(t *testing.T, r *trace.Recorder) []map[string]any {
	t.Helper()
	var list []map[string]any
	for _, raw := range r.Export().Events {
		var e map[string]any
		require.NoError(t, json.Unmarshal(raw, &e))
		list = append(list, e)
	}
	return list
}

func keysOf(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Each event contains a sequence and action, parameters and redaction, a target, before and after, an outcome.
func TestEventFields(t *testing.T) {
	r := trace.NewRecorder(session, target)
	assert.Equal(t, uint64(1), r.Record(click()), "the first sequence is 1")
	e := events(t, r)[0]
	assert.Equal(t, []string{"action", "after", "before", "duration_ms", "outcome", "parameters", "redaction", "schema", "sequence", "target"}, keysOf(e))
	assert.Equal(t, "plasmate.trace.v1", e["schema"])
	assert.Equal(t, "click", e["action"])
	assert.Equal(t, "success", e["outcome"])
	assert.InEpsilon(t, 41.0, e["duration_ms"], 1e-9)
	assert.Equal(t, map[string]any{"button": "left", "count": 0.0, "wait_for_navigation": false, "locator": "ref"}, e["parameters"])
	assert.Equal(t, map[string]any{"policy": "no-raw-values", "value_handling": "byte-length-only", "redacted_fields": []any{}, "omitted_fields": []any{"locator_value"}}, e["redaction"])
	before := e["before"].(map[string]any)
	assert.Equal(t, []string{"fingerprint", "has_page", "origin", "url_fingerprint"}, keysOf(before))
	assert.Equal(t, "https://shop.example", before["origin"], "only the origin remains readable")
	after := e["after"].(map[string]any)
	assert.NotEqual(t, before["fingerprint"], after["fingerprint"])
	assert.Equal(t, before["url_fingerprint"], after["url_fingerprint"])
	where := e["target"].(map[string]any)
	assert.Equal(t, []string{"provenance", "role", "stable_key", "target_id"}, keysOf(where))
	assert.Equal(t, "session-owned-snapshot", where["provenance"])
	assert.Equal(t, "button", where["role"])
	assert.NotEqual(t, where["stable_key"], where["target_id"], "domains are separate")
	for _, fingerprint := range []any{where["stable_key"], where["target_id"], before["fingerprint"], before["url_fingerprint"]} {
		assert.Regexp(t, `^hmac-sha256-v1:[0-9a-f]{64}$`, fingerprint)
	}
}

func TestEveryAction(t *testing.T) {
	for _, c := range []struct {
		action trace.Action
		kind   string
		params string
		redact []any
		omit   []any
	}{
		{trace.OpenPage{}, "open_page", `{}`, []any{}, []any{}},
		{trace.NavigateTo{Via: "back"}, "navigate_to", `{"via":"back"}`, []any{}, []any{}},
		{
			trace.Click{Button: "right", Count: 2, Modifiers: []string{"shift", "alt", "zz"}, WaitForNavigation: true, Locator: "point"},
			"click",
			`{"button":"right","count":2,"modifiers":["alt","other","shift"],"wait_for_navigation":true,"locator":"point"}`,
			[]any{},
			[]any{"locator_value"},
		},
		{trace.TypeText{Text: "hünter2", Via: "fill", Mode: "append", Locator: "css"}, "type_text", `{"text":{"redacted":true,"byte_length":8},"via":"fill","mode":"append","locator":"css"}`, []any{"text"}, []any{"locator_value"}},
		{trace.SelectOption{By: "label", Values: []string{"Red", ""}}, "select_option", `{"by":"label","values":[{"redacted":true,"byte_length":3},{"redacted":true,"byte_length":0}]}`, []any{"values"}, []any{}},
		{trace.Scroll{DX: 1, DY: -2.5}, "scroll", `{"to_element":false,"dx":1,"dy":-2.5}`, []any{}, []any{}},
		{trace.Scroll{ToElement: true, Locator: "query"}, "scroll", `{"to_element":true,"locator":"query"}`, []any{}, []any{"locator_value"}},
		{trace.Toggle{State: "on", Locator: "ref"}, "toggle", `{"state":"on","locator":"ref"}`, []any{}, []any{"locator_value"}},
		{trace.Clear{Locator: "what is this"}, "clear", `{"locator":"other"}`, []any{}, []any{"locator_value"}},
		{trace.ClosePage{}, "close_page", `{}`, []any{}, []any{}},
		{trace.Evaluate{}, "evaluate", `{}`, []any{}, []any{"args", "expression", "result"}},
		{trace.SetCookies{}, "set_cookies", `{}`, []any{}, []any{"cookies", "result"}},
		{trace.ClearCookies{}, "clear_cookies", `{}`, []any{}, []any{"domain", "name", "result", "url"}},
	} {
		r := trace.NewRecorder(session, target)
		r.Record(trace.Entry{Action: c.action, Before: shop("a"), After: shop("a")})
		e := events(t, r)[0]
		assert.Equal(t, c.kind, e["action"])
		params, err := json.Marshal(e["parameters"])
		require.NoError(t, err)
		assert.JSONEq(t, c.params, string(params), c.kind)
		redaction := e["redaction"].(map[string]any)
		assert.Equal(t, c.redact, redaction["redacted_fields"], c.kind)
		assert.Equal(t, c.omit, redaction["omitted_fields"], c.kind)
		assert.NotContains(t, e, "target")
	}
}

func TestURLsInParametersAreFingerprints(t *testing.T) {
	r := trace.NewRecorder(session, target)
	url := "https://bo:pw@shop.example/orders/17?mine=1#top"
	r.Record(trace.Entry{Action: trace.NavigateTo{URL: url, Via: "url"}, Before: trace.Page{Exists: true}, After: shop("a")})
	e := events(t, r)[0]
	params, after := e["parameters"].(map[string]any), e["after"].(map[string]any)
	assert.Equal(t, "https://shop.example", params["origin"])
	assert.Equal(t, after["url_fingerprint"], params["url_fingerprint"], "the same address has the same fingerprint within a trace")
	assert.Equal(t, []any{"url"}, e["redaction"].(map[string]any)["redacted_fields"])
	other := trace.NewRecorder(session, target)
	other.Record(click())
	assert.NotEqual(t, after["url_fingerprint"], events(t, other)[0]["before"].(map[string]any)["url_fingerprint"], "every trace has its own key")
}

func TestStatesWithoutPageOrSnapshot(t *testing.T) {
	r := trace.NewRecorder(session, target)
	r.Record(trace.Entry{Action: trace.OpenPage{URL: "about:blank"}, After: trace.Page{Exists: true, URL: "about:blank"}})
	e := events(t, r)[0]
	assert.Equal(t, []string{"fingerprint", "has_page"}, keysOf(e["before"].(map[string]any)))
	after := e["after"].(map[string]any)
	assert.Equal(t, []string{"fingerprint", "has_page", "url_fingerprint"}, keysOf(after), "an opaque origin is not named")
	assert.Empty(t, after["fingerprint"], "an unobserved state has no fingerprint")
}

// A failure is recorded once, with a class that depends on the code and never on the message.
func TestFailures(t *testing.T) {
	r := trace.NewRecorder(session, target)
	entry := click()
	entry.Err = fmt.Errorf("wrapped: %w", fault.New(fault.StaleReference, "secret-message"))
	entry.Duration = -1
	r.Record(entry)
	e := events(t, r)[0]
	assert.Equal(t, "error", e["outcome"])
	assert.Equal(t, "not_found", e["error_class"])
	assert.Zero(t, e["duration_ms"])
	assert.NotContains(t, export(t, r), "secret-message")
	classes := map[fault.Code]string{
		fault.NotFound: "not_found", fault.LocatorNotUnique: "not_found", fault.InvalidInput: "invalid_input", fault.TargetHidden: "policy", fault.WaitTimedOut: "timeout",
		fault.EvaluationFailed: "execution", fault.NavigationFailed: "network", fault.Internal: "operation", fault.TargetFailed: "operation",
	}
	for code, class := range classes {
		assert.Equal(t, class, trace.Class(code), code)
	}
}

func TestStatusAndExportFields(t *testing.T) {
	r := trace.NewRecorder(session, target)
	r.Record(click())
	raw, err := json.Marshal(r.Status())
	require.NoError(t, err)
	var status map[string]any
	require.NoError(t, json.Unmarshal(raw, &status))
	assert.Equal(t, []string{"cleared_events", "enabled", "evicted_events", "max_bytes", "max_events", "next_sequence", "oversized_events", "retained_bytes", "retained_events", "retention", "schema", "trace_id"}, keysOf(status))
	assert.Equal(t, true, status["enabled"])
	assert.InEpsilon(t, 2.0, status["next_sequence"], 1e-9)
	assert.InEpsilon(t, 128.0, status["max_events"], 1e-9)
	assert.InEpsilon(t, 49152.0, status["max_bytes"], 1e-9)
	var x map[string]any
	require.NoError(t, json.Unmarshal([]byte(export(t, r)), &x))
	assert.Equal(t, []string{"cleared_events", "events", "evicted_events", "max_bytes", "max_events", "next_sequence", "oversized_events", "redaction_policy", "retained_bytes", "retained_events", "retention", "schema", "session_id", "target_id", "trace_id"}, keysOf(x))
	assert.Equal(t, string(r.ID()), x["trace_id"])
	assert.Equal(t, len(r.Export().Events[0]), r.Status().RetainedBytes)
	assert.False(t, trace.Disabled().Enabled)
}

func TestRepeatedExportIsEqual(t *testing.T) {
	r := trace.NewRecorder(session, target)
	for range 40 {
		r.Record(click())
	}
	first := export(t, r)
	assert.Equal(t, first, export(t, r))
}

func TestClearKeepsTheSequence(t *testing.T) {
	r := trace.NewRecorder(session, target)
	r.Record(click())
	r.Record(click())
	assert.Equal(t, 2, r.Clear())
	assert.Equal(t, 0, r.Clear())
	s := r.Status()
	assert.Equal(t, uint64(2), s.Cleared)
	assert.Zero(t, s.RetainedEvents)
	assert.Zero(t, s.RetainedBytes)
	assert.Equal(t, uint64(3), r.Record(click()))
}

func TestOversizedEventTakesItsNumber(t *testing.T) {
	r := trace.NewRecorder(session, target)
	r.Record(trace.Entry{Action: trace.SelectOption{Values: make([]string, 500)}})
	assert.Equal(t, uint64(2), r.Record(click()))
	s := r.Status()
	assert.Equal(t, uint64(1), s.Oversized)
	assert.Equal(t, 1, s.RetainedEvents)
	assert.Equal(t, trace.EventNotRetained, r.Validate(trace.Request{SessionID: session, TraceID: r.ID(), Sequence: 1}, trace.Current{}).Refusal.Drift)
}

var actions = rapid.Custom(func(t *rapid.T) trace.Action {
	text := rapid.String()
	locator := rapid.SampledFrom([]string{"ref", "query", "css", "point", ""}).Draw(t, "locator")
	switch rapid.IntRange(0, 11).Draw(t, "action") {
	case 0:
		return trace.OpenPage{URL: text.Draw(t, "url")}
	case 1:
		return trace.NavigateTo{URL: text.Draw(t, "url"), Via: text.Draw(t, "via")}
	case 2:
		return trace.Click{Button: text.Draw(t, "button"), Count: rapid.Int().Draw(t, "count"), Modifiers: rapid.SliceOfN(text, 0, 40).Draw(t, "modifiers"), Locator: locator}
	case 3:
		return trace.TypeText{Text: text.Draw(t, "text"), Locator: locator}
	case 4:
		return trace.SelectOption{Values: make([]string, rapid.SampledFrom([]int{1, 2, 150}).Draw(t, "values")), Locator: locator}
	case 5:
		return trace.Scroll{DX: rapid.Float64().Draw(t, "dx"), DY: rapid.Float64().Draw(t, "dy"), Locator: locator}
	case 6:
		return trace.Toggle{State: text.Draw(t, "state")}
	case 7:
		return trace.Clear{Locator: text.Draw(t, "locator")}
	case 8:
		return trace.ClosePage{}
	case 9:
		return trace.Evaluate{}
	case 10:
		return trace.SetCookies{}
	}
	return trace.ClearCookies{}
})

func TestBoundsUnderTenThousandActions(t *testing.T) {
	r := trace.NewRecorder(session, target)
	var recorded, cleared uint64
	rapid.Check(t, func(t *rapid.T) {
		for range 100 {
			element := button()
			element.Role = rapid.String().Draw(t, "role")
			entry := trace.Entry{Action: actions.Draw(t, "entry"), Target: element, Before: shop(rapid.String().Draw(t, "state")), After: shop("x")}
			recorded++
			if got := r.Record(entry); got != recorded {
				t.Fatalf("sequence %d, want %d", got, recorded)
			}
		}
		if rapid.IntRange(0, 20).Draw(t, "clear") == 0 {
			cleared += uint64(r.Clear())
		}
		checkBounds(t, r, recorded, cleared)
	})
	assert.GreaterOrEqual(t, recorded, uint64(10_000))
	assert.Positive(t, r.Status().Evicted)
	assert.Positive(t, r.Status().Oversized)
}

func checkBounds(t *rapid.T, r *trace.Recorder, recorded, cleared uint64) {
	x, s := r.Export(), r.Status()
	raw, err := json.Marshal(x)
	if err != nil || len(raw) > trace.MaxExport {
		t.Fatalf("export of %d bytes, error %v", len(raw), err)
	}
	size, last := 0, uint64(0)
	for _, event := range x.Events {
		var e trace.Event
		if err := json.Unmarshal(event, &e); err != nil || e.Sequence <= last || len(event) > trace.MaxEventBytes {
			t.Fatalf("event %d after %d has %d bytes, error %v", e.Sequence, last, len(event), err)
		}
		last = e.Sequence
		size += len(event)
	}
	switch {
	case len(x.Events) > trace.MaxEvents || size > trace.MaxBytes || size != s.RetainedBytes || len(x.Events) != s.RetainedEvents:
		t.Fatalf("%d events of %d bytes, status %+v", len(x.Events), size, s)
	case s.Evicted+s.Oversized+s.Cleared+uint64(s.RetainedEvents) != recorded || s.Cleared != cleared || s.NextSequence != recorded+1:
		t.Fatalf("after %d actions, %d cleared: %+v", recorded, cleared, s)
	}
}

func TestEvictionIsOldestFirst(t *testing.T) {
	r := trace.NewRecorder(session, target)
	for range 500 {
		r.Record(trace.Entry{Action: trace.Clear{}})
	}
	list := events(t, r)
	for i, e := range list {
		assert.Equal(t, float64(500-len(list)+i+1), e["sequence"])
	}
	assert.LessOrEqual(t, len(list), 128)
	assert.Greater(t, len(list), 60)
}

// No typed value, URL path, query, fragment, credential, selector, page content or name ever occurs in an export.
func TestRandomSecretsStayOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[b-df-hj-np-tv-z]{3}[0-9]{3}[G-Zg-z]{6,300}`).Draw(t, "secret")
		r := trace.NewRecorder(session, target)
		state := trace.Page{Exists: true, URL: "https://" + secret + ":" + secret + "@h.example/" + secret + "?" + secret + "#" + secret, Snapshot: []byte(secret)}
		element := &trace.Element{Node: secret, Role: secret, Name: secret, Label: secret, NameAttr: secret, Href: secret, InputType: secret, Group: secret, Placeholder: secret, Actions: []trace.Kind{trace.Kind(secret)}}
		err := fault.New(fault.Code(secret), "%s", secret).Because(fmt.Errorf("%s", secret))
		for _, a := range []trace.Action{
			trace.OpenPage{URL: state.URL},
			trace.NavigateTo{URL: state.URL, Via: secret},
			trace.NavigateTo{URL: "data:text/html," + secret},
			trace.NavigateTo{URL: secret},
			trace.Click{Button: secret, Modifiers: []string{secret}, Locator: secret},
			trace.TypeText{Text: secret, Via: secret, Mode: secret, Locator: secret},
			trace.SelectOption{By: secret, Values: []string{secret}, Locator: secret},
			trace.Scroll{Locator: secret},
			trace.Toggle{State: secret, Locator: secret},
			trace.Clear{Locator: secret},
			trace.Evaluate{},
			trace.SetCookies{},
			trace.ClearCookies{},
			trace.ClosePage{},
		} {
			r.Record(trace.Entry{Action: a, Target: element, Before: state, After: state, Err: err})
			raw, _ := json.Marshal(r.Export())
			plan, _ := json.Marshal(r.Validate(trace.Request{SessionID: session, TraceID: r.ID(), Sequence: r.Status().NextSequence - 1, Confirmed: true}, trace.Current{Page: state, Elements: []trace.Element{*element}}))
			printed := string(raw) + string(plan) + fmt.Sprintf("%v %+v", r.Status(), r.Export())
			if strings.Contains(strings.ToLower(printed), strings.ToLower(secret)) {
				t.Fatalf("%T shows %q: %s", a, secret, printed)
			}
		}
	})
}

func TestRecorderPrintsAsItsIdentity(t *testing.T) {
	r := trace.NewRecorder(session, target)
	assert.Equal(t, strings.Repeat(string(r.ID()), 3), fmt.Sprintf("%v%+v%#v", r, r, r))
}

func TestCanonicalIgnoresWhatIsVolatile(t *testing.T) {
	snapshot := func(change func(*page.Snapshot)) string {
		s := &page.Snapshot{Generation: 7, Source: "walk", Sections: []page.Section{{Origin: "https://h.example", Main: true, Generation: 7, Nodes: []page.Node{
			{Ref: "e1@7", Role: "textbox", Name: "Name", Value: "bo", States: []string{"required", "focused"}},
			{Ref: "e2@7", Depth: 1, Role: "link", Name: "More", URL: "https://h.example/more"},
		}}}}
		change(s)
		return string(trace.Canonical(s))
	}
	same := snapshot(func(*page.Snapshot) {})
	assert.Equal(t, same, snapshot(func(s *page.Snapshot) {
		s.Generation, s.Sections[0].Generation, s.Source = 9, 9, "accessibility_tree"
		s.Sections[0].Nodes[0].Ref, s.Sections[0].Nodes[0].States = "e1@9", []string{"required"}
	}))
	for name, change := range map[string]func(n *page.Node){
		"role":  func(n *page.Node) { n.Role = "searchbox" },
		"name":  func(n *page.Node) { n.Name = "Nam" },
		"value": func(n *page.Node) { n.Value = "bob" },
		"state": func(n *page.Node) { n.States = append(n.States, "disabled") },
		"depth": func(n *page.Node) { n.Depth++ },
		"url":   func(n *page.Node) { n.URL = "x" },
	} {
		assert.NotEqual(t, same, snapshot(func(s *page.Snapshot) { change(&s.Sections[0].Nodes[0]) }), name)
	}
	assert.NotEqual(t, same, snapshot(func(s *page.Snapshot) { s.Sections[0].Nodes = s.Sections[0].Nodes[:1] }))
	assert.NotNil(t, trace.Canonical(nil))
}

func TestConcurrentSafe(t *testing.T) {
	r := trace.NewRecorder(session, target)
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				r.Record(click())
				r.Export()
				r.Validate(trace.Request{SessionID: session, TraceID: r.ID(), Sequence: 1}, trace.Current{Page: shop("a")})
				r.Clear()
			}
		}()
	}
	for range 4 {
		<-done
	}
	assert.Equal(t, uint64(201), r.Status().NextSequence)
}

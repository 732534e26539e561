package input_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func scope(s *page.Session) core.Scope { return core.Scope{Target: s.Target()} }

func TestAnActionThatOpensADialogReturnsAtOnceWithIt(t *testing.T) {
	for _, kind := range []string{"alert", "confirm", "prompt"} {
		b, s := newBench(t), browsertest.Page(t, `<button onclick="document.title = String(`+kind+`('Sure?'))">Go</button>`)
		o := b.must(s, "click", click(`name="Go"`))
		assert.True(t, o.settled.DialogOpen)
		assert.Equal(t, &core.Dialog{Type: kind, Message: "Sure?"}, o.observation.Dialog)
		assert.Nil(t, o.observation.Tree)

		again := b.do(s, "click", click(`name="Go"`))
		assert.Equal(t, fault.DialogOpen, fault.CodeOf(again.err), "nothing waits behind a dialog")
		assert.False(t, again.sent)
		_, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: scope(s)})
		assert.Equal(t, fault.DialogOpen, fault.CodeOf(err))

		answer := "Ada"
		r := &core.HandleDialogRequest{Action: "accept"}
		if kind == "prompt" {
			r.PromptText = &answer
		}
		o = b.must(s, "handle_dialog", r)
		assert.Equal(t, core.HandleDialogResult{Type: kind, Action: "accept"}, o.result)
		assert.NotContains(t, o.parameters, "Ada", "what is answered is nobody's record")
		assert.Equal(t, map[string]string{"alert": "undefined", "confirm": "true", "prompt": "Ada"}[kind], text(t, s, "document.title"))

		o = b.do(s, "handle_dialog", &core.HandleDialogRequest{Action: "accept"})
		assert.Equal(t, fault.NotFound, fault.CodeOf(o.err))
	}
}

func TestDialogsOnLoadAndOnLeaving(t *testing.T) {
	b, s := newBench(t), fixture(t, "07-navigation-dialogs.html")
	_, err := b.observer.Wait(t.Context(), core.WaitRequest{Scope: scope(s), Expression: "false", TimeoutMS: 5000})
	assert.Equal(t, fault.DialogOpen, fault.CodeOf(err), "the alert that opens by itself ends a wait")
	b.must(s, "handle_dialog", &core.HandleDialogRequest{Action: "accept"})
	b.must(s, "fill", fill(`label="Notes"`, "x"))
	o := b.must(s, "click", click(`name="Leave"`))
	if o.observation.Dialog == nil {
		t.Fatal("leaving asks first")
	}
	assert.Equal(t, "beforeunload", o.observation.Dialog.Type)
	o = b.must(s, "handle_dialog", &core.HandleDialogRequest{Action: "accept"})
	require.NotNil(t, o.observation.Post.Navigation)
	assert.Equal(t, "PASS left the page", verdict(t, s))
}

func TestReferencesLiveAsLongAsTheirNode(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<div id=a><button>One</button></div><div id=b></div>`)
	ref := func() string {
		r, err := b.observer.Query(t.Context(), core.QueryRequest{Scope: scope(s), Query: `name="One"`})
		require.NoError(t, err)
		return r.Ref
	}
	one := ref()
	assert.Equal(t, one, ref(), "a later snapshot keeps it")
	text(t, s, "b.append(document.querySelector('button'))")
	assert.Equal(t, one, ref(), "a moved node is the same node")
	require.NoError(t, s.Send(t.Context(), "HeapProfiler.collectGarbage", nil, nil))
	assert.Equal(t, one, ref(), "collecting garbage changes nothing")
	b.must(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: one}})
	text(t, s, "document.querySelector('button').outerHTML += ''")
	two := ref()
	assert.NotEqual(t, one, two, "a node that looks the same is another one")
	o := b.do(s, "click", &core.ClickRequest{Locator: core.Locator{Ref: one}})
	assert.Equal(t, fault.StaleReference, fault.CodeOf(o.err))
	assert.Contains(t, fault.From(o.err).Recovery, "snapshot_page")
}

func TestPostActionObservation(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<title>Shop</title><h1>Basket</h1><button onclick="this.textContent = 'Saved'; document.querySelector('[role=status]').textContent = 'All saved'">Save</button><button>Other</button><p role=status></p>`)
	o := b.must(s, "click", click(`name="Save"`))
	assert.Equal(t, "Shop", o.observation.Page.Title)
	require.NotNil(t, o.observation.Tree)
	assert.Equal(t, []core.Semantic{{Role: "status", Text: "All saved"}, {Role: "heading", Text: "Basket"}}, o.observation.Says)
	assert.NotEmpty(t, o.observation.Focus)
	require.NotNil(t, o.observation.Post.Pages)
	assert.NotEmpty(t, o.observation.Post.Pages.CursorBefore)
	assert.NotEmpty(t, o.observation.Post.Downloads.CursorBefore)
	o = b.must(s, "click", click(`name="Saved"`))
	assert.Nil(t, o.observation.Tree)
	require.NotNil(t, o.observation.Same, "nothing that is listed has changed")
	assert.Equal(t, 2, o.observation.Same.TargetCount)
}

func TestExpectationNotesAreCautious(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<a href="/away" onclick="return false">Dead link</a><a href="#part">Part</a><label><input type=checkbox onclick="return false">Stuck</label>`)
	assert.Contains(t, b.must(s, "click", click(`name="Dead link"`)).observation.Post.Expectation, "no navigation was observed")
	assert.Empty(t, b.must(s, "click", click(`name="Part"`)).observation.Post.Expectation)
	assert.Contains(t, b.must(s, "click", click(`name="Stuck"`)).observation.Post.Expectation, "not observed to change")
}

func TestTargetStateAfterAnAction(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<label><input type=checkbox>Agree</label><button aria-expanded=false onclick="this.setAttribute('aria-expanded', true)">Menu</button><button onclick="this.replaceWith('x')">Gone</button>`)
	post := b.must(s, "click", click(`name="Agree"`)).observation.Post
	assert.Equal(t, "true", *post.TargetState.Checked)
	post = b.must(s, "click", click(`name="Menu"`)).observation.Post
	assert.True(t, *post.TargetState.Expanded)
	post = b.must(s, "click", click(`name="Gone"`)).observation.Post
	assert.True(t, *post.NodeReplaced)
}

func TestSecretsAreMaskedEverywhere(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<label>Password <input type=password value=hunter2></label><label>Code <input autocomplete=one-time-code value=123456></label>
<label>Card <input autocomplete=cc-number value=4242424242424242></label><label>CVV <input name=cvv value=987></label><label>Name <input value=Ada></label>`)
	snap, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: scope(s)})
	require.NoError(t, err)
	text(t, s, "document.querySelector('[type=password]').type = 'text'")
	shown, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: scope(s)})
	require.NoError(t, err)
	for _, v := range []core.Snapshot{snap, shown} {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		for _, secret := range []string{"hunter2", "123456", "4242424242424242", "987"} {
			assert.NotContains(t, string(raw), secret)
		}
		assert.Contains(t, string(raw), "[7 chars]")
		assert.Contains(t, string(raw), "Ada")
	}
	o := b.must(s, "fill", fill(`label="Password"`, "n3w-secret"))
	raw, err := json.Marshal(o.observation)
	require.NoError(t, err)
	assert.NotContains(t, string(raw)+o.parameters, "n3w-secret")
	assert.Contains(t, o.parameters, `"length":10`)
}

func TestOpaqueSurfacesAreListed(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<canvas aria-label=Map width=1200 height=700></canvas><video aria-label=Film></video>`)
	snap, err := b.observer.Snapshot(t.Context(), core.SnapshotRequest{Scope: scope(s)})
	require.NoError(t, err)
	assert.True(t, snap.Pictorial)
	assert.Equal(t, []string{`canvas "Map" [opaque]`, `video "Film" [opaque]`}, snap.Full().Lines()[1:])
}

func TestHoverKeepsAMenuOpenForTheNextAction(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<style>.m{display:none}.h:hover .m{display:block}</style><div class=h style="width:100px"><span tabindex=0>Menu</span><div class=m><button onclick="document.title='opened'">Open</button></div></div>`)
	o := b.must(s, "hover", &core.HoverRequest{Locator: core.Locator{CSS: ".h"}})
	require.NotNil(t, o.observation.Tree)
	assert.Contains(t, strings.Join(o.observation.Tree.Full().Lines(), "\n"), `button "Open"`)
	b.must(s, "click", click(`name="Open"`))
	assert.Equal(t, "opened", text(t, s, "document.title"))
}

func TestEvaluate(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<title>Page</title><button id=x>Press</button><script>var counter = 1</script>`)
	run := func(r core.EvaluateRequest) outcome { r.Scope = scope(s); return b.do(s, "evaluate", &r) }
	value := func(r core.EvaluateRequest) string {
		t.Helper()
		o := run(r)
		require.NoError(t, o.err, r.Expression)
		result, ok := o.result.(core.EvaluateResult)
		require.True(t, ok)
		if result.Undefined {
			return "undefined"
		}
		return string(result.Value)
	}
	found, err := b.observer.Query(t.Context(), core.QueryRequest{Scope: scope(s), Query: `name="Press"`})
	require.NoError(t, err)
	assert.Equal(t, "2", value(core.EvaluateRequest{Expression: "counter + 1"}), "the page's own world")
	assert.Equal(t, `"Page"`, value(core.EvaluateRequest{Expression: "document.title"}))
	assert.Equal(t, "undefined", value(core.EvaluateRequest{Expression: "void 0"}))
	assert.Equal(t, "null", value(core.EvaluateRequest{Expression: "null"}))
	assert.Equal(t, "3", value(core.EvaluateRequest{Expression: "new Promise(r => setTimeout(r, 5, 3))"}))
	assert.Equal(t, "3", value(core.EvaluateRequest{Expression: "(() => 3)()"}))
	assert.Equal(t, `{"a":[1,{"b":null}]}`, value(core.EvaluateRequest{Expression: "({a: [1, {b: null}]})"}))
	args := []core.EvaluateArg{{Ref: found.Ref}, {Value: json.RawMessage(`{"n":41}`)}}
	assert.Equal(t, `"x42"`, value(core.EvaluateRequest{Expression: "(e, o) => e.id + (o.n + 1)", Args: args}))
	assert.Equal(t, `"x"`, value(core.EvaluateRequest{Expression: "function (e) { return e.id }", Args: args[:1]}))
	assert.Equal(t, `"Page"`, value(core.EvaluateRequest{Expression: "document.title", ReadOnly: true}))
	for _, c := range []struct {
		r    core.EvaluateRequest
		code fault.Code
		says string
	}{
		{core.EvaluateRequest{Expression: "counter = 5", ReadOnly: true}, fault.EvaluationFailed, "side effects"},
		{core.EvaluateRequest{Expression: "missing.value"}, fault.EvaluationFailed, "ReferenceError"},
		{core.EvaluateRequest{Expression: "throw new Error('secret')"}, fault.EvaluationFailed, "threw Error"},
		{core.EvaluateRequest{Expression: "new Promise(() => {})", TimeoutMS: 50}, fault.EvaluationFailed, "50 ms"},
		{core.EvaluateRequest{Expression: "'x'.repeat(2000000)"}, fault.ResourceLimitExceeded, "too large"},
		{core.EvaluateRequest{Expression: "e => e", Args: []core.EvaluateArg{{Ref: "e999@999"}}}, fault.StaleReference, "no longer"},
	} {
		o := run(c.r)
		assert.Equal(t, c.code, fault.CodeOf(o.err), c.r.Expression)
		require.Error(t, o.err, c.r.Expression)
		assert.Contains(t, o.err.Error(), c.says, c.r.Expression)
		assert.NotContains(t, o.err.Error(), "secret")
	}
	assert.Equal(t, "1", text(t, s, "counter"))
	assert.NotContains(t, run(core.EvaluateRequest{Expression: "'private source'"}).parameters, "private")
}

func TestScreenshots(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<body style="margin:0"><div style="height:3000px;background:linear-gradient(red,blue)"></div><button id=x style="width:200px;height:50px">Low</button>`)
	shot := func(r core.ScreenshotRequest) core.ScreenshotResult {
		t.Helper()
		r.Scope = scope(s)
		got, err := b.observer.Screenshot(t.Context(), r)
		require.NoError(t, err)
		assert.LessOrEqual(t, max(got.Width, got.Height), 1568)
		assert.LessOrEqual(t, got.Width*got.Height, 1_150_000+1568)
		assert.InDelta(t, got.Rect.Width, float64(got.Width)*got.CSSPerPixel, got.CSSPerPixel+0.5)
		raw, err := got.Picture.Load(t.Context())
		require.NoError(t, err)
		assert.Len(t, raw, got.Bytes)
		kept, media, err := b.ring.Get(s.RecordSession(), s.Target(), got.Picture.ObservationID)
		require.NoError(t, err)
		assert.Equal(t, raw, kept)
		assert.Equal(t, "image/"+got.Format, media)
		return got
	}
	view := shot(core.ScreenshotRequest{})
	assert.Equal(t, []int{1280, 720}, []int{view.Width, view.Height})
	full := shot(core.ScreenshotRequest{Of: "full_page", Format: "jpeg"})
	assert.InDelta(t, 3050, full.Rect.Height, 30)
	element := shot(core.ScreenshotRequest{Element: core.Element{CSS: "#x"}})
	assert.Equal(t, []float64{200, 50, 3000}, []float64{element.Rect.Width, element.Rect.Height, element.Rect.Y})
	region := shot(core.ScreenshotRequest{Rect: &core.Rect{X: 10, Y: 1000, Width: 300, Height: 200, Space: core.SpaceDocument}})
	assert.Equal(t, []int{300, 200}, []int{region.Width, region.Height})

	for _, scale := range []float64{2, 3} {
		require.NoError(t, s.Send(t.Context(), "Emulation.setDeviceMetricsOverride", map[string]any{"width": 800, "height": 600, "deviceScaleFactor": scale, "mobile": false}, nil))
		shot(core.ScreenshotRequest{})
		shot(core.ScreenshotRequest{Element: core.Element{CSS: "#x"}})
	}
	text(t, s, "document.querySelector('div').style.height = '30000px'")
	_, err := b.observer.Screenshot(t.Context(), core.ScreenshotRequest{Scope: scope(s), Of: "full_page"})
	assert.Equal(t, fault.ResourceLimitExceeded, fault.CodeOf(err))
	limit := fault.From(err).Limit
	require.NotNil(t, limit)
	assert.InDelta(t, 30050, limit.Actual, 30)
	shot(core.ScreenshotRequest{Rect: &core.Rect{Width: 800, Height: float64(limit.TryAtMost), Space: core.SpaceDocument}})
}

func TestImagePointsBelongToTheNewestPicture(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<body style="height:3000px"><button style="position:absolute;left:600px;top:400px;width:100px;height:40px" onclick="document.title='hit'">x</button>`)
	point := func() *core.ClickRequest {
		return &core.ClickRequest{Locator: core.Locator{Point: &core.Point{X: 650, Y: 420, Space: core.SpaceImage}}}
	}
	o := b.do(s, "click", point())
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(o.err))
	assert.Contains(t, o.err.Error(), "no picture")
	require.NoError(t, s.Send(t.Context(), "Emulation.setDeviceMetricsOverride", map[string]any{"width": 1280, "height": 720, "deviceScaleFactor": 2, "mobile": false}, nil))
	shot, err := b.observer.Screenshot(t.Context(), core.ScreenshotRequest{Scope: scope(s)})
	require.NoError(t, err)
	r := point()
	r.Point.X, r.Point.Y = 650/shot.CSSPerPixel, 420/shot.CSSPerPixel
	b.must(s, "click", r)
	assert.Equal(t, "hit", text(t, s, "document.title"))
	text(t, s, "scrollTo(0, 50)")
	o = b.do(s, "click", point())
	assert.Contains(t, o.err.Error(), "scrolled")
	assert.False(t, o.sent)
}

func TestObserveLive(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<title>Live</title><p role=alert>Danger</p><button autofocus>Go</button>`)
	o, err := b.observer.Observe(t.Context(), s.Target(), true)
	require.NoError(t, err)
	require.NotNil(t, o.Picture)
	assert.Equal(t, evidence.RoleLive, o.Picture.Role)
	assert.Equal(t, "image/jpeg", o.Picture.MediaType)
	assert.NotEmpty(t, o.Shot.URI)
	assert.Equal(t, "alert", o.Says[0].Role)
	assert.NotEmpty(t, o.Focus)
	assert.Nil(t, o.Incomplete)
}

func TestNavigationByAClick(t *testing.T) {
	b := newBench(t)
	next := b.browser.URL(`<title>Next</title><button>There</button>`)
	s := browsertest.Page(t, `<a href="`+next+`">Go</a>`)
	o := b.must(s, "click", click(`name="Go"`))
	assert.Equal(t, o.settled.Navigation, o.observation.Post.Navigation.ID)
	assert.Equal(t, "Next", o.observation.Page.Title)
	assert.Contains(t, strings.Join(o.observation.Tree.Concise().Lines(), "\n"), `button "There"`)
	assert.Nil(t, o.observation.Post.TargetState, "the clicked element belongs to another document")
}

func TestWaits(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<title>w</title><div id=box><p>Loading</p></div><input id=in disabled><input type=checkbox id=check>`)
	wait := func(r core.WaitRequest) (core.WaitResult, error) {
		r.Scope, r.PollMS = scope(s), 10
		if r.TimeoutMS == 0 {
			r.TimeoutMS = 5000
		}
		return b.observer.Wait(t.Context(), r)
	}
	met := func(script string, r core.WaitRequest) {
		t.Helper()
		text(t, s, "setTimeout(() => {"+script+"}, 60)")
		got, err := wait(r)
		require.NoError(t, err, "%+v", r)
		assert.Equal(t, "satisfied", got.Outcome)
		assert.Equal(t, r.Condition(), got.Condition)
	}
	met("box.textContent = 'All done now'", core.WaitRequest{Text: "done"})
	met("box.textContent = 'Exactly'", core.WaitRequest{Text: "exactly", Exact: true})
	met("box.textContent = ''", core.WaitRequest{Text: "Exactly", Absent: true})
	met("box.innerHTML = '<h2>Ready</h2>'", core.WaitRequest{Query: `role=heading name="Ready"`})
	met("box.innerHTML = ''", core.WaitRequest{Query: `role=heading`, Absent: true})
	met("document.querySelector('#in').disabled = false", core.WaitRequest{CSS: "#in", State: "enabled"})
	met("check.checked = true", core.WaitRequest{CSS: "#check", State: "checked"})
	met("check.hidden = true", core.WaitRequest{CSS: "#check", State: "hidden"})
	met("box.innerHTML = '<i class=late>x</i>'", core.WaitRequest{CSS: ".late", State: "visible"})
	met("window.flag = {}", core.WaitRequest{Expression: "window.flag"})
	met("history.pushState(0, '', '?step=2')", core.WaitRequest{Navigation: "complete", URL: text(t, s, "location.href") + "?step", URLMatch: "prefix"})
	met("", core.WaitRequest{ElapsedMS: 20})
	met("fetch('/x')", core.WaitRequest{NetworkQuietMS: 100})

	got, err := wait(core.WaitRequest{Query: `role=dialog`, TimeoutMS: 60})
	assert.Equal(t, fault.WaitTimedOut, fault.CodeOf(err))
	assert.Equal(t, "timed_out", got.Outcome)
	require.NotNil(t, got.LastProbe)
	assert.Equal(t, core.NoMatch, got.LastProbe.QueryOutcome)
	_, err = wait(core.WaitRequest{Ref: "e999@999", State: "visible"})
	assert.Equal(t, fault.StaleReference, fault.CodeOf(err))
	_, err = wait(core.WaitRequest{CSS: "[", State: "visible"})
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
}

func TestAWaitOutlivesANavigation(t *testing.T) {
	b := newBench(t)
	next := b.browser.URL(`<title>n</title><h1>Arrived</h1>`)
	s := browsertest.Page(t, `<h1>Here</h1>`)
	text(t, s, "setTimeout(() => location.href = '"+next+"', 50)")
	got, err := b.observer.Wait(t.Context(), core.WaitRequest{Scope: scope(s), Query: `role=heading name="Arrived"`, PollMS: 10, TimeoutMS: 10000})
	require.NoError(t, err)
	assert.Equal(t, "satisfied", got.Outcome)
}

func TestInspectAndAssets(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<title>i</title><body style="height:3000px"><img src="/missing.png?token=secret"><script>scrollTo(0, 100)</script>`)
	i, err := b.observer.Inspect(t.Context(), core.InspectRequest{Scope: scope(s)})
	require.NoError(t, err)
	assert.Equal(t, []any{"i", "complete", "visible"}, []any{i.Title, i.ReadyState, i.Visibility})
	assert.InDelta(t, 1280, i.Viewport.VisualWidth, 20)
	assert.Positive(t, i.Scroll.ContentHeight)
	a, err := b.observer.Assets(t.Context(), core.ListAssetsRequest{Scope: scope(s)})
	require.NoError(t, err)
	raw, err := json.Marshal(a)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "secret")
	assert.NotContains(t, string(raw), "missing")
	assert.Equal(t, 1, a.Counts["image"], string(raw))
	assert.Equal(t, 1, a.Counts["document"], string(raw))
}

func TestTheObservationIsCheapForThePage(t *testing.T) {
	b, s := newBench(t), browsertest.Page(t, `<button>Go</button>`)
	start := b.browser.Facts.All()
	b.must(s, "click", click(`name="Go"`))
	kinds := map[string]int{}
	for _, f := range b.browser.Facts.All()[len(start):] {
		if o, ok := f.(observer); ok {
			assert.LessOrEqual(t, o.StartNS, o.EndNS)
			kinds[o.Kind]++
		}
	}
	for _, kind := range []string{"query", "hit_test", "rendezvous", "snapshot"} {
		assert.Positive(t, kinds[kind], "our own work in the page is on the timeline: %s", kind)
	}
}

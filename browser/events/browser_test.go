package events_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/events"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// recording is a recorder on the package's browser.
type recording struct {
	*events.Recorder
	t     testing.TB
	store *coretest.Store
	b     *browsertest.Browser
}

func startRecording(t testing.TB, change func(*events.Config)) *recording {
	t.Helper()
	b := browsertest.Start(t)
	store := coretest.NewStore()
	config := events.Config{Session: b.Session, Clock: b.Clock, Sink: store, Facts: store, Key: redact.NewKey(), Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&config)
	}
	r := events.Start(config)
	r.Connected(b.Root)
	stop := b.Observe(r)
	t.Cleanup(func() {
		stop()
		require.NoError(t, r.Stop(context.Background()))
	})
	return &recording{Recorder: r, t: t, store: store, b: b}
}

// row is an event with its payload decoded.
type row struct {
	record.Event
	p map[string]any
}

func (r *recording) events(p target.Page, classes ...record.EventClass) []row {
	r.t.Helper()
	require.NoError(r.t, r.Barrier(context.Background()))
	list, _, err := r.store.Events(context.Background(), record.EventQuery{
		Window: record.Window{SessionID: r.b.Session, TargetID: p.ID, EndNS: 1 << 62}, Classes: classes, Limit: 1 << 30,
	})
	require.NoError(r.t, err)
	rows := make([]row, 0, len(list))
	for _, e := range list {
		v := row{Event: e}
		require.NoError(r.t, json.Unmarshal(e.Payload, &v.p), "%s", e.Payload)
		rows = append(rows, v)
	}
	return rows
}

// until waits for an event that satisfies ok.
func (r *recording) until(p target.Page, ok func(row) bool) row {
	r.t.Helper()
	deadline := time.Now().Add(browsertest.Limit)
	for time.Now().Before(deadline) {
		for _, e := range r.events(p) {
			if ok(e) {
				return e
			}
		}
	}
	for _, e := range r.events(p) {
		r.t.Logf("%s %s %s", e.Class, e.Severity, e.Payload)
	}
	r.t.Fatal("the awaited event did not come")
	return row{}
}

func serve(t testing.TB, routes map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for path, f := range routes {
		mux.HandleFunc(path, f)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func html(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(content))
	}
}

func js(code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(code))
	}
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

func said(words string) func(row) bool {
	return func(e row) bool { return e.Class == record.ClassConsole && e.p["text"] == words }
}

func texts(rows []row) []string {
	var list []string
	for _, e := range rows {
		s, _ := e.p["text"].(string)
		list = append(list, s)
	}
	return list
}

func run(t testing.TB, p target.Page, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*browsertest.Limit)
	defer cancel()
	require.NoError(t, p.Session.SendWithin(ctx, 2*browsertest.Limit, "Runtime.evaluate", map[string]any{"expression": expression, "userGesture": true, "awaitPromise": true}, nil))
}

func TestWordsOfAPage(t *testing.T) {
	r := startRecording(t, nil)
	p := r.b.Open(t, `<script>
function outer() { console.warn('careful', {password: 'hunter2', n: 1}); }
outer();
console.log('%c%s costs %d', 'color:red', 'tea', 3);
console.error(new TypeError('boom'));
setTimeout(function late() { null.x }, 0);
Promise.reject(new RangeError('nobody listens'));
setTimeout(() => { throw 'just words' }, 1);
setTimeout(() => console.debug('end'), 50);
//# sourceMappingURL=data:application/json;base64,c2VjcmV0LXNvdXJjZS1tYXA=
</script>`)
	r.until(p, said("end"))
	list := r.events(p, record.ClassConsole, record.ClassException)
	assert.Equal(t, []string{"careful {password: [redacted], n: 1}", "tea costs 3", "TypeError: boom\n    at [redacted-url]"}, texts(list)[:3])
	warned := list[0]
	assert.Equal(t, record.Warning, warned.Severity)
	frame := warned.p["stack"].([]any)[0].(map[string]any)
	assert.Equal(t, "outer", frame["function"])
	assert.InEpsilon(t, 2.0, frame["line"], 1e-9)
	exceptions := r.events(p, record.ClassException)
	require.Len(t, exceptions, 3)
	byText := map[string]row{}
	for _, e := range exceptions {
		byText[e.p["text"].(string)] = e
		assert.Equal(t, record.Error, e.Severity)
	}
	thrown := byText["TypeError: Cannot read properties of null (reading 'x')"]
	assert.Equal(t, "TypeError", thrown.p["class"])
	assert.Equal(t, "late", thrown.p["stack"].([]any)[0].(map[string]any)["function"])
	rejected := byText["RangeError: nobody listens"]
	assert.Equal(t, true, rejected.p["in_promise"])
	assert.Contains(t, byText, "just words")
	for i := 1; i < len(list); i++ {
		assert.Greater(t, list[i].Sequence, list[i-1].Sequence)
		assert.GreaterOrEqual(t, list[i].AtNS, list[i-1].AtNS)
	}
}

// find returns the rows of one request kind and stage.
func find(rows []row, kind, stage string) []row {
	var list []row
	for _, e := range rows {
		if e.p["kind"] == kind && e.p["stage"] == stage {
			list = append(list, e)
		}
	}
	return list
}

func TestRequestsOfAPage(t *testing.T) {
	r := startRecording(t, nil)
	s := serve(t, map[string]http.HandlerFunc{
		"/missing.json": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"/broken":       func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
		"/there":        text("here"),
		"/moved": func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "/there?token=hunter2", http.StatusFound)
		},
		"/echo": echo,
		"/":     html(`<title>x</title>`),
	})
	p := r.b.Open(t, s.URL+"/")
	run(t, p, `(async () => {
		await (await fetch('/missing.json', {method: 'PUT', body: 'hunter2'})).text();
		await (await fetch('/moved')).text();
		await fetch('/broken').catch(() => 0);
		await fetch('http://localhost:' + location.port + '/there').catch(() => 0);
		const ws = new WebSocket(location.origin.replace('http', 'ws') + '/echo');
		await new Promise(done => { ws.onopen = () => ws.send('hunter2'); ws.onmessage = () => ws.close(); ws.onclose = done; });
		const bad = new WebSocket(location.origin.replace('http', 'ws') + '/there');
		await new Promise(done => { bad.onerror = done });
		console.log('end');
	})()`)
	r.until(p, said("end"))
	rows := r.events(p, record.ClassRequest, record.ClassResponse, record.ClassRequestFailed)

	sent, headers := find(rows, "fetch", "sent"), find(rows, "fetch", "headers")
	require.Len(t, sent, 5)
	assert.Equal(t, "PUT", sent[0].p["method"])
	assert.Equal(t, true, sent[0].p["has_body"])
	assert.Equal(t, "script", sent[0].p["initiator"].(map[string]any)["type"])
	assert.Equal(t, "json", sent[0].p["url"].(map[string]any)["extension"])
	assert.InEpsilon(t, 404.0, headers[0].p["status"], 1e-9)
	assert.Equal(t, record.Warning, headers[0].Severity)
	assert.Equal(t, "http/1.1", headers[0].p["protocol"])
	assert.Contains(t, headers[0].p, "timing")

	redirected := find(rows, "fetch", "redirected")
	require.Len(t, redirected, 1)
	assert.InEpsilon(t, 302.0, redirected[0].p["status"], 1e-9)
	assert.Equal(t, sent[2].p["request_id"], redirected[0].p["request_id"])
	assert.Equal(t, true, sent[2].p["url"].(map[string]any)["had_query"])
	finished := find(rows, "fetch", "finished")
	require.NotEmpty(t, finished)
	assert.Positive(t, finished[len(finished)-1].p["encoded_bytes"])
	assert.Positive(t, finished[len(finished)-1].p["duration_ms"])

	failed := find(rows, "fetch", "failed")
	require.Len(t, failed, 2)
	assert.Equal(t, "net::ERR_EMPTY_RESPONSE", failed[0].p["error"])
	assert.Equal(t, "MissingAllowOriginHeader", failed[1].p["cors_error"])

	sockets := find(rows, "websocket", "sent")
	require.Len(t, sockets, 2)
	assert.Equal(t, "ws", sockets[0].p["url"].(map[string]any)["scheme"])
	assert.InEpsilon(t, 101.0, find(rows, "websocket", "headers")[0].p["status"], 1e-9)
	assert.NotEmpty(t, find(rows, "websocket", "closed"))
	assert.Len(t, find(rows, "websocket", "failed"), 1)

	document := find(rows, "document", "sent")[0]
	nav, ok := p.Session.Navigation()
	require.True(t, ok)
	assert.Equal(t, string(nav.ID), document.p["nav_id"])
}

func echo(w http.ResponseWriter, q *http.Request) {
	conn, err := websocket.Accept(w, q, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	kind, message, err := conn.Read(q.Context())
	if err == nil {
		_ = conn.Write(q.Context(), kind, message)
		_, _, _ = conn.Read(q.Context())
	}
}

func TestWorkersAndFrames(t *testing.T) {
	r := startRecording(t, nil)
	s := serve(t, map[string]http.HandlerFunc{
		"/w.js":  js(`console.log('from worker'); fetch('/data').then(() => postMessage(1))`),
		"/sw.js": js(`console.log('from service worker'); self.addEventListener('activate', e => e.waitUntil(clients.claim()))`),
		"/data":  text("{}"),
		"/frame": html(`<script>console.log('from frame'); fetch('/data')</script>`),
		"/": html(`<script>
const worker = new Promise(done => new Worker('/w.js').onmessage = done);
const sw = new Promise(done => navigator.serviceWorker.addEventListener('controllerchange', done));
navigator.serviceWorker.register('/sw.js');
const frames = ['/frame', 'http://localhost:' + location.port + '/frame'].map(url => new Promise(done => {
  const f = document.createElement('iframe'); f.src = url; f.onload = done; document.documentElement.append(f);
}));
Promise.all([worker, sw, ...frames]).then(() => setTimeout(() => console.log('end'), 200));
</script>`),
	})
	p := r.b.Open(t, s.URL+"/")
	r.until(p, said("end"))
	contexts := map[string][]any{}
	for _, e := range r.events(p, record.ClassConsole) {
		words, _ := e.p["text"].(string)
		contexts[words] = append(contexts[words], e.p["context"])
	}
	assert.Equal(t, []any{"worker"}, contexts["from worker"], "once, although the page tells it too")
	assert.Equal(t, []any{"service_worker"}, contexts["from service worker"])
	assert.ElementsMatch(t, []any{nil, "frame"}, contexts["from frame"], "the frame of another site has a process of its own")
	fetched := map[any]int{}
	for _, e := range find(r.events(p, record.ClassRequest), "fetch", "sent") {
		fetched[e.p["context"]]++
	}
	assert.Equal(t, map[any]int{"worker": 1, "frame": 1, nil: 1}, fetched)
	children := 0
	for _, e := range find(r.events(p, record.ClassRequest), "document", "sent") {
		if e.p["frame"] == "child" {
			children++
			assert.NotContains(t, e.p, "nav_id")
		}
	}
	assert.Equal(t, 2, children)
}

func TestAPopupsFirstRequest(t *testing.T) {
	r := startRecording(t, nil)
	s := serve(t, map[string]http.HandlerFunc{
		"/": html(`opener`), "/popup": html(`<script>console.log('first words')</script>`),
	})
	p := r.b.Open(t, s.URL+"/")
	run(t, p, `window.open('/popup') && 1`)
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Limit)
	defer cancel()
	var popup target.Page
	_, err := r.b.Registry.Wait(ctx, func(v *target.View) bool {
		for _, row := range v.Pages {
			if row.Opener == p.ID {
				popup = row
				return row.Session != nil
			}
		}
		return false
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = r.b.Root.Send(context.Background(), "Target.closeTarget", map[string]any{"targetId": popup.CDPTarget}, nil)
	})
	r.until(popup, said("first words"))
	documents := find(r.events(popup, record.ClassRequest), "document", "sent")
	require.Len(t, documents, 1, "the popup's first request")
	targets := r.events(popup, record.ClassTarget)
	assert.Equal(t, string(p.ID), targets[0].p["opener"])
}

func TestNavigationsOfAPage(t *testing.T) {
	r := startRecording(t, nil)
	s := serve(t, map[string]http.HandlerFunc{
		"/one": html(`one`), "/two": html(`two`), "/empty": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	})
	p := r.b.Open(t, s.URL+"/one")
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Limit)
	defer cancel()
	// step navigates and returns the identity and the states that the rows of that navigation show.
	step := func(do func()) (page.Navigation, []any) {
		t.Helper()
		before, _ := p.Session.Navigation()
		do()
		nav, err := p.Session.AwaitNavigation(ctx, func(n page.Navigation) bool { return n.ID != before.ID && n.Ended() })
		require.NoError(t, err)
		var states []any
		for _, e := range r.events(p, record.ClassNavigation, record.ClassLifecycle) {
			if e.p["nav_id"] == string(nav.ID) {
				states = append(states, pickOf(e.p, "state", "name"))
			}
		}
		return nav, states
	}
	send := func(method string, params any) func() {
		return func() { _ = p.Session.SendWithin(ctx, browsertest.Limit, method, params, nil) }
	}
	nav, states := step(send("Page.navigate", map[string]any{"url": s.URL + "/two"}))
	assert.Equal(t, page.NavComplete, nav.State)
	assert.Subset(t, states, []any{"started", "committed", "dom_content_loaded", "load"})
	_, states = step(send("Page.reload", nil))
	assert.Subset(t, states, []any{"started", "committed"})
	_, states = step(func() { run(t, p, `history.pushState(1, '', '/pushed')`) })
	assert.Equal(t, []any{"complete"}, states)
	_, states = step(send("Page.navigate", map[string]any{"url": s.URL + "/empty"}))
	assert.Equal(t, []any{"started", "failed"}, states)
	nav, states = step(send("Page.navigate", map[string]any{"url": "http://127.0.0.1:9/"}))
	assert.Equal(t, page.NavFailed, nav.State)
	assert.Contains(t, states, "failed")
}

func pickOf(p map[string]any, names ...string) any {
	for _, name := range names {
		if v, ok := p[name]; ok {
			return v
		}
	}
	return nil
}

func TestDialogsVisibilityAndEnd(t *testing.T) {
	r := startRecording(t, nil)
	p := r.b.Open(t, `x`)
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Limit)
	defer cancel()
	require.NoError(t, p.Session.Post("Runtime.evaluate", map[string]any{"expression": `prompt('your password: hunter2', 'default-secret'); console.log('end')`}))
	r.until(p, func(e row) bool { return e.Class == record.ClassDialog })
	require.NoError(t, p.Session.Send(ctx, "Page.handleJavaScriptDialog", map[string]any{"accept": true, "promptText": "typed-secret"}, nil))
	r.until(p, said("end"))
	dialogs := r.events(p, record.ClassDialog)
	require.Len(t, dialogs, 2)
	assert.Equal(t, map[string]any{"state": "opened", "type": "prompt", "text": "your password: [redacted]"}, dialogs[0].p)
	assert.Equal(t, map[string]any{"state": "closed", "accepted": true}, dialogs[1].p)

	require.NoError(t, p.Session.Send(ctx, "Page.startScreencast", map[string]any{"format": "jpeg"}, nil))
	r.until(p, func(e row) bool { return e.Class == record.ClassVisibility && e.p["visible"] == true })
	require.NoError(t, r.b.Root.Send(ctx, "Target.closeTarget", map[string]any{"targetId": p.CDPTarget}, nil))
	r.until(p, func(e row) bool { return e.Class == record.ClassTarget && e.p["name"] == "closed" })
}

// Headers, cookies, authentication values and bodies are not collected, wherever a page has them.
func TestSecretsInEveryPlace(t *testing.T) {
	r := startRecording(t, nil)
	const secret = "hunter2zz"
	s := serve(t, map[string]http.HandlerFunc{
		"/echo": echo,
		"/api": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Set-Cookie", "sid="+secret+"; HttpOnly")
			w.Header().Set("X-Secret-"+secret, secret)
			w.Header().Set("Content-Type", "application/json; note="+secret)
			_, _ = w.Write([]byte(`{"password":"` + secret + `"}`))
		},
		"/locked": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+secret+`"`)
			w.WriteHeader(http.StatusUnauthorized)
		},
		"/sse": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("data: " + secret + "\n\n"))
		},
		"/" + secret + "/": html(`<form><input type=password value="` + secret + `"></form>`),
	})
	p := r.b.Open(t, s.URL+"/"+secret+"/?q="+secret+"#"+secret)
	run(t, p, `(async () => {
		const secret = '`+secret+`';
		document.cookie = 'plain=' + secret; localStorage.token = secret;
		await fetch('/api?token=' + secret, {method: 'POST', headers: {Authorization: 'Bearer ' + secret, 'X-Key': secret, 'Content-Type': 'application/json'}, body: JSON.stringify({password: secret})});
		await fetch('/api', {method: 'POST', body: new URLSearchParams({password: secret})});
		await fetch('/api', {headers: {Cookie: secret}, credentials: 'include'});
		await fetch('/locked', {headers: {Authorization: 'Basic ' + btoa('bo:' + secret)}});
		await fetch('data:text/plain,' + secret); await fetch(URL.createObjectURL(new Blob([secret])));
		navigator.sendBeacon('/api', secret);
		const ws = new WebSocket(location.origin.replace('http', 'ws') + '/echo?token=' + secret, ['proto.' + secret]);
		await new Promise(done => { ws.onopen = () => ws.send(secret); ws.onmessage = () => ws.close(); ws.onclose = done; ws.onerror = done });
		await new Promise(done => { const source = new EventSource('/sse'); source.onmessage = () => { source.close(); done() } });
		history.pushState({secret}, '', '/' + secret);
		console.log('password', secret); console.log({password: secret, nested: {cookie: secret}}); console.log('Authorization: Bearer ' + secret);
		console.log(JSON.stringify({session: {id: secret}})); console.error(location.href); console.log('/srv/' + secret + '/x');
		console.log(new Map([['apiKey', secret]]), [['token', secret]]);
		Promise.reject(new Error('token=' + secret));
		setTimeout(() => { throw new Error('cannot load ' + location.href) });
		setTimeout(() => console.log('end'), 200);
	})(); 0`)
	r.until(p, said("end"))
	for _, e := range r.events(p) {
		assert.NotContains(t, string(e.Payload), secret)
	}
	facts, err := r.store.Within(context.Background(), record.Window{SessionID: r.b.Session, TargetID: p.ID, EndNS: 1 << 62})
	require.NoError(t, err)
	raw, err := json.Marshal(facts)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), secret)
}

func TestOffKeepsWhatEverybodyNeeds(t *testing.T) {
	r := startRecording(t, func(c *events.Config) { c.Off = true })
	p := r.b.Open(t, `<script>console.log('not kept'); throw 1</script>`)
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Limit)
	defer cancel()
	require.NoError(t, p.Session.Send(ctx, "Page.startScreencast", map[string]any{"format": "jpeg"}, nil))
	r.until(p, func(e row) bool { return e.Class == record.ClassVisibility })
	classes := map[record.EventClass]bool{}
	for _, e := range r.events(p) {
		classes[e.Class] = true
	}
	assert.Equal(t, map[record.EventClass]bool{record.ClassTarget: true, record.ClassNavigation: true, record.ClassVisibility: true}, classes)
	assert.False(t, r.Status().Recording)
}

// A screenshot of a hidden page makes it visible for a moment; that is this program's doing and no event of the page.
func TestAPictureOfAHiddenPage(t *testing.T) {
	r := startRecording(t, nil)
	p := r.b.Open(t, `x`)
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Limit)
	defer cancel()
	require.NoError(t, p.Session.Send(ctx, "Page.startScreencast", map[string]any{"format": "jpeg"}, nil))
	visible := func(want bool) func(row) bool {
		return func(e row) bool { return e.Class == record.ClassVisibility && e.p["visible"] == want }
	}
	r.until(p, visible(true))
	other := r.b.Open(t, `other`)
	require.NoError(t, r.b.Root.Send(ctx, "Target.activateTarget", map[string]any{"targetId": other.CDPTarget}, nil))
	r.until(p, visible(false))
	flips := p.Session.Subscribe("Page.screencastVisibilityChanged")
	defer flips.Close()
	end := p.Session.Observing("screenshot")
	require.NoError(t, p.Session.Send(ctx, "Page.captureScreenshot", nil, nil))
	end()
	for range 2 { // it shows and hides itself
		select {
		case <-flips.Events():
		case <-ctx.Done():
			t.Fatal("the page did not flicker")
		}
	}
	assert.Len(t, r.events(p, record.ClassVisibility), 2)
	require.NoError(t, r.b.Root.Send(ctx, "Target.activateTarget", map[string]any{"targetId": p.CDPTarget}, nil))
	r.until(p, func(e row) bool { return visible(true)(e) && len(r.events(p, record.ClassVisibility)) == 3 })
}

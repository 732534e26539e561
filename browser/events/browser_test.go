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

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/events"
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

func record1(t testing.TB, change func(*events.Config)) *recording {
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

func page(html string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(html))
	}
}

func TestExplore(t *testing.T) {
	r := record1(t, nil)
	s := serve(t, map[string]http.HandlerFunc{
		"/w.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			w.Write([]byte("console.log('from worker'); fetch('/api').then(()=>postMessage(1))"))
		},
		"/sw.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			w.Write([]byte("console.log('from sw'); self.addEventListener('activate', e => e.waitUntil(clients.claim())); self.addEventListener('fetch', e => {})"))
		},
		"/api":     func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) },
		"/missing": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
		"/redir":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/api?token=1", 302) },
		"/dl": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
			w.Write(make([]byte, 100))
		},
		"/": page(`<script>
console.log('%chello %s %d', 'color:red', 'wörld', 42, {a:1,password:'hunter2',list:[1,2]}, [1,2], new Map([['token','x']]), null, undefined, ()=>1);
console.error(new TypeError('boom'));
console.log('password', 'hunter2');
setTimeout(()=>{ null.x }, 0);
Promise.reject(new Error('unhandled'));
fetch('/missing'); fetch('/redir'); fetch('http://127.0.0.1:1/none').catch(()=>0);
fetch(location.origin.replace('127.0.0.1','localhost')+'/api').catch(e=>0);
navigator.serviceWorker.register('/sw.js');
new WebSocket('ws://127.0.0.1:1/ws');
new Worker('/w.js').onmessage = () => { history.pushState(1,'','/pushed'); document.title='done'; console.log('done'); };
</script><iframe src="` + "about:blank" + `"></iframe>`),
	})
	p := r.b.Open(t, s.URL+"/")
	r.until(p, func(e row) bool { return e.p["text"] == "done" })
	time.Sleep(time.Second)
	for _, e := range r.events(p) {
		t.Logf("%d %.1f %s %s %s", e.Sequence, float64(e.AtNS)/1e6, e.Class, e.Severity, e.Payload)
	}
	t.Logf("%+v", r.Status())
	f, _ := r.store.Within(context.Background(), record.Window{SessionID: r.b.Session, TargetID: p.ID, EndNS: 1 << 62})
	raw, _ := json.Marshal(f.Navigations)
	t.Logf("%s", raw)
}

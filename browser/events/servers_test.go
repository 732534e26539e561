package events_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/core/record"
)

// The places in a bundle are those of the bundle: a source map is neither loaded nor kept.
func TestASourceMappedBundle(t *testing.T) {
	r := startRecording(t, nil)
	var asked atomic.Int32
	s := serve(t, map[string]http.HandlerFunc{
		"/bundle.js": js("function a(){throw new Error('minified')}setTimeout(()=>console.log('end'),50);a();\n//# sourceMappingURL=bundle.js.map\n"),
		"/bundle.js.map": func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = w.Write([]byte(`{"version":3,"sources":["src/secret-source.ts"],"sourcesContent":["hunter2"],"names":[],"mappings":"AAAA"}`))
		},
		"/": html(`<script src="/bundle.js"></script>`),
	})
	p := r.b.Open(t, s.URL+"/")
	r.until(p, said("end"))
	thrown := r.events(p, record.ClassException)
	require.Len(t, thrown, 1)
	assert.Equal(t, "Error: minified", thrown[0].p["text"])
	frame := thrown[0].p["stack"].([]any)[0].(map[string]any)
	assert.Equal(t, "a", frame["function"])
	assert.InEpsilon(t, 1.0, frame["line"], 1e-9)
	assert.Equal(t, "js", frame["url"].(map[string]any)["extension"])
	for _, e := range r.events(p) {
		assert.NotContains(t, string(e.Payload), "secret-source")
		assert.NotContains(t, string(e.Payload), "hunter2")
	}
	assert.Zero(t, asked.Load())
}

func TestDownloadsOfAPage(t *testing.T) {
	r := startRecording(t, nil)
	release := make(chan struct{})
	s := serve(t, map[string]http.HandlerFunc{
		"/file/secret-name": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename="secret-name.csv"`)
			_, _ = w.Write([]byte("hunter2,hunter2"))
		},
		"/slow": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename="slow.csv"`)
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write(make([]byte, 70_000))
			w.(http.Flusher).Flush()
			select {
			case <-release:
			case <-q.Context().Done():
			}
		},
		"/": html(`<a id=a href="/file/secret-name">get</a><a id=slow href="/slow">get</a>`),
	})
	defer close(release)
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Limit)
	defer cancel()
	require.NoError(t, r.b.Root.Send(ctx, "Browser.setDownloadBehavior", map[string]any{"behavior": "allowAndName", "downloadPath": t.TempDir(), "eventsEnabled": true}, nil))
	began := r.b.Root.Client().Subscribe("", "Browser.downloadWillBegin")
	defer began.Close()
	p := r.b.Open(t, s.URL+"/")
	download := func(state string) func(row) bool {
		return func(e row) bool { return e.Class == record.ClassDownload && e.p["state"] == state }
	}
	run(t, p, `document.getElementById('a').click()`)
	<-began.Events()
	done := r.until(p, download("completed"))
	assert.InEpsilon(t, 15.0, done.p["received_bytes"], 1e-9)
	started := r.until(p, download("started"))
	assert.Equal(t, s.URL, started.p["url"].(map[string]any)["origin"])
	assert.LessOrEqual(t, started.AtNS, done.AtNS)

	run(t, p, `document.getElementById('slow').click()`)
	var slow struct {
		GUID string `json:"guid"`
	}
	second := <-began.Events()
	require.NoError(t, second.Decode(&slow))
	require.NoError(t, r.b.Root.Send(ctx, "Browser.cancelDownload", map[string]any{"guid": slow.GUID}, nil))
	r.until(p, download("canceled"))
	rows := r.events(p, record.ClassDownload)
	require.Len(t, rows, 4)
	for _, e := range rows {
		assert.NotContains(t, string(e.Payload), "secret-name")
	}
}

// A server that asks for a user name gets no answer while nobody can give one. What is recorded is what is known: a
// document fails, and a request of a script has been sent and has neither response nor end.
func TestAServerThatAsksForAUserName(t *testing.T) {
	r := startRecording(t, nil)
	s := serve(t, map[string]http.HandlerFunc{
		"/locked/": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Basic realm="hunter2"`)
			w.WriteHeader(http.StatusUnauthorized)
		},
		"/": html(`x`),
	})
	p := r.b.Open(t, s.URL+"/")
	run(t, p, `fetch('/locked/1').catch(() => 0); console.log('end')`)
	r.until(p, said("end"))
	sent := find(r.events(p), "fetch", "sent")
	require.Len(t, sent, 1)
	other := r.b.Open(t, s.URL+"/")
	require.NoError(t, other.Session.Post("Page.navigate", map[string]any{"url": s.URL + "/locked/2"}))
	failed := r.until(other, func(e row) bool { return e.Class == record.ClassRequestFailed && e.p["kind"] == "document" })
	assert.Equal(t, "net::ERR_INVALID_AUTH_CREDENTIALS", failed.p["error"])
	for _, e := range append(r.events(p), r.events(other)...) {
		if e.p["request_id"] == sent[0].p["request_id"] {
			assert.NotEqual(t, record.ClassResponse, e.Class, "%s", e.Payload)
		}
		assert.NotContains(t, string(e.Payload), "hunter2")
	}
}

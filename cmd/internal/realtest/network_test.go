package realtest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/page"
)

// slowSite answers /slow only when release is closed, and /stream never ends. arrived is closed when /slow is asked for.
func slowSite(t *testing.T) (url string, arrived, release chan struct{}) {
	arrived, release = make(chan struct{}), make(chan struct{})
	var once sync.Once
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>slow</title><link rel=icon href="data:,"><script>
new EventSource('/stream'); fetch('/slow').then(() => document.title = 'done')</script>`))
	})
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>other</title><link rel=icon href="data:,">`))
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(arrived) })
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL, arrived, release
}

// TestAQuietNetworkCountsWhatBeganBefore waits for a request that was under way before the wait began. A stream of events
// is meant to last and holds nothing up.
func TestAQuietNetworkCountsWhatBeganBefore(t *testing.T) {
	p := start(t)
	url, arrived, release := slowSite(t)
	p.do(t, "open_page", args{"url": url})
	<-arrived
	var held answer
	for range 20 { // the browser tells of a request in its own time, which may be after the server has it
		if held = p.ask(t, "wait", args{"network_quiet_ms": 100, "timeout_ms": 700}); held.Envelope.Error != nil {
			break
		}
	}
	require.NotNil(t, held.Envelope.Error, held.Text)
	assert.Equal(t, "wait_timed_out", string(held.Envelope.Error.Code))
	var r page.WaitResult
	held.result(t, &r)
	require.NotNil(t, r.LastProbe)
	require.NotNil(t, r.LastProbe.InFlight)
	assert.Equal(t, 1, *r.LastProbe.InFlight)
	close(release)
	p.do(t, "wait", args{"network_quiet_ms": 100, "timeout_ms": 30000})
}

// TestAQuietNetworkForgetsWhatThePageLeft waits after a navigation away from a request that never ends, for less than the
// time after which a silent request counts as one that is meant to last.
func TestAQuietNetworkForgetsWhatThePageLeft(t *testing.T) {
	p := start(t)
	url, _, _ := slowSite(t)
	p.do(t, "open_page", args{"url": url})
	p.do(t, "navigate_to", args{"url": url + "/other"})
	p.do(t, "wait", args{"network_quiet_ms": 100, "timeout_ms": 20000})
}

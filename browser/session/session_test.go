package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a browser with a store in memory and a loopback site.
type bench struct {
	*session.Browser
	store *coretest.Store
	site  *site
	deps  session.Deps
}

func newDeps(t *testing.T, store *coretest.Store) session.Deps {
	t.Helper()
	return session.Deps{
		Clock: clock.System(), Frames: store, Facts: store, Logger: slog.New(slog.DiscardHandler),
		AckLimit:    time.Minute, // these tests share their machine: a slow answer is not what they are about
		ProfileRoot: t.TempDir(), Sandbox: chrome.SandboxAuto, Getenv: func(name string) string {
			if strings.Contains(name, "DISPLAY") {
				return ""
			}
			return os.Getenv(name)
		},
	}
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if browsertest.Executable() == "" {
		t.Skip("no Chrome or Chromium is installed")
	}
	store := coretest.NewStore()
	deps := newDeps(t, store)
	b := &bench{Browser: session.New(deps), store: store, site: newSite(t), deps: deps}
	t.Cleanup(func() { require.NoError(t, b.Shutdown(context.Background())) })
	return b
}

func state(t *testing.T, b *session.Browser) page.State {
	t.Helper()
	status, err := b.Status(t.Context())
	require.NoError(t, err)
	return status.State
}

func (b *bench) start(t *testing.T, r page.StartRequest) page.Status {
	t.Helper()
	if r.Profile == "" {
		r.Profile = "temporary"
	}
	status, err := b.Start(t.Context(), r)
	require.NoError(t, err)
	return status
}

// eventually waits for a condition that the browser brings about; the test binary's own limit ends a failing wait.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func (b *bench) eval(t *testing.T, target id.Target, expression string) any {
	t.Helper()
	s, err := b.Page(target)
	require.NoError(t, err)
	var out struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	require.NoError(t, s.Send(t.Context(), "Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "userGesture": true,
	}, &out))
	return out.Result.Value
}

func (b *bench) frames(t *testing.T, target id.Target) []record.Frame {
	t.Helper()
	require.NoError(t, b.FlushCapture(t.Context()))
	session, _, _ := b.Latest()
	list, _, err := b.store.Frames(t.Context(), record.Window{SessionID: session, TargetID: target, EndNS: 1 << 62}, 0, 0)
	require.NoError(t, err)
	return list
}

func (b *bench) gaps(t *testing.T, target id.Target, reason record.GapReason) []record.Gap {
	t.Helper()
	require.NoError(t, b.FlushCapture(t.Context()))
	session, _, _ := b.Latest()
	facts, err := b.store.Within(t.Context(), record.Window{SessionID: session, TargetID: target, EndNS: 1 << 62})
	require.NoError(t, err)
	var list []record.Gap
	for _, g := range facts.Gaps {
		if g.Reason == reason {
			list = append(list, g)
		}
	}
	return list
}

// site serves pages on loopback; each path has its own handler.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	next int
	mux  map[string]http.HandlerFunc
}

func newSite(t *testing.T) *site {
	s := &site{mux: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := s.mux[r.URL.Path]
		s.mu.Unlock()
		if h == nil {
			http.NotFound(w, r)
			return
		}
		h(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *site) page(html string) string {
	return s.handle(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(html))
	})
}

func (s *site) handle(h http.HandlerFunc) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	path := fmt.Sprintf("/p%d", s.next)
	s.mux[path] = h
	return s.URL + path
}

func TestStartRecordsAndStops(t *testing.T) {
	b := newBench(t)
	status := b.start(t, page.StartRequest{URL: b.site.page("<title>hello</title><body style='background:red'>")})
	assert.Equal(t, page.StateReady, status.State)
	assert.Equal(t, "temporary", status.Profile)
	assert.Equal(t, record.Managed, status.Ownership)
	assert.Empty(t, status.Warnings)
	require.Len(t, status.Pages, 1)
	assert.Equal(t, "none", status.Pages[0].Dialog)
	eventually(t, "the title arrives", func() bool {
		list, err := b.List(t.Context())
		return err == nil && list.Pages[0].Title == "hello"
	})
	target := status.Selected
	eventually(t, "a frame of the page is stored", func() bool { return len(b.frames(t, target)) > 0 })
	for _, f := range b.frames(t, target) {
		assert.EqualValues(t, 1280, f.Viewport.Width)
		assert.EqualValues(t, 720, f.Viewport.Height)
		require.NotNil(t, f.PresentedNS)
		assert.LessOrEqual(t, *f.PresentedNS, f.ReceivedNS)
	}
	result, err := b.Stop(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "clean", result.Quality)
	assert.Equal(t, "closed", result.Disposition)
	assert.Positive(t, result.RecordedFrames)
	assert.Zero(t, result.Zombies)
	sessions, err := b.store.Sessions(t.Context())
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	assert.NotNil(t, sessions[0].EndedNS)
	assert.Equal(t, target, sessions[0].LastSelected)
}

package harness_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/cmd/harness"
	"github.com/krometrail/krometrail/mcp/client"
)

// The package's tests share one program with one real browser; each case opens a page of its own.
var shared struct {
	program *harness.Harness
	site    *httptest.Server
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "krometrail-harness-*")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shared.site = httptest.NewServer(http.HandlerFunc(serve))
	defer shared.site.Close()
	shared.program, err = harness.Start(context.Background(), harness.Options{DataDir: dir, Env: os.LookupEnv})
	if err != nil {
		panic(err)
	}
	code := m.Run()
	if err := shared.program.Stop(context.Background()); err != nil && code == 0 {
		panic(err)
	}
	return code
}

// gate is an address whose answer a test holds back.
type gate struct {
	path          string
	reached, open chan struct{}
}

var gates sync.Map

func newGate(t *testing.T) gate {
	t.Helper()
	g := gate{path: "/gate/" + t.Name(), reached: make(chan struct{}), open: make(chan struct{})}
	gates.Store(g.path, g)
	return g
}

// serve answers /text?html=… with that page and holds gates back.
func serve(w http.ResponseWriter, r *http.Request) {
	if found, ok := gates.Load(r.URL.Path); ok {
		g, _ := found.(gate)
		close(g.reached)
		<-g.open
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(r.URL.Query().Get("html")))
}

// envelope is the part of an answer that tests look at.
type envelope struct {
	Status string `json:"status"`
	Result struct {
		Created string          `json:"created"`
		Value   json.RawMessage `json:"value"`
		Dialog  *struct {
			Type string `json:"type"`
		} `json:"dialog"`
		Snapshot struct {
			Frames []struct {
				Targets []struct{ Ref, Role, Name string } `json:"targets"`
			} `json:"frames"`
		} `json:"snapshot"`
	} `json:"result"`
	Error *struct {
		Code, Message, Recovery, Retry string
	} `json:"error"`
	Interaction *struct {
		ID           string `json:"id"`
		DispatchedNS *int64 `json:"dispatched_ns"`
	} `json:"interaction"`
}

func call(t *testing.T, tool string, arguments map[string]any) envelope {
	t.Helper()
	e, err := ask(t.Context(), tool, arguments)
	require.NoError(t, err)
	return e
}

func ask(ctx context.Context, tool string, arguments map[string]any) (envelope, error) {
	var e envelope
	result, err := shared.program.Client.CallTool(ctx, tool, arguments)
	if err == nil {
		err = json.Unmarshal(result.Structured, &e)
	}
	return e, err
}

func answer(t *testing.T, tool string, arguments map[string]any) client.Result {
	t.Helper()
	result, err := shared.program.Client.CallTool(t.Context(), tool, arguments)
	require.NoError(t, err)
	return result
}

// open opens a page and closes it after the test.
func open(t *testing.T, html string) string {
	t.Helper()
	e := call(t, "open_page", map[string]any{"url": shared.site.URL + "/text?html=" + url.QueryEscape(html)})
	require.Equal(t, "succeeded", e.Status, "%+v", e.Error)
	t.Cleanup(func() {
		// A dialog a case left open would hold the page.
		_, _ = ask(context.Background(), "handle_dialog", map[string]any{"target": e.Result.Created, "action": "dismiss"})
		_, _ = ask(context.Background(), "close_page", map[string]any{"target": e.Result.Created})
	})
	return e.Result.Created
}

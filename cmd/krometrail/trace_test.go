package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
)

// actions are the actions of an exported trace in their order.
func actions(export any) []string {
	x, _ := export.(map[string]any)
	events, _ := x["events"].([]any)
	list := []string{}
	for _, e := range events {
		event, _ := e.(map[string]any)
		action, _ := event["action"].(string)
		list = append(list, action)
	}
	return list
}

// somebodysBrowser is a browser that this program did not start. It ends with the test.
func somebodysBrowser(t *testing.T) (endpoint string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), browsertest.Executable(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), "about:blank")
	errs, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "DevTools listening on "); found {
			go func() { // the browser must be able to write
				for lines.Scan() {
				}
			}()
			return address
		}
	}
	t.Fatal("the browser offers no endpoint")
	return ""
}

func tracedSite() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/popup", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<title>popup</title><button>Close</button>`))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<title>opener</title><label>Name <input></label><button onclick="window.open('/popup')">Open</button>`))
	})
	return httptest.NewServer(mux)
}

// A session that was asked for a trace traces every page of it: opened ones, popups, and those present when the
// browser was attached; steps of a batch like calls; and closing a page answers with its trace.
func TestEveryPageOfATracedSessionIsTraced(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, h *host){
		"started": func(_ *testing.T, h *host) {
			h.call("start_browser", map[string]any{"trace": true, "profile": "temporary"})
		},
		"attached": func(t *testing.T, h *host) {
			h.call("attach_browser", map[string]any{"trace": true, "endpoint": somebodysBrowser(t)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			site := tracedSite()
			defer site.Close()
			data := t.TempDir()
			h := startHost(t, map[string]string{"KROMETRAIL_DATA_DIR": data, "KROMETRAIL_PROFILE_ROOT": t.TempDir(), "KROMETRAIL_LOG_LEVEL": "debug"})
			start(t, h)
			if name == "attached" {
				// A browser listens before it has made its first page.
				require.Eventually(t, func() bool {
					pages, _ := h.call("list_pages", nil)["pages"].([]any)
					return len(pages) > 0
				}, 20*time.Second, 20*time.Millisecond)
				h.call("navigate_to", map[string]any{"url": site.URL + "/present"})
				assert.Equal(t, []string{"navigate_to"}, actions(h.call("trace_export", nil)), "a page that was there, from then on")
			}
			opened := h.call("open_page", map[string]any{"url": site.URL + "/"})
			page := opened["created"]
			h.call("batch", map[string]any{"steps": []any{
				map[string]any{"tool": "fill", "arguments": map[string]any{"query": `label="Name"`, "value": inTyped}},
				map[string]any{"tool": "clear", "arguments": map[string]any{"query": `label="Name"`}},
				map[string]any{"tool": "hover", "arguments": map[string]any{"query": `role=button name="Open"`}},
			}})
			h.call("fill", map[string]any{"query": `label="Name"`, "value": inTyped})
			h.call("click", map[string]any{"query": `role=button name="Open"`})
			popup := h.call("wait_for_page", nil)["page"].(map[string]any)["target_id"]
			status := h.call("trace_status", map[string]any{"target": popup})
			assert.Equal(t, true, status["enabled"])
			h.call("click", map[string]any{"target": popup, "query": `role=button name="Close"`})
			assert.Equal(t, []string{"click"}, actions(h.call("trace_export", map[string]any{"target": popup})))

			want := []string{"open_page", "type_text", "clear", "type_text", "click"}
			export := h.call("trace_export", map[string]any{"target": page})
			assert.Equal(t, want, actions(export))
			final := h.call("close_page", map[string]any{"target": page})["final_trace"]
			assert.Equal(t, append(want, "close_page"), actions(final))
			id, _ := export["trace_id"].(string)
			assert.Equal(t, id, final.(map[string]any)["trace_id"])
			h.call("stop_browser", nil)
			h.end()

			assert.NotContains(t, h.errs.String(), id, "a trace is in memory only")
			require.NoError(t, filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				content, err := os.ReadFile(path)
				assert.False(t, bytes.Contains(content, []byte(id)) || bytes.Contains(content, []byte("plasmate.trace")), entry.Name())
				return err
			}))
		})
	}
}

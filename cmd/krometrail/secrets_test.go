package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// host is an agent host on the other end of the program's streams.
type host struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	all  bytes.Buffer
	errs lockedBuffer
	next int
	code chan int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

func startHost(t *testing.T, settings map[string]string) *host {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	h := &host{t: t, in: inWrite, code: make(chan int, 1)}
	h.out = bufio.NewReaderSize(io.TeeReader(outRead, &h.all), 1<<20)
	env := func(name string) (string, bool) {
		if value, ok := settings[name]; ok {
			return value, true
		}
		if strings.HasPrefix(name, "KROMETRAIL_") {
			return "", false
		}
		return os.LookupEnv(name)
	}
	go func() {
		h.code <- run(t.Context(), []string{"mcp"}, inRead, outWrite, &h.errs, env)
		_ = outWrite.Close()
	}()
	h.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	h.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return h
}

func (h *host) send(message any) {
	raw, err := json.Marshal(message)
	require.NoError(h.t, err)
	_, err = h.in.Write(append(raw, '\n'))
	require.NoError(h.t, err)
}

func (h *host) request(method string, params any) json.RawMessage {
	h.t.Helper()
	h.next++
	h.send(map[string]any{"jsonrpc": "2.0", "id": h.next, "method": method, "params": params})
	for {
		line, err := h.out.ReadBytes('\n')
		require.NoError(h.t, err, h.errs.String())
		var reply struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		require.NoError(h.t, json.Unmarshal(line, &reply))
		if reply.ID == h.next {
			require.Nil(h.t, reply.Error, "%s: %s", method, reply.Error)
			return reply.Result
		}
	}
}

// call calls a tool that succeeds and returns its result.
func (h *host) call(tool string, arguments map[string]any) map[string]any {
	h.t.Helper()
	var answer struct {
		IsError    bool `json:"isError"`
		Structured struct {
			Result map[string]any `json:"result"`
			Error  any            `json:"error"`
		} `json:"structuredContent"`
	}
	require.NoError(h.t, json.Unmarshal(h.request("tools/call", map[string]any{"name": tool, "arguments": arguments}), &answer))
	require.False(h.t, answer.IsError, "%s: %v", tool, answer.Structured.Error)
	return answer.Structured.Result
}

func (h *host) end() {
	h.t.Helper()
	require.NoError(h.t, h.in.Close())
	_, _ = io.Copy(io.Discard, h.out)
	assert.Zero(h.t, <-h.code)
}

// The places that are never collected, each with a secret of its own.
const (
	inHeaders, inCookies, inAuth, inBodies, inTyped, inPath = "zqheader7", "zqcookie7", "zqauth7", "zqbody7", "zqtyped7", "zqpath7"
)

// secretSite answers with secrets in headers, cookies and bodies.
func secretSite() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Secret", inHeaders)
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: inCookies, HttpOnly: true, Path: "/"})
		w.Header().Set("WWW-Authenticate", `Custom realm="`+inAuth+`"`)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"value":%q}`, inBodies)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "page", Value: inCookies, Path: "/"})
		w.Header().Set("X-Page", inHeaders)
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<title>form</title><label>Password <input type=password></label><button>Send</button><script>
document.querySelector('button').onclick = async () => {
	document.cookie = 'own=%[1]s';
	await (await fetch('/api/%[2]s?token=%[2]s', {method: 'POST', headers: {Authorization: 'Bearer %[3]s', 'X-Own': '%[4]s'}, body: JSON.stringify({password: '%[5]s'})})).text();
	console.log('password', '%[5]s'); console.log('Authorization: Bearer %[3]s'); console.error('at ' + location.href);
	console.log(JSON.stringify({credentials: {pin: '%[5]s'}}));
	Promise.reject(new Error('cookie=%[1]s'));
	document.title = 'sent';
};</script>`, inCookies, inPath, inAuth, inHeaders, inBodies)
	})
	return httptest.NewServer(mux)
}

// Headers, cookies, authentication values, bodies and typed text never reach the disk, the log or the host, and
// the path of an address never reaches the disk.
func TestNoSecretOfAPageLeavesIt(t *testing.T) {
	site := secretSite()
	defer site.Close()
	data := t.TempDir()
	h := startHost(t, map[string]string{"KROMETRAIL_DATA_DIR": data, "KROMETRAIL_PROFILE_ROOT": t.TempDir(), "KROMETRAIL_LOG_LEVEL": "debug"})
	h.call("start_browser", map[string]any{"trace": true, "profile": "temporary"})
	h.call("open_page", map[string]any{"url": site.URL + "/" + inPath + "?q=" + inPath + "#" + inPath})
	h.call("fill", map[string]any{"query": `label="Password"`, "value": inTyped})
	h.call("type_text", map[string]any{"query": `label="Password"`, "text": inTyped})
	h.call("click", map[string]any{"query": `role=button name="Send"`})
	h.call("evaluate", map[string]any{"expression": "new Promise(done => { const look = () => document.title === 'sent' ? setTimeout(done, 100) : setTimeout(look, 10); look() }).then(() => 0)"})
	events := h.call("query_browser_events", map[string]any{"start_ns": 0, "end_ns": int64(60e9), "limit": 1000})
	counts, _ := events["counts"].(map[string]any)
	for _, class := range []string{"target", "navigation", "console", "exception", "request", "response"} {
		assert.NotZero(t, counts[class], class)
	}
	raw, err := json.Marshal(events)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), inPath)
	h.call("trace_export", nil)
	h.call("list_interactions", nil)
	h.call("stop_browser", nil)
	h.end()

	kept := []string{inHeaders, inCookies, inAuth, inBodies, inTyped}
	for _, secret := range kept {
		assert.NotContains(t, h.all.String(), secret, "what the host received")
		assert.NotContains(t, h.errs.String(), secret, "stderr")
	}
	searched := 0
	require.NoError(t, filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range append(kept, inPath) {
			assert.False(t, bytes.Contains(content, []byte(secret)), "%s in %s", secret, entry.Name())
		}
		searched++
		return err
	}))
	assert.Greater(t, searched, 1)
}

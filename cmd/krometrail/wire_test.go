package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/mcp/wiretest"
)

const modern = "2026-07-28"

// process is the built program and a host that sees every byte of it.
type process struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	pipe    io.ReadCloser
	out     *bufio.Reader
	version string
	next    int
	checker *wiretest.Checker
}

// message is a line of the program.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code int            `json:"code"`
		Data map[string]any `json:"data"`
	} `json:"error"`
}

// built compiles the program once for the test.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "krometrail.exe")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

func startProcess(t *testing.T, program, version string) *process {
	t.Helper()
	return startWith(t, program, version, nil, "--data-dir", t.TempDir(), "--profile-root", t.TempDir())
}

// startWith starts the program with more environment and these options.
func startWith(t *testing.T, program, version string, env []string, options ...string) *process {
	t.Helper()
	p := &process{t: t, version: version, command: exec.CommandContext(t.Context(), program, append([]string{"mcp"}, options...)...)}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stderr = os.Stderr
	var err error
	p.checker, err = wiretest.New()
	require.NoError(t, err)
	p.in, err = p.command.StdinPipe()
	require.NoError(t, err)
	p.pipe, err = p.command.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReaderSize(p.pipe, 1<<20)
	require.NoError(t, p.command.Start())
	if p.version != modern {
		m := p.ask("initialize", map[string]any{"protocolVersion": p.version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
		require.Nil(t, m.Error)
		p.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return p
}

func (p *process) line(text string) {
	p.t.Helper()
	p.write(text + "\n")
}

// write sends whole lines.
func (p *process) write(lines string) {
	p.t.Helper()
	for line := range strings.Lines(lines) {
		p.checker.Sent([]byte(line))
	}
	_, err := io.WriteString(p.in, lines)
	require.NoError(p.t, err)
}

func (p *process) read() message {
	p.t.Helper()
	raw, err := p.out.ReadBytes('\n')
	require.NoError(p.t, err)
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	require.NoError(p.t, p.checker.Got(raw), "%.2000s", raw)
	var m message
	require.NoError(p.t, json.Unmarshal(raw, &m))
	return m
}

// ask sends a request and reads the next line, which answers it.
func (p *process) ask(method string, params map[string]any) message {
	p.t.Helper()
	p.next++
	if p.version == modern {
		params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.next, "method": method, "params": params})
	require.NoError(p.t, err)
	p.line(string(raw))
	m := p.read()
	require.Equal(p.t, fmt.Sprint(p.next), string(m.ID))
	return m
}

// toolAnswer is what a host has of a tool's answer.
type toolAnswer struct {
	IsError  bool `json:"isError"`
	Content  []struct{ Type, Text, Data, MimeType, URI string }
	Envelope struct {
		Status    string
		Result    json.RawMessage
		Error     *struct{ Code, Message string }
		Resources []struct{ Role, URI string }
	} `json:"structuredContent"`
}

func (p *process) call(tool string, arguments map[string]any) toolAnswer {
	p.t.Helper()
	m := p.ask("tools/call", map[string]any{"name": tool, "arguments": arguments})
	require.Nil(p.t, m.Error, tool)
	var a toolAnswer
	require.NoError(p.t, json.Unmarshal(m.Result, &a))
	return a
}

// succeed calls a tool that must not fail.
func (p *process) succeed(tool string, arguments map[string]any) toolAnswer {
	p.t.Helper()
	a := p.call(tool, arguments)
	require.False(p.t, a.IsError, "%s: %+v", tool, a.Envelope.Error)
	return a
}

// resource reads a resource's bytes.
func (p *process) resource(uri string) []byte {
	p.t.Helper()
	m := p.ask("resources/read", map[string]any{"uri": uri})
	require.Nil(p.t, m.Error, uri)
	var read struct {
		Contents []struct{ URI, Text, Blob string }
	}
	require.NoError(p.t, json.Unmarshal(m.Result, &read))
	require.Len(p.t, read.Contents, 1)
	assert.Equal(p.t, uri, read.Contents[0].URI)
	if read.Contents[0].Blob == "" {
		return []byte(read.Contents[0].Text)
	}
	data, err := base64.StdEncoding.DecodeString(read.Contents[0].Blob)
	require.NoError(p.t, err)
	return data
}

// end closes the input; the program must leave cleanly.
func (p *process) end() {
	p.t.Helper()
	require.NoError(p.t, p.in.Close())
	_, _ = io.Copy(io.Discard, p.out)
	require.NoError(p.t, p.command.Wait())
}

func eachVersion(t *testing.T, program string, f func(t *testing.T, p *process)) {
	t.Helper()
	for _, version := range []string{modern, "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) { f(t, startProcess(t, program, version)) })
	}
}

func TestTheBuiltProgram(t *testing.T) {
	program := built(t)
	each := func(name string, f func(*testing.T, *process)) {
		t.Run(name, func(t *testing.T) { t.Parallel(); eachVersion(t, program, f) })
	}
	each("evidence", lookBack)
	each("refusals", refuse)
	each("closed stdout", hostGone)
	each("lines", lines)
	one := func(name string, f func(*testing.T, *process)) {
		t.Run(name, func(t *testing.T) { t.Parallel(); f(t, startProcess(t, program, modern)) })
	}
	one("mutated lines", mutatedLines)
	one("line limit", lineLimit)
	one("unread stdout", unread)
	one("last line", lastLine)
	one("cursors", func(t *testing.T, p *process) { cursors(t, p, startProcess(t, program, modern)) })
	t.Run("both eras", func(t *testing.T) { t.Parallel(); bothEras(t, startProcess(t, program, "2025-11-25")) })
}

// lookBack opens a page, clicks and asks what happened; the pictures and their sources are read.
func lookBack(t *testing.T, p *process) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>Panel</title><button onclick="document.body.style.background='teal'">Paint</button>`)
	}))
	defer site.Close()
	p.succeed("start_browser", map[string]any{"profile": "temporary", "url": site.URL})
	p.succeed("click", map[string]any{"query": `role=button name="Paint"`})
	bundle := p.succeed("temporal_debug_bundle", map[string]any{})
	shown := false
	for _, c := range bundle.Content {
		if c.Type == "image" {
			data, err := base64.StdEncoding.DecodeString(c.Data)
			require.NoError(t, err)
			config, err := png.DecodeConfig(bytes.NewReader(data))
			require.NoError(t, err)
			assert.Positive(t, config.Width)
			shown = true
		}
	}
	assert.True(t, shown, "the bundle shows its picture")
	read := map[string]bool{}
	frames := p.succeed("fetch_source_frames", map[string]any{"max_frames": 1})
	for _, r := range append(bundle.Envelope.Resources, frames.Envelope.Resources...) {
		if !read[r.Role] {
			assert.NotEmpty(t, p.resource(r.URI), r.Role)
			read[r.Role] = true
		}
	}
	assert.True(t, read["artifact"] && read["manifest"], "%v", read)
	assert.GreaterOrEqual(t, len(read), 3, "a frame too: %v", read)
	inFlight(t, p)
	staleReference(t, p, site.URL)
	endInFlight(t, p)
}

// refuse sends what must be refused; the program answers each line and lives on.
func refuse(t *testing.T, p *process) {
	for line, code := range map[string]int{
		`nonsense`: -32700, `[]`: -32600, `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`: -32600, `{"id":1}`: -32600,
	} {
		p.line(line)
		m := p.read()
		require.NotNil(t, m.Error, line)
		assert.Equal(t, code, m.Error.Code, line)
	}
	for _, refused := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"click", map[string]any{"references": "e1@1"}, "invalid_input"},
		{"click", map[string]any{"count": "two"}, "invalid_input"},
		{"click", map[string]any{"target": "frm_0123456789ab"}, "invalid_input"},
		{"click", map[string]any{"ref": "e1@1", "css": "button"}, "invalid_input"},
		{"stop_browser", map[string]any{"force": true}, "invalid_input"},
		{"stop_browser", map[string]any{}, "invalid_lifecycle_transition"},
		{"snapshot_page", map[string]any{}, "invalid_lifecycle_transition"},
		{"evaluate", map[string]any{"expression": strings.Repeat("x", 10<<20)}, "invalid_input"},
	} {
		a := p.call(refused.tool, refused.arguments)
		require.True(t, a.IsError, refused.tool)
		assert.Equal(t, refused.want, a.Envelope.Error.Code, "%s: %s", refused.tool, a.Envelope.Error.Message)
	}
	unknown := p.ask("resources/read", map[string]any{"uri": "krometrail://evidence/none"})
	require.NotNil(t, unknown.Error)
	assert.Equal(t, map[bool]int{true: -32602, false: -32002}[p.version == modern], unknown.Error.Code)
	assert.Equal(t, "krometrail://evidence/none", unknown.Error.Data["uri"])
	cursor := p.ask("tools/list", map[string]any{"cursor": "stale"})
	require.NotNil(t, cursor.Error)
	assert.Equal(t, -32602, cursor.Error.Code)
	p.succeed("browser_status", map[string]any{})
	p.end()
}

// hostGone closes the program's output: it ends by itself, cleanly, not by a signal.
func hostGone(t *testing.T, p *process) {
	require.NoError(t, p.pipe.Close())
	_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n")
	require.NoError(t, p.command.Wait())
	_ = p.in.Close()
}

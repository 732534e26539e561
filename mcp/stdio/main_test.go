package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/mcp/wiretest"
)

// TestMain also is the tiny server that the process tests start.
func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		os.Exit(serveForTest())
	}
	goleak.VerifyTestMain(m)
}

// tools of the test server.
type testTools struct {
	block   chan struct{} // closed to let "block" end
	entered chan string   // receives the name of each tool that began
	ended   chan error    // receives the context's cause when "block" or "deaf" ended
}

func newTestTools() *testTools {
	return &testTools{block: make(chan struct{}), entered: make(chan string, 2048), ended: make(chan error, 2048)}
}

func (tt *testTools) protocol(extra ...mcp.Tool) *server.MCPServer {
	proto := NewProtocol(Identity{Name: "test", Version: "1.2.3", Instructions: "how to"})
	add := func(name string, handler server.ToolHandlerFunc) {
		proto.AddTool(mcp.NewToolWithRawSchema(name, "a tool", json.RawMessage(`{"type":"object"}`)),
			func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				tt.entered <- name
				return handler(ctx, call)
			})
	}
	add("echo", func(_ context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(string(call.Params.RawArguments)), nil
	})
	add("block", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-tt.block:
			tt.ended <- nil
		case <-ctx.Done():
			tt.ended <- context.Cause(ctx)
		}
		return mcp.NewToolResultText("done"), nil
	})
	add("deaf", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-tt.block
		return mcp.NewToolResultText("done"), nil
	})
	add("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("secret text")
	})
	add("steps", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 50 {
			Progress(ctx, float64(i+1), 50, fmt.Sprintf("step %d", i+1))
			Progress(ctx, float64(i+1), 50, "a repetition that is ignored")
		}
		go Progress(context.WithoutCancel(ctx), 99, 0, "maybe too late")
		return mcp.NewToolResultText("done"), nil
	})
	add("picture", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultImage("seen", strings.Repeat("QUJD", 51200), "image/png"), nil
	})
	for _, tool := range extra {
		proto.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("ok"), nil
		})
	}
	proto.AddResourceTemplate(mcp.NewResourceTemplate("test://thing/{id}", "thing"), readThing)
	return proto
}

// wire is a client that sees every byte.
type wire struct {
	t     testing.TB
	in    *input
	lines chan string
	done  chan error
	stop  context.CancelFunc
	tools *testTools
}

type wireOptions struct {
	clock clock.Clock
	extra []mcp.Tool
	loop  []Option
	limit *limits
	// unread: nobody reads the output.
	unread bool
	// unchecked: what is sent is so broken that nobody else can tell what should be answered.
	unchecked bool
}

// input is the client's end, which notes what is asked.
type input struct {
	*io.PipeWriter
	checker *wiretest.Checker
	begun   []byte // of a line
}

// Write implements io.Writer.
func (i *input) Write(p []byte) (int, error) {
	for line := range bytes.SplitAfterSeq(p, []byte("\n")) {
		if i.begun = append(i.begun, line...); bytes.HasSuffix(line, []byte("\n")) {
			i.checker.Sent(i.begun)
			i.begun = nil
		}
	}
	return i.PipeWriter.Write(p)
}

// Close implements io.Closer: a last line needs no newline.
func (i *input) Close() error {
	i.checker.Sent(i.begun)
	return i.PipeWriter.Close()
}

func dial(t testing.TB, o wireOptions) *wire {
	t.Helper()
	if o.clock == nil {
		o.clock = clock.System()
	}
	tools := newTestTools()
	loop, err := New(tools.protocol(o.extra...), Identity{Name: "test"}, o.clock, o.loop...)
	require.NoError(t, err)
	if o.limit != nil {
		loop.limits = *o.limit
		require.NoError(t, loop.list())
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	checker, err := wiretest.New()
	require.NoError(t, err)
	w := &wire{t: t, in: &input{PipeWriter: inW, checker: checker}, lines: make(chan string, 4096), done: make(chan error, 1), stop: stop, tools: tools}
	go func() {
		w.done <- loop.Serve(ctx, inR, outW)
		_ = inR.Close()
		_ = outW.Close()
	}()
	if o.unread {
		t.Cleanup(func() { _ = outR.Close() })
	} else {
		go w.collect(outR, o.unchecked)
	}
	t.Cleanup(func() { stop(); _ = inW.Close() })
	return w
}

// collect holds every line to the protocol.
func (w *wire) collect(out io.Reader, unchecked bool) {
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		if line != "" {
			line = strings.TrimSuffix(line, "\n")
			if !unchecked {
				assert.NoError(w.t, w.in.checker.Got([]byte(line)), line)
			}
			w.lines <- line
		}
		if err != nil {
			close(w.lines)
			return
		}
	}
}

func (w *wire) send(lines ...string) {
	w.t.Helper()
	_, err := io.WriteString(w.in, strings.Join(lines, "\n")+"\n")
	require.NoError(w.t, err)
}

// line returns the next output line.
func (w *wire) line() string {
	w.t.Helper()
	line, ok := <-w.lines
	require.True(w.t, ok, "the output ended")
	return line
}

type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
}

func (w *wire) reply() reply {
	w.t.Helper()
	var r reply
	require.NoError(w.t, json.Unmarshal([]byte(w.line()), &r))
	return r
}

// ask sends one line and returns the next one.
func (w *wire) ask(line string) reply { w.t.Helper(); w.send(line); return w.reply() }

// wantError asserts the next reply's code.
func (w *wire) wantError(line string, code int) reply {
	w.t.Helper()
	r := w.ask(line)
	require.NotNil(w.t, r.Error, "result %s", r.Result)
	assert.Equal(w.t, code, r.Error.Code, r.Error.Message)
	return r
}

// close ends the input and returns what Serve returned and every line that was left.
func (w *wire) close() (rest []string, err error) {
	w.t.Helper()
	require.NoError(w.t, w.in.Close())
	err = <-w.done
	for line := range w.lines {
		rest = append(rest, line)
	}
	return rest, err
}

const (
	v26 = "2026-07-28"
	v25 = "2025-11-25"
	v18 = "2025-06-18"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// call builds a request of a version. params is the inside of the object, without _meta.
func call(version, id, method, params string) string {
	if version == v26 {
		if params != "" {
			params += ","
		}
		params += modernMeta
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func initialize(version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, version)
}

// dialAs dials and, for a legacy version, initializes.
func dialAs(t testing.TB, version string, o wireOptions) *wire {
	t.Helper()
	w := dial(t, o)
	if version != v26 {
		r := w.ask(initialize(version))
		require.Nil(t, r.Error)
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return w
}

func everyVersion(t *testing.T, f func(t *testing.T, version string)) {
	for _, version := range []string{v26, v25, v18} {
		t.Run(version, func(t *testing.T) { f(t, version) })
	}
}

func field[T any](t testing.TB, raw json.RawMessage, name string) T {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &fields))
	var value T
	if text, ok := fields[name]; ok {
		require.NoError(t, json.Unmarshal(text, &value))
	}
	return value
}

package stdio

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
)

// serving is one of the two loops under comparison.
type serving func(ctx context.Context, proto *server.MCPServer, in io.Reader, out io.Writer) error

func ours(ctx context.Context, proto *server.MCPServer, in io.Reader, out io.Writer) error {
	loop, err := New(proto, Identity{Name: "bench"}, clock.System())
	if err != nil {
		return err
	}
	return loop.Serve(ctx, in, out)
}

func stock(ctx context.Context, proto *server.MCPServer, in io.Reader, out io.Writer) error {
	return server.NewStdioServer(proto).Listen(ctx, in, out)
}

// peer is the client's end of a benchmark connection.
type peer struct {
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan struct{}
}

func connect(b *testing.B, serve serving, proto *server.MCPServer) *peer {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{in: inW, out: bufio.NewReaderSize(outR, 1<<20), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = serve(b.Context(), proto, inR, outW)
	}()
	return p
}

func (p *peer) ask(b *testing.B, line string) int {
	if _, err := io.WriteString(p.in, line); err != nil {
		b.Fatal(err)
	}
	total := 0
	for {
		part, err := p.out.ReadSlice('\n')
		total += len(part)
		if err == nil {
			return total
		}
		require.ErrorIs(b, err, bufio.ErrBufferFull)
	}
}

func (p *peer) close() { _ = p.in.Close(); <-p.done }

func benchProtocol() *server.MCPServer {
	proto := NewProtocol(Identity{Name: "bench", Version: "1"})
	for _, tool := range sizedTools(54, 800) {
		proto.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("ok"), nil
		})
	}
	picture := strings.Repeat("QUJD", 200<<10/3)
	proto.AddTool(mcp.NewTool("picture"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultImage("seen", picture, "image/png"), nil
	})
	return proto
}

// compare runs both loops alternately and reports the library's time in units of ours.
func compare(b *testing.B, run func(serve serving) time.Duration) {
	var own, library time.Duration
	for b.Loop() {
		own += run(ours)
		library += run(stock)
	}
	b.ReportMetric(float64(own.Nanoseconds())/float64(b.N), "own-ns/op")
	b.ReportMetric(float64(library.Nanoseconds())/float64(b.N), "stock-ns/op")
	b.ReportMetric(float64(own)/float64(library), "own/stock")
}

func BenchmarkStartToToolsList(b *testing.B) {
	line := call(v25, "1", "tools/list", "") + "\n"
	first := initialize(v25) + "\n"
	compare(b, func(serve serving) time.Duration {
		begin := time.Now()
		p := connect(b, serve, benchProtocol())
		p.ask(b, first)
		p.ask(b, line)
		took := time.Since(begin)
		p.close()
		return took
	})
}

func benchmarkCall(b *testing.B, line string) {
	peers := map[bool]*peer{true: connect(b, ours, benchProtocol()), false: connect(b, stock, benchProtocol())}
	defer peers[true].close()
	defer peers[false].close()
	measure := func(own bool) time.Duration {
		begin := time.Now()
		peers[own].ask(b, line)
		return time.Since(begin)
	}
	var own, library time.Duration
	for b.Loop() {
		own += measure(true)
		library += measure(false)
	}
	b.ReportMetric(float64(own.Nanoseconds())/float64(b.N), "own-ns/op")
	b.ReportMetric(float64(library.Nanoseconds())/float64(b.N), "stock-ns/op")
	b.ReportMetric(float64(own)/float64(library), "own/stock")
}

func BenchmarkEmptyCall(b *testing.B) {
	benchmarkCall(b, call(v26, "1", "tools/call", `"name":"tool_aa","arguments":{}`)+"\n")
}

func BenchmarkPicture200KiB(b *testing.B) {
	benchmarkCall(b, call(v26, "1", "tools/call", `"name":"picture","arguments":{}`)+"\n")
}

func BenchmarkModernFirstToolPage(b *testing.B) {
	p := connect(b, ours, benchProtocol())
	defer p.close()
	line := call(v26, "1", "tools/list", "") + "\n"
	for b.Loop() {
		b.SetBytes(int64(p.ask(b, line)))
	}
}

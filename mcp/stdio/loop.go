package stdio

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/krometrail/krometrail/core/clock"
)

// ShutdownBudget is the time from the end of input, or of Serve's context, to Serve's return. It covers the
// requests in progress, the drain hook and the last flush.
const ShutdownBudget = 30 * time.Second

// Loop serves connections of one MCP server. It is immutable and safe for concurrent use.
type Loop struct {
	proto  *server.MCPServer
	name   string
	info   *mcp.Implementation
	clock  clock.Clock
	log    *slog.Logger
	drain  func(context.Context) error
	tools  *toolPages
	routes map[string]route
	limits limits
}

// limits are the bounds that tests make small.
type limits struct {
	line, unread int
	page         int // bytes of one modern tools/list result
}

// Option adjusts a Loop.
type Option func(*Loop)

// WithLogger sends diagnostics to log. Records name methods, codes and correlation identifiers; the error of a
// failed handler is logged with its causes, so the logger must redact. The default discards everything.
func WithLogger(log *slog.Logger) Option { return func(l *Loop) { l.log = log } }

// WithDrain sets what is stopped at the end of a connection, after its requests have ended: the browser and
// its recording. The hook gets what is left of the budget as the deadline of its context, is called once for
// each Serve, and an error from it makes the end incomplete.
func WithDrain(drain func(context.Context) error) Option { return func(l *Loop) { l.drain = drain } }

// New returns a loop for proto, which NewProtocol made and which must not change any more: the catalogue is
// listed here, once. It fails when the catalogue cannot be encoded.
func New(proto *server.MCPServer, identity Identity, c clock.Clock, options ...Option) (*Loop, error) {
	l := &Loop{
		proto: proto, name: identity.Name, clock: c, log: slog.New(slog.DiscardHandler),
		drain:  func(context.Context) error { return nil },
		limits: limits{line: MaxLine, unread: maxUnread, page: maxPageBytes},
	}
	for _, option := range options {
		option(l)
	}
	l.routes = routes()
	return l, l.list()
}

// Serve reads requests from in and writes responses to out until in ends, out breaks or ctx ends; then it ends
// the requests in progress, drains and flushes within ShutdownBudget. At the end of in, requests may finish;
// when ctx ends or out is broken they are cancelled at once. The error is nil after a complete end and a
// shutdown_incomplete fault naming what was left otherwise. Serve closes neither stream: when ctx ended, a
// goroutine that waits in in.Read stays until that read returns.
func (l *Loop) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c := newConn(ctx, l, out)
	go c.out.run()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.read(newLineReader(in, l.limits.line))
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-c.out.broken:
	}
	return c.end(ctx)
}

package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// conn is one connection: the state of Serve.
type conn struct {
	loop     *Loop
	out      *writer
	requests *inflight
	level    *logLevel
	base     context.Context //nolint:containedctx // of every request, ended with the connection and not by Serve's own context
	number   atomic.Int64    // of the messages given to the library

	// negotiated is the legacy version that initialize settled, "" before. Only the reader uses it.
	negotiated string
}

func newConn(ctx context.Context, l *Loop, out io.Writer) *conn {
	return &conn{
		loop: l, out: newWriter(out, l.limits.unread), requests: newInflight(), level: &logLevel{},
		base: context.WithoutCancel(ctx),
	}
}

// read admits messages until the stream ends.
func (c *conn) read(lines *lineReader) {
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, errLineTooLong):
			c.refuse(nil, newError(codeInvalidRequest, "the line is longer than %d bytes", c.loop.limits.line))
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			c.loop.log.Warn("reading requests failed", "error", err)
			return
		default:
			c.receive(line)
		}
	}
}

func (c *conn) receive(line []byte) {
	m, ignore, failure := parse(line)
	switch {
	case ignore:
	case failure != nil && (m.id != nil || failure.Code != codeInvalidParams):
		c.refuse(m.id, failure)
	case failure != nil: // a notification is never answered, not even a wrong one
	case m.id == nil:
		c.notice(m)
	default:
		c.request(m)
	}
}

// notice handles a notification. All but cancellation are of no interest.
func (c *conn) notice(m message) {
	if m.method != string(mcp.MethodNotificationCancelled) {
		return
	}
	if id, ok := parseID(m.params["requestId"]); ok {
		c.requests.withdraw(id)
	}
}

// request admits a request before the next line is read, so that a cancellation right behind it finds it.
func (c *conn) request(m message) {
	meta, ok := m.params.object("_meta")
	if !ok {
		c.refuse(m.id, newError(codeInvalidParams, "params._meta must be an object"))
		return
	}
	e, failure := resolveEra(m, meta, c.negotiated)
	if failure != nil {
		c.refuse(m.id, failure)
		return
	}
	rt, ok := c.loop.routes[m.method]
	if !ok || (e.modern && !rt.modern) || (!e.modern && !rt.legacy) {
		c.refuse(m.id, newError(codeMethodNotFound, "the method is not supported in protocol version %s", e.version))
		return
	}
	ctx, cancel := context.WithCancelCause(c.base)
	r := &request{id: m.id, method: m.method, label: m.method, era: e, params: m.params, bytes: m.bytes, cancel: cancel, out: c.out}
	if failure = r.readMeta(meta); failure == nil {
		failure = c.requests.admit(r)
	}
	if failure != nil {
		cancel(failure)
		c.refuse(m.id, failure)
		return
	}
	if rt.inline {
		c.serve(context.WithValue(ctx, requestKey{}, r), r, rt)
		return
	}
	go c.serve(context.WithValue(ctx, requestKey{}, r), r, rt)
}

// Error lets a refusal be the cause of a context.
func (e *rpcError) Error() string { return e.Message }

// readMeta takes the members of _meta that concern the loop.
func (r *request) readMeta(meta object) *rpcError {
	if token, sent := meta["progressToken"]; sent {
		id, ok := parseID(token)
		if !ok {
			return newError(codeInvalidParams, "params._meta.progressToken must be a string or an integer")
		}
		r.token = json.RawMessage(id)
	}
	if r.era.modern && meta.has(mcp.MetaKeyLogLevel) {
		name, _ := meta.text(mcp.MetaKeyLogLevel)
		if !slices.Contains(severities(), name) {
			return newError(codeInvalidParams, "params._meta[%q] is not a log level", mcp.MetaKeyLogLevel)
		}
		r.logLevel = name
	}
	return nil
}

// serve runs one admitted request to its end.
func (c *conn) serve(ctx context.Context, r *request, rt route) {
	defer r.cancel(nil)
	defer c.requests.leave()
	result, failure := c.run(ctx, r, rt)
	c.requests.release(r)
	c.finish(r, result, failure)
}

// run calls the handler; a panic becomes an internal error whose text stays here.
func (c *conn) run(ctx context.Context, r *request, rt route) (result json.RawMessage, failure *rpcError) {
	defer func() {
		if p := recover(); p != nil {
			number := correlation()
			c.loop.log.Error("handler panicked", "method", r.name(), "correlation_id", number,
				"panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			result, failure = nil, c.internal(r, number)
		}
	}()
	if rt.check != nil {
		if failure = rt.check(r); failure != nil {
			return nil, failure
		}
	}
	return rt.serve(c, ctx, r)
}

func (c *conn) internal(r *request, number string) *rpcError {
	c.tell(r, string(mcp.LoggingLevelError), map[string]string{"event": "internal error", "method": r.method, "correlation_id": number})
	return internalError(number)
}

func (c *conn) finish(r *request, result json.RawMessage, failure *rpcError) {
	line, err := response(r.id, result, failure)
	if err != nil {
		number := correlation()
		c.loop.log.Error("encoding a response failed", "method", r.name(), "correlation_id", number, "error", err)
		line, _ = response(r.id, nil, c.internal(r, number))
	}
	if !r.write(line, true) {
		line, _ = response(r.id, nil, newError(codeOverload, "the response was dropped: too much output is unread"))
		c.out.sendNotice(line)
	}
}

// refuse answers what was never admitted.
func (c *conn) refuse(id requestID, failure *rpcError) {
	if line, err := response(id, nil, failure); err == nil {
		c.out.sendNotice(line)
	}
}

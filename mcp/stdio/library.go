package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/krometrail/krometrail/core/fault"
)

// forward serves a method by the library with the named members of params.
func forward(members ...string) func(*conn, context.Context, *request) (json.RawMessage, *rpcError) {
	return func(c *conn, ctx context.Context, r *request) (json.RawMessage, *rpcError) {
		result, failure := c.handle(ctx, r, r.only(members...))
		if failure != nil {
			return nil, failure
		}
		return c.encode(r, result)
	}
}

// only copies the named members and _meta. The library compares names without case; what is not copied
// cannot be mistaken for a member.
func (r *request) only(members ...string) object {
	kept := object{}
	for _, name := range append(members, "_meta") {
		if raw, sent := r.params[name]; sent && !isNull(raw) {
			kept[name] = raw
		}
	}
	return kept
}

// handle gives a message to the library under a number of the loop's own, so that identifiers never suffer.
func (c *conn) handle(ctx context.Context, r *request, params object) (any, *rpcError) {
	text := libraryMessage(c.number.Add(1), r.method, params)
	s := &session{level: c.level}
	if !r.era.modern {
		s.version = r.era.version
	}
	switch answer := c.loop.proto.HandleMessage(c.loop.proto.WithContext(ctx, s), text).(type) {
	case mcp.JSONRPCResponse:
		return answer.Result, nil
	case mcp.JSONRPCError:
		return nil, c.explain(r, answer.Error.Code)
	}
	return nil, internalError(correlation())
}

// libraryMessage writes a message of which everything is JSON already: params as they were read, and the name of a
// method that is served.
func libraryMessage(number int64, method string, params object) []byte {
	text := make([]byte, 0, 1024)
	text = append(text, `{"jsonrpc":"2.0","id":`...)
	text = strconv.AppendInt(text, number, 10)
	text = append(append(text, `,"method":"`...), method...)
	text = append(text, `","params":{`...)
	between := `"`
	for name, raw := range params {
		text = append(append(text, between...), name...)
		text = append(append(text, `":`...), raw...)
		between = `,"`
	}
	return append(text, `}}`...)
}

func (c *conn) encode(r *request, result any) (json.RawMessage, *rpcError) {
	text, err := encode(result)
	if err == nil {
		return text, nil
	}
	number := correlation()
	c.loop.log.Error("encoding a result failed", "method", r.name(), "correlation_id", number, "error", err)
	return nil, c.internal(r, number)
}

// explain makes the error of a request that the library refused. The library's own text quotes the client and
// is not sent.
func (c *conn) explain(r *request, code int) *rpcError {
	if cause := r.failure(); cause != nil {
		return c.handlerError(r, cause)
	}
	switch {
	case code == codeMethodNotFound:
		return newError(code, "the method is not supported")
	case r.method == string(mcp.MethodResourcesRead) && code != codeInvalidRequest:
		return notFound(r, fault.New(fault.NotFound, "no such resource").WithRecovery("use a URI from a tool result"))
	case r.method == string(mcp.MethodToolsCall) && code == codeInvalidParams:
		return unknownTool(r)
	case code == codeInvalidRequest, code == codeInvalidParams:
		return newError(codeInvalidParams, "invalid parameters for %s", r.method)
	}
	number := correlation()
	c.loop.log.Error("the protocol library failed", "method", r.name(), "correlation_id", number, "code", code)
	return c.internal(r, number)
}

func unknownTool(r *request) *rpcError {
	if name, _ := r.params.text("name"); isToolName(name) {
		return newError(codeInvalidParams, "unknown tool %s; tools/list names the tools", name)
	}
	return newError(codeInvalidParams, "unknown tool; tools/list names the tools")
}

// handlerError maps what a handler returned. Tools answer failures in their result, so this is about resources
// and about bugs.
func (c *conn) handlerError(r *request, err error) *rpcError {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code == fault.Internal {
		number := correlation()
		c.loop.log.Error("handler failed", "method", r.name(), "correlation_id", number, "error", err)
		return c.internal(r, number)
	}
	if r.method == string(mcp.MethodResourcesRead) && slices.Contains(absence(), f.Code) {
		return notFound(r, f)
	}
	return newError(codeInternal, "%s", f.Message).
		with(faultData{Code: f.Code, Message: f.Message, Retry: f.Retry, Recovery: f.Recovery})
}

// absence lists the codes that say that a resource is not there.
func absence() []fault.Code {
	return []fault.Code{
		fault.NotFound, fault.EvidenceInvalidated, fault.RangeNotRetained, fault.RangeNotCaptured,
		fault.SessionEnded, fault.InvalidInput,
	}
}

func notFound(r *request, f *fault.Error) *rpcError {
	code := codeResourceNotFound
	if r.era.modern {
		code = codeInvalidParams
	}
	uri, _ := r.params.text("uri")
	return newError(code, "resource not found: %s", f.Message).
		with(faultData{Code: f.Code, Message: f.Message, Retry: f.Retry, Recovery: f.Recovery, URI: clip(uri)})
}

// initialize settles the legacy version of the connection.
func (c *conn) initialize(ctx context.Context, r *request) (json.RawMessage, *rpcError) {
	params := r.only("capabilities", "clientInfo")
	params["protocolVersion"], _ = encode(r.era.version)
	result, failure := c.handle(ctx, r, params)
	if failure != nil {
		return nil, failure
	}
	c.negotiated = r.era.version
	return c.encode(r, result)
}

// discover lists the served versions instead of all that the library knows.
func (c *conn) discover(ctx context.Context, r *request) (json.RawMessage, *rpcError) {
	result, failure := c.handle(ctx, r, r.only())
	if failure != nil {
		return nil, failure
	}
	if discovered, ok := result.(mcp.DiscoverResult); ok {
		discovered.SupportedVersions = Versions()
		result = discovered
	}
	return c.encode(r, result)
}

// listen acknowledges that nothing is subscribed, for nothing here ever changes, and completes.
func (c *conn) listen(_ context.Context, r *request) (json.RawMessage, *rpcError) {
	if wanted, ok := r.params.object("notifications"); !ok || wanted == nil {
		return nil, newError(codeInvalidParams, "params.notifications must be an object")
	}
	stream := map[string]json.RawMessage{mcp.MetaKeySubscriptionID: json.RawMessage(r.id)}
	acknowledged, err := notification(mcp.MethodNotificationSubscriptionsAcknowledged, map[string]any{
		"_meta": stream, "notifications": struct{}{},
	})
	if err != nil {
		return nil, internalError(correlation())
	}
	r.write(acknowledged, false)
	return c.encode(r, map[string]any{"resultType": mcp.ResultTypeComplete, "_meta": map[string]any{
		mcp.MetaKeySubscriptionID: json.RawMessage(r.id), mcp.MetaKeyServerInfo: c.loop.info,
	}})
}

package stdio

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// route says how a method is served.
type route struct {
	modern, legacy bool
	// inline methods are quick and run on the reader's goroutine, in order with what follows them.
	inline bool
	check  func(r *request) *rpcError
	serve  func(c *conn, ctx context.Context, r *request) (json.RawMessage, *rpcError)
}

func routes() map[string]route {
	return map[string]route{
		string(mcp.MethodInitialize):     {legacy: true, inline: true, serve: (*conn).initialize},
		string(mcp.MethodServerDiscover): {modern: true, inline: true, serve: (*conn).discover},
		string(mcp.MethodPing):           {legacy: true, inline: true, serve: forward()},
		string(mcp.MethodSetLogLevel):    {legacy: true, inline: true, serve: forward("level")},
		string(mcp.MethodToolsList):      {modern: true, legacy: true, inline: true, serve: (*conn).listTools},
		string(mcp.MethodToolsCall): {
			modern: true, legacy: true, check: checkCall, serve: forward("name"),
		},
		string(mcp.MethodResourcesList): {
			modern: true, legacy: true, inline: true, check: checkNoCursor, serve: forward(),
		},
		string(mcp.MethodResourcesTemplatesList): {
			modern: true, legacy: true, inline: true, check: checkNoCursor, serve: forward(),
		},
		string(mcp.MethodResourcesRead): {
			modern: true, legacy: true, check: checkRead, serve: forward("uri"),
		},
		string(mcp.MethodSubscriptionsListen): {modern: true, inline: true, serve: (*conn).listen},
	}
}

// checkCall refuses what must not reach a tool and names the request after its tool.
func checkCall(r *request) *rpcError {
	if failure := checkNoContinuation(r); failure != nil {
		return failure
	}
	name, ok := r.params.text("name")
	if !ok {
		return newError(codeInvalidParams, "params.name must be a string")
	}
	if isToolName(name) {
		r.rename(r.method + " " + name)
	}
	if raw, sent := r.params["arguments"]; sent && !isNull(raw) && raw[0] != '{' {
		return newError(codeInvalidParams, "params.arguments must be an object")
	}
	return nil
}

func checkRead(r *request) *rpcError {
	if failure := checkNoContinuation(r); failure != nil {
		return failure
	}
	if _, ok := r.params.text("uri"); !ok {
		return newError(codeInvalidParams, "params.uri must be a string")
	}
	return nil
}

// checkNoContinuation: no tool here ever asks for input, so there is no state to continue.
func checkNoContinuation(r *request) *rpcError {
	for _, member := range []string{"requestState", "inputResponses"} {
		if r.params.has(member) {
			return newError(codeInvalidParams, "params.%s is not supported: no request here is continued", member)
		}
	}
	return nil
}

func checkNoCursor(r *request) *rpcError {
	if r.params.has("cursor") {
		return newError(codeInvalidParams, "the cursor is not valid: the list has one page; ask again without a cursor")
	}
	return nil
}

// isToolName keeps arbitrary client text out of logs and messages.
func isToolName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, b := range []byte(name) {
		if (b < 'a' || b > 'z') && b != '_' {
			return false
		}
	}
	return true
}

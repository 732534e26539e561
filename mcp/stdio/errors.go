package stdio

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/krometrail/krometrail/core/fault"
)

// Codes of JSON-RPC and MCP errors.
const (
	codeParse              = mcp.PARSE_ERROR
	codeInvalidRequest     = mcp.INVALID_REQUEST
	codeMethodNotFound     = mcp.METHOD_NOT_FOUND
	codeInvalidParams      = mcp.INVALID_PARAMS
	codeInternal           = mcp.INTERNAL_ERROR
	codeResourceNotFound   = mcp.RESOURCE_NOT_FOUND
	codeUnsupportedVersion = mcp.UNSUPPORTED_PROTOCOL_VERSION
	// codeOverload is in the part of the range that MCP leaves to implementations.
	codeOverload = -32000
)

// rpcError is the error member of a response. Its text is always this program's own.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func newError(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *rpcError) with(data any) *rpcError { e.Data = data; return e }

// faultData is how a domain error appears in an error response.
type faultData struct {
	Code          fault.Code  `json:"code"`
	Message       string      `json:"message,omitempty"`
	Retry         fault.Retry `json:"retry,omitempty"`
	Recovery      string      `json:"recovery,omitempty"`
	URI           string      `json:"uri,omitempty"`
	CorrelationID string      `json:"correlation_id,omitempty"`
}

// correlation returns a fresh identifier that joins an error shown to the client with the log.
func correlation() string { return rand.Text()[:12] }

// internalError is the answer to everything that must not be explained to the client.
func internalError(correlationID string) *rpcError {
	return newError(codeInternal, "an internal error occurred (correlation %s)", correlationID).
		with(faultData{Code: fault.Internal, Retry: fault.Never, CorrelationID: correlationID})
}

// response encodes one response line. A nil id is left out: the request's could not be read. result is valid
// JSON already and is copied as it is, since results can be large.
func response(id requestID, result json.RawMessage, failure *rpcError) ([]byte, error) {
	line := make([]byte, 0, len(id)+len(result)+64)
	line = append(line, `{"jsonrpc":"2.0"`...)
	if id != nil {
		line = append(append(line, `,"id":`...), id...)
	}
	if failure == nil {
		return append(append(append(line, `,"result":`...), result...), '}'), nil
	}
	text, err := encode(failure)
	return append(append(append(line, `,"error":`...), text...), '}'), err
}

// notification encodes one notification line.
func notification(method string, params any) ([]byte, error) {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

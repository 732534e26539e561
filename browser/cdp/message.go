package cdp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Error is the peer's refusal of a command.
type Error struct {
	Method  string `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data"`
}

// Error implements error. The peer's text may hold page content: log it only after redaction.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%d)", e.Method, e.Message, e.Code)
}

// Codes of refusals the program distinguishes.
const (
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeServerError    = -32000
	CodeSessionGone    = -32001
)

// ErrClosed is wrapped by every error that a lost or closed connection causes.
var ErrClosed = errors.New("the browser connection is closed")

type envelope struct {
	ID      int64          `json:"id"`
	Method  string         `json:"method"`
	Session string         `json:"sessionId"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   *wireError     `json:"error"`
}

// wireError tolerates a data member of any type; older builds send objects there.
type wireError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data"`
}

func (w *wireError) as(method string) *Error {
	e := &Error{Method: method, Code: w.Code, Message: w.Message}
	if json.Unmarshal(w.Data, &e.Data) != nil {
		e.Data = string(w.Data)
	}
	return e
}

// decodeEnvelope reads one message. The values alias message.
func decodeEnvelope(message []byte) (envelope, error) {
	var e envelope
	err := json.Unmarshal(message, &e, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return envelope{}, err
	}
	if e.ID == 0 && e.Method == "" {
		return envelope{}, errors.New("neither a reply nor an event")
	}
	return e, nil
}

// encodeCommand writes {"id":..,"sessionId":..,"method":..,"params":..}.
func encodeCommand(id int64, session, method string, params any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"id":`)
	b.WriteString(strconv.FormatInt(id, 10))
	if session != "" {
		b.WriteString(`,"sessionId":`)
		b.WriteString(strconv.Quote(session))
	}
	b.WriteString(`,"method":`)
	b.WriteString(strconv.Quote(method))
	if params != nil {
		raw, err := Marshal(params)
		if err != nil {
			return nil, fmt.Errorf("encoding the parameters of %s: %w", method, err)
		}
		b.WriteString(`,"params":`)
		b.Write(raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Marshal encodes parameters: cdproto parameter types, maps, structs or raw JSON.
func Marshal(v any) ([]byte, error) {
	switch raw := v.(type) {
	case jsontext.Value:
		return raw, nil
	case []byte:
		return raw, nil
	}
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
}

// Unmarshal decodes a result or event. Unknown members and values are accepted, as newer browsers send them.
func Unmarshal(raw []byte, v any) error {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	return json.Unmarshal(raw, v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

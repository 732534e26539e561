package stdio

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// object is a JSON object whose keys are compared exactly, unlike those of a Go struct.
type object map[string]json.RawMessage

// has reports whether key was sent, even as null.
func (o object) has(key string) bool { _, ok := o[key]; return ok }

// text returns the string at key; ok is false when it is absent or no string.
func (o object) text(key string) (value string, ok bool) {
	raw, sent := o[key]
	if !sent || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return value, json.Unmarshal(raw, &value) == nil
}

// object returns the object at key: nil when it is absent or null, ok is false when it is something else.
func (o object) object(key string) (value object, ok bool) {
	raw, sent := o[key]
	if !sent || isNull(raw) {
		return nil, true
	}
	return decodeObject(raw)
}

func decodeObject(raw []byte) (object, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	var o object
	return o, json.Unmarshal(raw, &o) == nil
}

func isNull(raw []byte) bool { return string(raw) == "null" }

// requestID is a request's identifier exactly as the client wrote it.
type requestID json.RawMessage

// parseID accepts strings and integers of any size.
func parseID(raw json.RawMessage) (requestID, bool) {
	if len(raw) == 0 {
		return nil, false
	}
	if raw[0] == '"' || isInteger(raw) {
		return requestID(raw), true
	}
	return nil, false
}

// isInteger: raw is valid JSON, so digits alone after an optional sign make an integer literal.
func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	if len(digits) == 0 {
		return false
	}
	for _, b := range digits {
		if b < '0' || b > '9' {
			return false
		}
	}
	return true
}

// key makes equal identifiers equal: escapes in strings do not matter, 1 and "1" differ.
func (id requestID) key() string {
	if len(id) > 0 && id[0] == '"' {
		var s string
		if json.Unmarshal(id, &s) == nil {
			return `"` + s
		}
	}
	return string(id)
}

// message is one line, taken apart.
type message struct {
	id     requestID // nil for a notification
	method string
	params object // nil when absent
	bytes  int
}

// parse takes a line apart. ignore is true for what needs no answer: a response, which nobody here waits for.
// On error the message still holds the id when there was a valid one.
func parse(line []byte) (m message, ignore bool, failure *rpcError) {
	m.bytes = len(line)
	fields, isObject := decodeObject(line)
	switch {
	case !utf8.Valid(line), !isObject && !json.Valid(line):
		return m, false, newError(codeParse, "the line is not valid JSON")
	case line[0] == '[':
		return m, false, newError(codeInvalidRequest, "batch arrays are not supported; send one message per line")
	case !isObject:
		return m, false, newError(codeInvalidRequest, "the message is not a JSON object")
	}
	if isResponse(fields) {
		return m, true, nil
	}
	if raw, sent := fields["id"]; sent {
		valid := false
		if m.id, valid = parseID(raw); !valid {
			return m, false, newError(codeInvalidRequest, "the id must be a string or an integer")
		}
	}
	return m, false, m.fill(fields)
}

func isResponse(fields object) bool {
	return !fields.has("method") && (fields.has("result") || fields.has("error"))
}

func (m *message) fill(fields object) *rpcError {
	if version, _ := fields.text("jsonrpc"); version != "2.0" {
		return newError(codeInvalidRequest, `the member "jsonrpc" must be "2.0"`)
	}
	method, ok := fields.text("method")
	if !ok {
		return newError(codeInvalidRequest, `the member "method" must be a string`)
	}
	m.method = method
	if m.params, ok = fields.object("params"); !ok {
		return newError(codeInvalidParams, `the member "params" must be an object`)
	}
	return nil
}

// encode writes v as compact JSON without escaping for HTML, which would only lengthen it.
func encode(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

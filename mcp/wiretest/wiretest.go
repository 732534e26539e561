// Package wiretest holds what a server writes to the protocol: every line of its output must be a message that the
// protocol's version of that request allows.
//
// protocol.json is written for this purpose from the published schemas of the three versions, for the messages that
// this server sends. It is stricter than they are: every object is closed, since a member that no version knows is a
// mistake here, results are complete, and the list of resources is empty. In one thing it is wider: 2025-06-18 demands
// an id of every error, and a line whose id could not be read has none to give; the later versions leave it out.
package wiretest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed protocol.json
var protocol []byte

const (
	modern   = "2026-07-28"
	location = "wiretest:protocol"
)

// Checker watches one connection from the client's side. Its methods may be called concurrently.
type Checker struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	// asked holds the requests that have no result yet by their ids. An id can be there twice: while it is in flight,
	// its repetition is refused.
	asked map[string][]request
}

type request struct {
	method string
	modern bool
}

// results is where the schema of its result is. What this server sends is the same in both legacy versions.
func (r request) results() string {
	version := "legacy"
	if r.modern {
		version = modern
	}
	return "results/" + version + "/" + escape(r.method)
}

// New returns a checker of a connection on which nothing was sent yet.
func New() (*Checker, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(protocol))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	return &Checker{compiler: compiler, asked: map[string][]request{}}, compiler.AddResource(location, doc)
}

// line is what tells messages apart.
type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Sent notes a line of the client, before it is sent. What is no request is of no concern.
func (c *Checker) Sent(text []byte) {
	var l line
	if json.Unmarshal(text, &l) != nil || len(l.ID) == 0 || l.Method == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := string(l.ID)
	c.asked[id] = append(c.asked[id], request{l.Method, l.Params.Meta.Version == modern})
}

// Got says how a line of the server breaks the protocol.
func (c *Checker) Got(text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var l line
	// Parameters of the server's own messages need not have the shape of a request's.
	if err := json.Unmarshal(text, &l); err != nil && l.Method == "" {
		return fmt.Errorf("a line that is no JSON: %w", err)
	}
	switch {
	case bytes.ContainsAny(text, "\n\r"):
		return errors.New("a line break inside a line")
	case l.Method != "":
		if err := c.check("lines/notification", text); err != nil {
			return err
		}
		return c.check("notifications/"+escape(l.Method), member(text, "params"))
	case l.Error != nil:
		return c.check("lines/error", text)
	}
	if err := c.check("lines/result", text); err != nil {
		return err
	}
	return c.result(l)
}

// result is good when one of the requests with its id can have it.
func (c *Checker) result(l line) error {
	asked := c.asked[string(l.ID)]
	delete(c.asked, string(l.ID))
	err := fmt.Errorf("a result for %s, which was not asked or has its result", l.ID)
	for _, r := range asked {
		if err = c.check(r.results(), l.Result); err == nil {
			return nil
		}
	}
	return err
}

// escape makes a method one step of a JSON pointer.
func escape(method string) string { return strings.ReplaceAll(method, "/", "~1") }

func member(text []byte, name string) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields)
	return fields[name]
}

func (c *Checker) check(pointer string, text []byte) error {
	schema, err := c.compiler.Compile(location + "#/" + pointer)
	if err != nil {
		return fmt.Errorf("the protocol has no such message: %w", err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(instance)
}

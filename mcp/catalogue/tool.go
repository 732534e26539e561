package catalogue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	infer "github.com/google/jsonschema-go/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/krometrail/krometrail/core/capability"
)

// Set chooses which tools are listed.
type Set string

// The tool sets.
const (
	// Full lists every tool.
	Full Set = "full"
	// Lean lists the tools that most work needs, without output schemas; the others stay usable as batch steps.
	Lean Set = "lean"
)

// Tool is one operation as a tool.
type Tool struct {
	Op capability.Op
	// Hidden tools are not listed and cannot be called by name, only as batch steps.
	Hidden bool
	// Input and Output are the listed JSON schemas; Output is nil in the lean set.
	Input, Output json.RawMessage

	input *jsonschema.Schema
	// listed and strict check answers; strict is compiled when a test first asks.
	listed *jsonschema.Schema
	strict func() (*jsonschema.Schema, error)
}

// Catalogue holds the tools of a registry. It is immutable and safe for concurrent use.
type Catalogue struct {
	tools  []Tool
	byName map[string]*Tool
}

// New makes the catalogue. A schema that is invalid, refers elsewhere or leaves an object open is an error: such a
// program must not start.
func New(registry *capability.Registry, set Set) (*Catalogue, error) {
	if set != Full && set != Lean {
		return nil, fmt.Errorf("the tool set %q is neither full nor lean", set)
	}
	listed, err := compile("output", json.RawMessage(listedOutput))
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	c := &Catalogue{byName: map[string]*Tool{}}
	for _, op := range registry.Ops() {
		tool, err := newTool(op)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", op.Name, err)
		}
		tool.listed = listed
		if set == Full {
			tool.Output = json.RawMessage(listedOutput)
		}
		tool.Hidden = set == Lean && !op.Lean
		c.tools = append(c.tools, tool)
	}
	for i := range c.tools {
		c.byName[c.tools[i].Op.Name] = &c.tools[i]
	}
	return c, nil
}

func newTool(op capability.Op) (t Tool, err error) {
	t = Tool{Op: op}
	schema, err := inputSchema(op.RequestType())
	if err != nil {
		return t, err
	}
	if err := addPresentation(op, schema); err != nil {
		return t, err
	}
	if t.Input, err = json.Marshal(schema); err != nil {
		return t, err
	}
	if t.input, err = compileClosed(op.Name+"/input", t.Input); err != nil {
		return t, fmt.Errorf("input schema: %w", err)
	}
	t.strict = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(op.Name+"/output", strictOutput(op)) })
	return t, nil
}

// addPresentation adds the arguments that concern only how the answer is shown.
func addPresentation(op capability.Op, s *infer.Schema) error {
	add := func(name string, property *infer.Schema) error {
		if s.Properties[name] != nil {
			return fmt.Errorf("the request has an argument %s of its own", name)
		}
		if s.Properties == nil {
			s.Properties = map[string]*infer.Schema{}
		}
		s.Properties[name] = property
		s.PropertyOrder = append(s.PropertyOrder, name)
		return nil
	}
	if op.Tiers {
		if err := add("detail", &infer.Schema{Type: "string", Enum: []any{"concise", "expanded", "full"}}); err != nil {
			return err
		}
	}
	if op.Pictures {
		return add("inline_images", &infer.Schema{Type: "boolean"})
	}
	return nil
}

// Tools lists all tools by name, hidden ones too.
func (c *Catalogue) Tools() []Tool { return slices.Clone(c.tools) }

// Tool finds a tool, also a hidden one.
func (c *Catalogue) Tool(name string) (*Tool, bool) {
	t, ok := c.byName[name]
	return t, ok
}

// Size is how many bytes the listed tools take: model is what hosts put before a model (names, descriptions and
// input schemas), total the whole descriptors.
func (c *Catalogue) Size() (model, total int, err error) {
	for _, t := range c.tools {
		if t.Hidden {
			continue
		}
		text, err := json.Marshal(t.Descriptor())
		if err != nil {
			return 0, 0, err
		}
		total += len(text)
		model += len(t.Op.Name) + len(t.Op.Summary) + len(t.Input)
	}
	return model, total, nil
}

// Hidden lists the names that are not listed to clients.
func (c *Catalogue) Hidden() []string {
	var names []string
	for _, t := range c.tools {
		if t.Hidden {
			names = append(names, t.Op.Name)
		}
	}
	return names
}

// Descriptor is the tool as tools/list shows it. All four hints are always set. It has no title: the names read
// well enough for people, and the list stays within its budget.
func (t *Tool) Descriptor() mcp.Tool {
	op := t.Op
	readOnly := op.Kind == capability.Read
	destructive := op.Destructive && !readOnly
	return mcp.Tool{
		Name: op.Name, Description: op.Summary, RawInputSchema: t.Input, RawOutputSchema: t.Output,
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &readOnly, DestructiveHint: &destructive,
			IdempotentHint: new(op.Idempotent || readOnly), OpenWorldHint: new(op.OpenWorld),
		},
	}
}

// CheckOutput reports how an answer's structured content breaks the listed output schema, or the stricter one of
// what this tool's answers can have.
func (t *Tool) CheckOutput(structured any) error {
	raw, err := json.Marshal(structured)
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if err := t.listed.Validate(instance); err != nil {
		return err
	}
	strict, err := t.strict()
	if err != nil {
		return err
	}
	return strict.Validate(instance)
}

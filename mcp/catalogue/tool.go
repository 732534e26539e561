package catalogue

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	// Lean lists the tools that most work needs; the others stay usable as batch steps.
	Lean Set = "lean"
)

// Tool is one operation as a tool.
type Tool struct {
	Op capability.Op
	// Hidden tools are not listed and cannot be called by name, only as batch steps.
	Hidden bool
	// Input and Output are JSON schemas.
	Input, Output json.RawMessage

	input, output *jsonschema.Schema
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
	c := &Catalogue{byName: map[string]*Tool{}}
	for _, op := range registry.Ops() {
		tool, err := newTool(op)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", op.Name, err)
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
	t.Output = outputSchema(op)
	if t.input, err = compile(op.Name+"/input", t.Input, true); err != nil {
		return t, fmt.Errorf("input schema: %w", err)
	}
	if t.output, err = compile(op.Name+"/output", t.Output, false); err != nil {
		return t, fmt.Errorf("output schema: %w", err)
	}
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

// CheckOutput reports how an answer's structured content breaks the tool's output schema, or which of the members
// that every answer has it lacks.
func (t *Tool) CheckOutput(structured any) error {
	raw, err := json.Marshal(structured)
	if err != nil {
		return err
	}
	var instance any
	if err := json.Unmarshal(raw, &instance); err != nil {
		return err
	}
	members, _ := instance.(map[string]any)
	for _, name := range always() {
		if _, has := members[name]; !has {
			return fmt.Errorf("the answer has no %s", name)
		}
	}
	if _, object := members["result"].(map[string]any); !object {
		return errors.New("the answer's result is no object")
	}
	return t.output.Validate(instance)
}

package catalogue

import (
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/krometrail/krometrail/core/capability"
)

// outputSchema is the envelope that every answer has: closed at the top level, open below. A tool lists the
// members that its answers can have.
func outputSchema(op capability.Op) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{}, Required: []string{"tool", "status", "result"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	add := func(property *jsonschema.Schema, names ...string) {
		for _, name := range names {
			s.Properties[name] = property
			s.PropertyOrder = append(s.PropertyOrder, name)
		}
	}
	object := &jsonschema.Schema{Type: "object"}
	list := &jsonschema.Schema{Type: "array"}
	add(&jsonschema.Schema{Type: "string"}, "tool", "status")

	add(object, "result", "error", "diagnostics")
	add(list, "warnings", "notes", "next")
	if op.Kind == capability.Change || op.Kind == capability.Recorded {
		add(object, "interaction")
	}
	if op.Capability != capability.Control {
		add(object, "range")
		add(&jsonschema.Schema{Type: "string"}, "range_handle")
	}
	if op.Pictures {
		add(list, "images")
	}
	if op.Pictures || op.Capability != capability.Control {
		add(list, "resources")
	}
	return s
}

package catalogue

import (
	"encoding/json"
	"strings"

	"github.com/krometrail/krometrail/core/capability"
)

// outputSchema is the envelope that every answer has: closed at the top level, open below. A tool lists the
// members that its answers can have.
func outputSchema(op capability.Op) json.RawMessage {
	var optional strings.Builder
	for _, name := range optionalMembers(op) {
		optional.WriteString(`,"` + name + `":{"type":"` + memberType(name) + `"}`)
	}
	return json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string"},"status":{"type":"string"},"result":{"type":"object"}` +
		optional.String() + `},"required":["tool","status","result"],"additionalProperties":false}`)
}

func optionalMembers(op capability.Op) []string {
	var names []string
	if op.Kind == capability.Change || op.Kind == capability.Recorded {
		names = append(names, "interaction")
	}
	temporal := op.Capability != capability.Control
	if temporal {
		names = append(names, "range", "range_handle")
	}
	if op.Pictures {
		names = append(names, "images")
	}
	if op.Pictures || temporal {
		names = append(names, "resources")
	}
	return append(names, "warnings", "notes", "next", "error", "diagnostics")
}

func memberType(name string) string {
	switch name {
	case "range_handle":
		return "string"
	case "interaction", "range", "error", "diagnostics":
		return "object"
	}
	return "array"
}

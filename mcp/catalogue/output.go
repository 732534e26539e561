package catalogue

import (
	"encoding/json"
	"strings"

	"github.com/krometrail/krometrail/core/capability"
)

// outputSchema is the envelope that every answer has: closed at the top level, open below. A tool lists the
// members that its answers can have; tool, status and result are always there. Their types are
// not said: the catalogue is read whole by hosts, and no caller learns anything from what is the same for every tool.
func outputSchema(op capability.Op) json.RawMessage {
	var optional strings.Builder
	for _, name := range optionalMembers(op) {
		optional.WriteString(`,"` + name + `":{}`)
	}
	return json.RawMessage(`{"type":"object","properties":{"tool":{},"status":{},"result":{}` +
		optional.String() + `},"additionalProperties":false}`)
}

// always lists the members that no answer lacks.
func always() []string { return []string{"tool", "status", "result"} }

// optionalMembers are the members besides tool, status and result that an operation's answers can have.
func optionalMembers(op capability.Op) []string {
	var names []string
	if op.Kind == capability.Change || op.Kind == capability.Recorded {
		names = append(names, "interaction")
	}
	temporal := op.Capability != capability.Control && op.Capability != capability.ActionTrace
	if temporal {
		names = append(names, "range", "range_handle", "next")
	}
	if op.Pictures {
		names = append(names, "images")
	}
	if op.Pictures || temporal {
		names = append(names, "resources")
	}
	if op.Pictures || op.StartsBrowser || op.Kind == capability.Lifecycle {
		names = append(names, "notes")
	}
	return append(names, "warnings", "error", "diagnostics")
}

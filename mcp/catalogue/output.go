package catalogue

import (
	"encoding/json"
	"strings"

	"github.com/krometrail/krometrail/core/capability"
)

// listedOutput is the output schema that tools/list shows: what holds for every answer of every tool. It is open,
// because which other members an answer has depends on what happened; strictOutput says that for each tool.
const listedOutput = `{"type":"object","properties":{"tool":{"type":"string"},` +
	`"status":{"enum":["succeeded","degraded","failed"]},"result":{"type":"object"}},` +
	`"required":["tool","status","result"]}`

// member is one member of the envelope besides tool, status and result: its schema and whose answers can have it.
type member struct {
	name, schema string
	of           func(capability.Op) bool
}

const (
	faultSchema = `{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},` +
		`"retry":{"enum":["never","safe","after_recovery"]},"recovery":{"type":"string"}},"required":["code","message","retry"]}`
	textsSchema = `{"type":"array","items":{"type":"string","minLength":1},"minItems":1}`
)

// members lists the envelope's optional members.
func members() []member {
	every := func(capability.Op) bool { return true }
	temporal := func(op capability.Op) bool {
		return op.Capability != capability.Control && op.Capability != capability.ActionTrace
	}
	pictures := func(op capability.Op) bool { return op.Pictures }
	return []member{
		{"interaction", `{"type":"object"}`, func(op capability.Op) bool {
			return op.Kind == capability.Change || op.Kind == capability.Recorded
		}},
		{"range", `{"type":"object"}`, temporal},
		{"range_handle", `{"type":"string","pattern":"^rng_"}`, temporal},
		{"next", textsSchema, temporal},
		{"images", `{"type":"array","items":{"type":"object","required":["role","inline"]},"minItems":1}`, pictures},
		{"resources", `{"type":"array","items":{"type":"object","required":["role","uri"]},"minItems":1}`,
			func(op capability.Op) bool { return pictures(op) || temporal(op) }},
		{"notes", textsSchema, func(op capability.Op) bool {
			return pictures(op) || op.StartsBrowser || op.Kind == capability.Lifecycle
		}},
		{"warnings", `{"type":"array","items":` + faultSchema + `,"minItems":1}`, every},
		{"error", faultSchema, every},
		{"diagnostics", `{"type":"object","properties":{"correlation_id":{"type":"string","minLength":1},` +
			`"stage":{"type":"string","minLength":1}},"required":["correlation_id","stage"]}`, every},
	}
}

// strictOutput is everything that is promised of a tool's answers: the members it can have and no others, a reason
// with every failure, diagnostics with all that did not simply succeed. Tests hold answers to it; it is not listed,
// since it would double what a host reads.
func strictOutput(op capability.Op) json.RawMessage {
	var optional strings.Builder
	for _, m := range members() {
		if m.of(op) {
			optional.WriteString(`,"` + m.name + `":` + m.schema)
		}
	}
	return json.RawMessage(`{"type":"object","properties":{"tool":{"const":"` + op.Name + `"},` +
		`"status":{"enum":["succeeded","degraded","failed"]},"result":{"type":"object"}` + optional.String() + `},` +
		`"required":["tool","status","result"],"additionalProperties":false,"allOf":[` +
		`{"if":{"properties":{"status":{"const":"failed"}}},"then":{"required":["error"]}},` +
		`{"if":{"properties":{"status":{"const":"succeeded"}}},"then":{"properties":{"error":false,"diagnostics":false}},"else":{"required":["diagnostics"]}}]}`)
}

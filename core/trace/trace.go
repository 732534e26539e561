// Package trace records what an agent did to one opened page, in memory only, and checks whether a recorded
// action would still meet the page it was recorded on. It validates; it never acts.
//
// A trace holds no typed text, selected value, URL path, selector, script, cookie or page content: parameters
// are reduced to closed words, numbers and byte lengths, and everything that has to be compared later is an
// HMAC under a random key of the trace that never leaves the process. The package has no clock and does no I/O.
package trace

// Schema names the event contract in every event, status, export and plan.
const Schema = "plasmate.trace.v1"

// Bounds of one trace.
const (
	// MaxEvents is how many events are retained; the oldest goes first.
	MaxEvents = 128
	// MaxBytes bounds the sum of the retained events in serialized form.
	MaxBytes = 48 << 10
	// MaxEventBytes bounds one serialized event; a larger one is dropped and counted.
	MaxEventBytes = 4 << 10
	// MaxString bounds every retained string.
	MaxString = 512
	// MaxExport bounds a serialized export.
	MaxExport = 64 << 10
)

// Fixed words of statuses, exports and plans.
const (
	// Retention says where a trace lives and for how long.
	Retention = "process-memory until the page closes"
	// Policy names the redaction rules of this schema.
	Policy = "no-raw-values"
	// ValueHandling says what takes the place of a withheld value.
	ValueHandling = "byte-length-only"
	// Provenance says where a target's description came from.
	Provenance = "session-owned-snapshot"
	// Execution is the only kind of replay there is.
	Execution = "validation_only"
)

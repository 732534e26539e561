package trace

import (
	"encoding/json"
	"time"

	"github.com/krometrail/krometrail/core/fault"
)

// Outcomes of an event.
const (
	Success = "success"
	Failure = "error"
)

// Event is one recorded action.
type Event struct {
	Schema     string         `json:"schema"`
	Sequence   uint64         `json:"sequence"`
	Action     Kind           `json:"action"`
	Parameters map[string]any `json:"parameters"`
	Target     *Target        `json:"target,omitempty"`
	Before     State          `json:"before"`
	After      State          `json:"after"`
	Outcome    string         `json:"outcome"`
	ErrorClass string         `json:"error_class,omitempty"`
	DurationMS int64          `json:"duration_ms"`
	Redaction  Redaction      `json:"redaction"`
}

// Redaction says what of the request is not in the event.
type Redaction struct {
	Policy        string   `json:"policy"`
	ValueHandling string   `json:"value_handling"`
	Redacted      []string `json:"redacted_fields"`
	Omitted       []string `json:"omitted_fields"`
}

// Entry is one finished action as the caller saw it. The recorder keeps nothing of it but the sanitized event.
type Entry struct {
	Action Action
	// Target is nil when the action has no element, or when none was found.
	Target        *Element
	Before, After Page
	// Err is the action's failure, nil on success. Only a coarse class of its code is kept.
	Err      error
	Duration time.Duration
}

func newEvent(k *key, sequence uint64, e Entry) Event {
	s := e.Action.sanitize(k)
	event := Event{
		Schema: Schema, Sequence: sequence, Action: e.Action.Kind(), Parameters: s.fields,
		Before: k.state(e.Before), After: k.state(e.After), Outcome: Success, DurationMS: max(e.Duration.Milliseconds(), 0),
		Redaction: Redaction{Policy: Policy, ValueHandling: ValueHandling, Redacted: list(s.redacted), Omitted: list(s.omitted)},
	}
	if e.Target != nil {
		target := k.target(*e.Target)
		event.Target = &target
	}
	if e.Err != nil {
		event.Outcome, event.ErrorClass = Failure, Class(fault.CodeOf(e.Err))
	}
	return event
}

func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// serialize never fails: every field is a plain value and numbers are finite.
func (e Event) serialize() []byte {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return raw
}

// Class reduces a stable error code to a coarse class.
func Class(code fault.Code) string {
	switch code {
	case fault.NotFound, fault.StaleReference, fault.LocatorNotUnique:
		return "not_found"
	case fault.InvalidInput, fault.InvalidTime, fault.InvalidLifecycleTransition, fault.Unsupported:
		return "invalid_input"
	case fault.TargetHidden, fault.DialogOpen, fault.ResourceLimitExceeded, fault.BudgetExhausted:
		return "policy"
	case fault.WaitTimedOut, fault.PageBusy, fault.PageUnresponsive:
		return "timeout"
	case fault.EvaluationFailed, fault.InteractionFailed, fault.ReferenceNotActionable:
		return "execution"
	case fault.NavigationFailed, fault.BrowserDisconnected, fault.ReconnectExhausted, fault.BrowserProcessTerminated:
		return "network"
	}
	return "operation"
}

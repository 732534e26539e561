package trace

import (
	"encoding/json"
	"slices"

	"github.com/krometrail/krometrail/core/id"
)

// Drift says why a recorded action is refused.
type Drift string

// The refusals, in the order in which they are decided.
const (
	CrossSession      Drift = "cross_session"
	EventNotRetained  Drift = "event_not_retained"
	UnsupportedAction Drift = "unsupported_action"
	OriginDrift       Drift = "origin_drift"
	PageDrift         Drift = "page_drift"
	TargetMissing     Drift = "target_missing"
	TargetAmbiguous   Drift = "target_ambiguous"
	ActionUnavailable Drift = "action_unavailable"
	StateDrift        Drift = "state_drift"
)

// Statuses of a verdict.
const (
	ConfirmationRequired = "confirmation_required"
	Validated            = "validated"
	Refused              = "refused"
)

// Request asks whether a recorded action would still meet its page.
type Request struct {
	SessionID id.Session
	TraceID   id.Trace
	Sequence  uint64
	Confirmed bool
}

// Current is the present state of the page the request is about.
type Current struct {
	Page Page
	// Elements are all elements of the present structure that can be targets.
	Elements []Element
}

// Plan describes the action without performing it.
type Plan struct {
	Schema             string         `json:"schema"`
	Status             string         `json:"status"`
	Drift              *Drift         `json:"drift"`
	SessionID          id.Session     `json:"session_id"`
	TraceID            id.Trace       `json:"trace_id"`
	Sequence           uint64         `json:"sequence"`
	Action             Kind           `json:"action"`
	Target             *Target        `json:"target,omitempty"`
	Parameters         map[string]any `json:"parameters,omitempty"`
	SideEffects        bool           `json:"side_effects"`
	Execution          string         `json:"execution"`
	ExecutionAvailable bool           `json:"execution_available"`
	Message            string         `json:"message"`
}

// Refusal says what no longer fits.
type Refusal struct {
	Schema             string   `json:"schema"`
	Status             string   `json:"status"`
	Drift              Drift    `json:"drift"`
	TraceID            id.Trace `json:"trace_id"`
	Sequence           uint64   `json:"sequence"`
	SideEffects        bool     `json:"side_effects"`
	Execution          string   `json:"execution"`
	ExecutionAvailable bool     `json:"execution_available"`
	Message            string   `json:"message"`
}

// Verdict is a plan or a refusal; exactly one is set. Both are successful answers.
type Verdict struct {
	Plan    *Plan
	Refusal *Refusal
}

// MarshalJSON writes the one that is set.
func (v Verdict) MarshalJSON() ([]byte, error) {
	if v.Refusal != nil {
		return json.Marshal(v.Refusal)
	}
	return json.Marshal(v.Plan)
}

// Validate compares a recorded action with the present page. It changes nothing, neither page nor trace.
func (r *Recorder) Validate(q Request, now Current) Verdict {
	if q.SessionID != r.session || q.TraceID != r.trace {
		return refuse(q, CrossSession)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.events, func(k kept) bool { return k.event.Sequence == q.Sequence })
	if i < 0 {
		return refuse(q, EventNotRetained)
	}
	item := r.events[i]
	if drift := r.drift(item, now); drift != "" {
		return refuse(q, drift)
	}
	return plan(q, item.event)
}

// drift decides in the order of the refusals; "" means that everything is as it was before the action.
func (r *Recorder) drift(item kept, now Current) Drift {
	event, state := item.event, r.key.state(now.Page)
	switch {
	case !event.Action.Replayable():
		return UnsupportedAction
	case state.Origin != event.Before.Origin:
		return OriginDrift
	case !state.HasPage || !event.Before.HasPage || state.URLFingerprint != event.Before.URLFingerprint:
		return PageDrift
	}
	if drift := r.targetDrift(item, now.Elements); drift != "" {
		return drift
	}
	if state.Fingerprint == "" || state.Fingerprint != event.Before.Fingerprint {
		return StateDrift
	}
	return ""
}

func (r *Recorder) targetDrift(item kept, elements []Element) Drift {
	target, action := item.event.Target, item.event.Action
	if target == nil {
		if action.needsTarget() {
			return TargetMissing
		}
		return ""
	}
	var alike []Element
	exact := 0
	for _, e := range elements {
		if r.key.shape(e) != item.shape {
			continue
		}
		alike = append(alike, e)
		if r.key.stable(e) == target.StableKey {
			exact++
		}
	}
	switch {
	case len(alike) == 0:
		return TargetMissing
	case len(alike) > 1:
		return TargetAmbiguous
	case action.needsTarget() && !slices.Contains(alike[0].Actions, action):
		return ActionUnavailable
	case exact == 0:
		// The element offers the action but not the same ones as before: it is not what was recorded.
		return TargetMissing
	}
	return ""
}

func refuse(q Request, drift Drift) Verdict {
	return Verdict{Refusal: &Refusal{
		Schema: Schema, Status: Refused, Drift: drift, TraceID: q.TraceID, Sequence: q.Sequence, Execution: Execution, Message: explanation(drift),
	}}
}

func explanation(drift Drift) string {
	switch drift {
	case CrossSession:
		return "the trace does not belong to the named session and page"
	case EventNotRetained:
		return "no event with this sequence is retained: it was evicted, cleared, dropped or never recorded"
	case UnsupportedAction:
		return "this action is no candidate for replay"
	case OriginDrift:
		return "the page's origin is not the one the action was recorded on"
	case PageDrift:
		return "the page's address is not the one the action was recorded on"
	case TargetMissing:
		return "the recorded target is not on the page"
	case TargetAmbiguous:
		return "several elements fit the recorded target"
	case ActionUnavailable:
		return "the target no longer offers the recorded action"
	case StateDrift:
		return "the page's content is not what it was before the action"
	}
	return ""
}

func plan(q Request, e Event) Verdict {
	p := Plan{
		Schema: Schema, Status: ConfirmationRequired, SessionID: q.SessionID, TraceID: q.TraceID, Sequence: q.Sequence, Action: e.Action, Target: e.Target,
		Execution: Execution, Message: "page, target and state fit the recorded action; confirm with confirmed=true to see the plan",
	}
	if q.Confirmed {
		p.Status, p.Parameters = Validated, e.Parameters
		p.Message = "page, target and state fit the recorded action; this version validates only and performs nothing"
	}
	return Verdict{Plan: &p}
}

// Package control is the life of an interaction: an action gets its identity, is resolved, dispatched,
// settled, observed and recorded. Dispatch, observation and recording are separate outcomes: what was
// dispatched never becomes an error that suggests repeating it.
package control

import (
	"context"
	"encoding/json"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

// Action is one request to change a page.
type Action struct {
	// Operation is the tool's name.
	Operation string
	SessionID id.Session
	TargetID  id.Target
	// Request is a pointer to the operation's request type in core/page.
	Request any
	// Interaction is the reserved identity, to be used if the action is dispatched.
	Interaction id.Interaction
	// Observe is false for operations that answer without an observation, and for steps of a batch whose
	// observation comes at the end.
	Observe bool
	// Screenshot asks for a post-action picture.
	Screenshot bool
}

// Prepared is a resolved action: what it will hit and the state before it. The driver owns its type.
type Prepared interface {
	// Parameters are the sanitized parameters for the record.
	Parameters() json.RawMessage
}

// Driver performs actions. One action of a page runs at a time.
type Driver interface {
	// Resolve finds and checks what the action is about without sending input. Its errors are failures
	// before dispatch.
	Resolve(ctx context.Context, a Action) (Prepared, error)
	// Dispatch sends the input. It calls sending right before the first input or command leaves; an error
	// without that call means that nothing was sent. The result is the operation's own result, nil when
	// it has none.
	Dispatch(ctx context.Context, a Action, p Prepared, sending func()) (any, error)
	// Settle waits for the completion the action calls for (a navigation, two animation frames), bounded.
	// It returns early when a dialog opens.
	Settle(ctx context.Context, a Action, p Prepared) (Settled, error)
	// Observe takes the live observation with postconditions. The observation is partial on error.
	Observe(ctx context.Context, a Action, p Prepared, s Settled) (page.Observation, error)
}

// Settled is what completion showed.
type Settled struct {
	// Navigation is the related navigation, "" when none began.
	Navigation id.Navigation
	// Rendezvous is false when the renderer's two animation frames were not observed in time.
	Rendezvous bool
	// DialogOpen: the action opened a dialog, so nothing else could be awaited.
	DialogOpen bool
}

// Sessions is what control needs to know about the running session.
type Sessions interface {
	// Current returns the running session and its clock; session_ended or invalid_lifecycle_transition
	// when there is none.
	Current() (id.Session, clock.Session, error)
	// GapsSince lists capture gaps of the page that began at or after t or still last.
	GapsSince(t id.Target, since clock.SessionTime) []id.Gap
	// CaptureFailure is the first failure of the page's capture stream, nil while it is well.
	CaptureFailure(t id.Target) error
}

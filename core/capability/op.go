package capability

import (
	"context"
	"reflect"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Kind says what an operation does to the world.
type Kind string

// The kinds.
const (
	// Read changes nothing.
	Read Kind = "read"
	// Change alters the page; it is recorded and answers with a live observation.
	Change Kind = "change"
	// Recorded is recorded as an interaction but answers without an observation.
	Recorded Kind = "recorded"
	// Lifecycle starts, stops or reconfigures the browser or the store.
	Lifecycle Kind = "lifecycle"
)

// Lane says how an operation shares a page with others.
type Lane string

// The lanes.
const (
	// Free operations run at any time.
	Free Lane = "free"
	// Observing operations run concurrently with everything.
	Observing Lane = "observing"
	// Mutating operations run one at a time for each page, in arrival order.
	Mutating Lane = "mutating"
)

// Spec is the declared part of an operation.
type Spec struct {
	// Name is the tool's name, lower case with underscores.
	Name       string
	Capability Name
	Kind       Kind
	// Lane is the usual lane; LaneOf may refine it for one request.
	Lane Lane
	// Batchable operations may be steps of a batch.
	Batchable bool
	// Lean operations belong to the lean tool set.
	Lean bool
	// Tiers: the result has detail tiers, so the tool takes a detail argument.
	Tiers bool
	// Pictures: the answer can carry pictures, so the tool takes inline_images.
	Pictures bool
	// PicturesByDefault: pictures are inline unless inline_images is false.
	PicturesByDefault bool
	// Destructive, Idempotent and OpenWorld are the tool's annotation hints; ReadOnly follows from Kind.
	Destructive, Idempotent, OpenWorld bool
	// StartsBrowser operations start the default browser when none was ever started.
	StartsBrowser bool
	// OwnDeadline operations bound their own time; all others end after RequestDeadline.
	OwnDeadline bool
	// Title is a short name for people; Summary the description for the model: what it does and its limits.
	Title, Summary string
}

// Op is one operation: the unit that tools, batch steps and documentation are made from.
type Op struct {
	Spec
	request reflect.Type
	result  reflect.Type
	run     func(ctx context.Context, request any) (Outcome, error)
}

// PageScoped requests are about one page: that of their target, that of their node references, or the
// selected page. The executor resolves it once and writes it back before the operation runs.
type PageScoped interface {
	PageTarget() id.Target
	// PageRefs are the node references in the request, "" entries are ignored.
	PageRefs() []string
	SetPageTarget(t id.Target)
}

// Validated requests check what a schema cannot say and fill in defaults, before anything is resolved.
type Validated interface{ Validate() error }

// Laned requests refine their operation's lane.
type Laned interface{ RequestLane() Lane }

// Define makes an operation from its declaration and function. Req is a struct whose JSON fields are the
// tool's arguments; Res is the type of Outcome.Result. A returned error makes the operation fail;
// whatever the Outcome holds besides is kept in the answer.
func Define[Req, Res any](spec Spec, run func(ctx context.Context, request *Req) (Outcome, error)) Op {
	return Op{
		Spec:    spec,
		request: reflect.TypeFor[Req](),
		result:  reflect.TypeFor[Res](),
		run: func(ctx context.Context, request any) (Outcome, error) {
			typed, ok := request.(*Req)
			if !ok {
				return Outcome{}, fault.New(fault.Internal, "operation %s was given a request of another operation", spec.Name)
			}
			return run(ctx, typed)
		},
	}
}

// RequestType is the struct type of the arguments.
func (o Op) RequestType() reflect.Type { return o.request }

// ResultType is the type of a successful result.
func (o Op) ResultType() reflect.Type { return o.result }

// NewRequest returns a pointer to a zero request for decoding into.
func (o Op) NewRequest() any { return reflect.New(o.request).Interface() }

// LaneFor is the lane of one request.
func (o Op) LaneFor(request any) Lane {
	if l, ok := request.(Laned); ok {
		return l.RequestLane()
	}
	return o.Lane
}

// Run executes the operation on a request made by NewRequest. Use an Executor, which adds lanes and the
// treatment of failures.
func (o Op) Run(ctx context.Context, request any) (Outcome, error) { return o.run(ctx, request) }

// AnswerStatus is how an operation went.
type AnswerStatus string

// The statuses of an answer.
const (
	Succeeded AnswerStatus = "succeeded"
	Degraded  AnswerStatus = "degraded"
	Failed    AnswerStatus = "failed"
)

// Outcome is everything an operation answers. The zero value with a Result is a success.
type Outcome struct {
	// Status "" counts as succeeded.
	Status AnswerStatus
	// Result is the complete result; projections to detail tiers happen when it is shown.
	Result      any
	Interaction *InteractionRef
	Range       *evidence.ResolvedRange
	RangeHandle id.RangeHandle
	Warnings    []*fault.Error
	Pictures    []evidence.Picture
	Resources   []evidence.Resource
	// Err is set when Status is failed; for degraded it names the incomplete part.
	Err *fault.Error
	// Notes are short facts for the agent that are neither result nor warning ("started the default browser").
	Notes []string
	// Next are hints for the agent's next call, without the leading "next:".
	Next []string
	// Stage names the step that failed or degraded, for diagnostics.
	Stage string
}

// InteractionRef identifies an interaction in an answer. Times are nil for intervals that never happened.
type InteractionRef struct {
	ID           id.Interaction      `json:"id"`
	SessionID    id.Session          `json:"session_id"`
	TargetID     id.Target           `json:"target_id"`
	Operation    string              `json:"operation"`
	Outcome      record.Outcome      `json:"outcome,omitempty"`
	StartedNS    *clock.SessionTime  `json:"started_ns,omitempty"`
	DispatchedNS *clock.SessionTime  `json:"dispatched_ns,omitempty"`
	CompletedNS  *clock.SessionTime  `json:"completed_ns,omitempty"`
	ObservedNS   *clock.SessionTime  `json:"observed_ns,omitempty"`
	Batch        id.Batch            `json:"batch_id,omitempty"`
	Record       *record.Interaction `json:"record,omitempty"`
}

package control

import (
	"context"
	"encoding/json"
	"time"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

type batchKey struct{}

func batchOf(ctx context.Context) id.Batch {
	b, _ := ctx.Value(batchKey{}).(id.Batch)
	return b
}

func inBatch(ctx context.Context) bool { return batchOf(ctx) != "" }

// Execute runs one operation by name on raw arguments, as the composition root wires it: decode, validate,
// lane, run.
type Execute func(ctx context.Context, name string, arguments json.RawMessage) capability.Outcome

// Inspector takes observations outside of an action.
type Inspector interface {
	// Observe takes a live observation of a page; screenshot asks for a picture of the given role.
	Observe(ctx context.Context, t id.Target, screenshot bool) (page.Observation, error)
}

// BatchResult is the evidence of every step, the same shape for success, failure and time-out.
type BatchResult struct {
	ID      id.Batch          `json:"batch_id"`
	Outcome string            `json:"outcome"`
	Steps   []StepResult      `json:"steps"`
	Final   *page.Observation `json:"final_observation,omitempty"`
}

// StepResult is one step's evidence.
type StepResult struct {
	Index       int                        `json:"index"`
	Tool        string                     `json:"tool"`
	Status      string                     `json:"status"`
	StartedNS   *clock.SessionTime         `json:"started_ns,omitempty"`
	EndedNS     *clock.SessionTime         `json:"ended_ns,omitempty"`
	Interaction *capability.InteractionRef `json:"interaction,omitempty"`
	Result      any                        `json:"result,omitempty"`
	Error       *fault.Error               `json:"error,omitempty"`
	SkipReason  string                     `json:"skip_reason,omitempty"`
	Screenshot  *page.Screenshot           `json:"screenshot,omitempty"`
}

// Outcomes of a batch.
const (
	BatchCompleted     = "completed"
	BatchWithFailures  = "completed_with_failures"
	BatchStopped       = "stopped_on_failure"
	BatchTimedOut      = "timed_out"
	BatchCancelled     = "cancelled"
	defaultBatchBudget = 25 * time.Second
)

// Batch runs steps in order.
type Batch struct {
	execute   Execute
	inspector Inspector
	sessions  Sessions
	registry  *capability.Registry
}

// NewBatch returns a batch runner. The registry may be set later, because batch itself is one of its
// operations; SetRegistry must be called before the first Run.
func NewBatch(execute Execute, inspector Inspector, sessions Sessions) *Batch {
	return &Batch{execute: execute, inspector: inspector, sessions: sessions}
}

// SetRegistry names the operations that steps may use.
func (b *Batch) SetRegistry(r *capability.Registry) { b.registry = r }

// Run executes the batch; the caller holds the page's lane.
func (b *Batch) Run(ctx context.Context, req *page.BatchRequest) (capability.Outcome, error) {
	if err := b.validate(req); err != nil {
		return capability.Outcome{Stage: "decode"}, err
	}
	_, clk, err := b.sessions.Current()
	if err != nil {
		return capability.Outcome{Stage: "session"}, err
	}
	budget := defaultBatchBudget
	if req.TimeoutMS > 0 {
		budget = time.Duration(req.TimeoutMS) * time.Millisecond
	}
	bounded, cancel := clock.WithTimeout(ctx, clk.Clock(), budget)
	defer cancel()
	x := &batchRun{Batch: b, req: req, clock: clk, result: BatchResult{ID: id.New[id.Batch](), Steps: []StepResult{}}}
	x.steps(context.WithValue(bounded, batchKey{}, x.result.ID))
	return x.answer(ctx)
}

func (b *Batch) validate(req *page.BatchRequest) error {
	for i, s := range req.Steps {
		op, ok := b.registry.Op(s.Tool)
		path := stepPath(i)
		switch {
		case !ok:
			return fault.Input(path+".tool", "is no tool of this configuration")
		case s.Tool == "batch":
			return fault.Input(path+".tool", "a batch cannot contain a batch")
		case !op.Batchable:
			return fault.Input(path+".tool", "is not a batchable tool")
		}
	}
	return nil
}

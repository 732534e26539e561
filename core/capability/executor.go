package capability

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// RequestDeadline bounds every operation that does not bound itself.
const RequestDeadline = 60 * time.Second

// Pages is what the executor needs to know about the browser.
type Pages interface {
	// ResolvePage returns the page a request is about: target when given, else the page of the references,
	// else the selected page. A reference of another page than target is invalid_input naming both.
	// Without a browser it fails with invalid_lifecycle_transition or session_ended.
	ResolvePage(ctx context.Context, target id.Target, refs []string) (id.Target, error)
	// EnsureStarted starts the default browser when none was ever started; started says that it did.
	EnsureStarted(ctx context.Context) (started bool, err error)
}

// Executor runs operations: it finds the page, enters its lane, bounds the time and turns every error and
// panic into a failed outcome. Safe for concurrent use.
type Executor struct {
	lanes *Lanes
	pages Pages
	clock clock.Clock
	log   *slog.Logger
}

// NewExecutor returns an executor. pages may be nil when no operation is page-scoped.
func NewExecutor(c clock.Clock, pages Pages, log *slog.Logger) *Executor {
	return &Executor{lanes: NewLanes(c), pages: pages, clock: c, log: log}
}

// Execute runs op on a request of its type. The outcome always has a status.
func (e *Executor) Execute(ctx context.Context, op Op, request any) Outcome {
	if !op.OwnDeadline {
		bounded, cancel := clock.WithTimeout(ctx, e.clock, RequestDeadline)
		defer cancel()
		ctx = bounded
	}
	out, err := e.inLane(ctx, op, request)
	return e.settle(op, out, err)
}

func (e *Executor) inLane(ctx context.Context, op Op, request any) (out Outcome, err error) {
	if v, ok := request.(Validated); ok {
		if err := v.Validate(); err != nil {
			return Outcome{Stage: "decode"}, err
		}
	}
	var notes []string
	if op.StartsBrowser {
		started, err := e.pages.EnsureStarted(ctx)
		if err != nil {
			return Outcome{Stage: "start_browser"}, err
		}
		if started {
			notes = append(notes, "started the default browser")
		}
	}
	page, err := e.page(ctx, request)
	if err != nil {
		return Outcome{Stage: "resolve"}, err
	}
	if op.LaneFor(request) == Mutating {
		held, leave, err := e.lanes.enterHeld(ctx, page, op.Name)
		if err != nil {
			return Outcome{Stage: "queue"}, err
		}
		defer leave()
		ctx = held
	}
	out, err = e.call(ctx, op, request)
	out.Notes = append(notes, out.Notes...)
	return out, err
}

func (e *Executor) page(ctx context.Context, request any) (id.Target, error) {
	scoped, ok := request.(PageScoped)
	if !ok {
		return "", nil
	}
	page, err := e.pages.ResolvePage(ctx, scoped.PageTarget(), scoped.PageRefs())
	if err != nil {
		return "", err
	}
	scoped.SetPageTarget(page)
	return page, nil
}

// call runs the operation; a panic is logged with a correlation number and becomes internal.
func (e *Executor) call(ctx context.Context, op Op, request any) (out Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			correlation := id.New[id.Observation]()[4:]
			e.log.ErrorContext(ctx, "operation panicked", "operation", op.Name, "correlation", string(correlation),
				"panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			out, err = Outcome{Stage: "run"}, fault.New(fault.Internal, "%s failed inside the program (correlation %s)", op.Name, correlation).
				WithRecovery("check the page with snapshot_page; the log has the details")
		}
	}()
	return op.Run(ctx, request)
}

// settle gives the outcome its status and every failure its fault.
func (e *Executor) settle(op Op, out Outcome, err error) Outcome {
	if err != nil {
		out.Status, out.Err = Failed, e.fault(op, err)
	}
	switch {
	case out.Status != "":
	case out.Err != nil:
		out.Status = Failed
	default:
		out.Status = Succeeded
	}
	out.Warnings = distinct(out.Warnings)
	return out
}

func (e *Executor) fault(op Op, err error) *fault.Error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.PageUnresponsive, "%s did not end within its time limit", op.Name).
			WithRecovery("check the page with browser_status; reload or close it")
	case errors.Is(err, context.Canceled):
		return fault.New(fault.Cancelled, "%s was cancelled before it ended", op.Name)
	}
	e.log.Error("operation failed", "operation", op.Name, "error", err)
	return fault.From(err)
}

// distinct drops repeated warnings; equal means same code, message and context.
func distinct(warnings []*fault.Error) []*fault.Error {
	seen := map[string]bool{}
	var kept []*fault.Error
	for _, w := range warnings {
		key := w.Error()
		if w.Context != nil {
			key += fmt.Sprintf("|%s|%s|%s", w.Context.SessionID, w.Context.TargetID, w.Context.InteractionID)
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, w)
		}
	}
	return kept
}

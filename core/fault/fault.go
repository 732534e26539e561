// Package fault is the error vocabulary of the program: a stable code, a sentence for the agent, the
// affected thing, retry advice and the next step. Adapters make a fault where the fact is known; the
// MCP module shows it once. Messages never hold input values, paths, page text or operating-system text;
// those belong into the cause, which is logged and never shown.
package fault

import (
	"errors"
	"fmt"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// Error is one failure or warning. Make it with New and the With methods; it is immutable afterwards
// and safe to share.
type Error struct {
	Code        Code         `json:"code"`
	Message     string       `json:"message"`
	Context     *Context     `json:"context,omitempty"`
	Retry       Retry        `json:"retry"`
	Recovery    string       `json:"recovery,omitempty"`
	Limit       *Limit       `json:"limit,omitempty"`
	Persistence *Persistence `json:"persistence,omitempty"`

	cause error
}

// Context names what was affected.
type Context struct {
	SessionID     id.Session     `json:"session_id,omitempty"`
	TargetID      id.Target      `json:"target_id,omitempty"`
	InteractionID id.Interaction `json:"interaction_id,omitempty"`
	Range         *Range         `json:"range,omitempty"`
}

// Range is an interval of session time in nanoseconds.
type Range struct {
	StartNS clock.SessionTime `json:"start_ns"`
	EndNS   clock.SessionTime `json:"end_ns"`
}

// Limit names a bounded subject, what was asked and what is allowed, both in Subject's unit.
type Limit struct {
	Subject   string `json:"subject"`
	Actual    int64  `json:"actual"`
	Limit     int64  `json:"limit"`
	TryAtMost int64  `json:"try_at_most,omitempty"`
}

// Persistence classifies a storage failure without paths or system text.
type Persistence struct {
	// Operation is one of create, write, flush, sync, rename, sync_directory, index.
	Operation string `json:"operation"`
	// Category is one of storage_full, permission, io, corrupt, limit, unknown.
	Category string `json:"category"`
	// Recoverability is writer_usable (a new browser session works) or writer_terminal (restart the process).
	Recoverability string `json:"recoverability"`
}

// New returns a fault with the code's usual retry advice.
func New(code Code, format string, args ...any) *Error {
	retry := Never
	if r, ok := defaultRetry[code]; ok {
		retry = r
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Retry: retry}
}

// Error implements error.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause, for logs and errors.Is.
func (e *Error) Unwrap() error { return e.cause }

// Because returns a copy that keeps cause for the log.
func (e *Error) Because(cause error) *Error { c := *e; c.cause = cause; return &c }

// WithRetry returns a copy with other retry advice.
func (e *Error) WithRetry(r Retry) *Error { c := *e; c.Retry = r; return &c }

// WithRecovery returns a copy that names the next step.
func (e *Error) WithRecovery(format string, args ...any) *Error {
	c := *e
	c.Recovery = fmt.Sprintf(format, args...)
	return &c
}

// WithLimit returns a copy that names the exceeded limit; tryAtMost 0 means no fitting suggestion.
func (e *Error) WithLimit(subject string, actual, limit, tryAtMost int64) *Error {
	c := *e
	c.Limit = &Limit{Subject: subject, Actual: actual, Limit: limit, TryAtMost: tryAtMost}
	return &c
}

// WithPersistence returns a copy that classifies a storage failure.
func (e *Error) WithPersistence(operation, category, recoverability string) *Error {
	c := *e
	c.Persistence = &Persistence{Operation: operation, Category: category, Recoverability: recoverability}
	return &c
}

// About returns a copy whose context has the non-zero fields of ctx added.
func (e *Error) About(ctx Context) *Error {
	c := *e
	merged := Context{}
	if e.Context != nil {
		merged = *e.Context
	}
	if ctx.SessionID != "" {
		merged.SessionID = ctx.SessionID
	}
	if ctx.TargetID != "" {
		merged.TargetID = ctx.TargetID
	}
	if ctx.InteractionID != "" {
		merged.InteractionID = ctx.InteractionID
	}
	if ctx.Range != nil {
		merged.Range = ctx.Range
	}
	c.Context = &merged
	return &c
}

// Input returns an invalid_input fault for the argument at path (for example "steps[2].tool") that broke rule.
func Input(path, rule string) *Error {
	return New(InvalidInput, "argument %s: %s", path, rule).WithRecovery("correct %s and call again", path)
}

// CodeOf returns the code of the first fault in err's chain; Internal for any other error, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if f, ok := errors.AsType[*Error](err); ok {
		return f.Code
	}
	return Internal
}

// From returns the first fault in err's chain, or an internal fault that keeps err as its cause. nil gives nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Error](err); ok {
		return f
	}
	return New(Internal, "an internal error occurred").Because(err)
}

// Is makes errors.Is(err, fault.New(code, "")) compare codes.
func (e *Error) Is(target error) bool {
	var f *Error
	return errors.As(target, &f) && f.Code == e.Code
}

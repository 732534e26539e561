package page

import (
	"context"
	"errors"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
)

// DefaultDeadline bounds one command unless the caller names another bound.
const DefaultDeadline = 5 * time.Second

// ErrInterrupted is in the chain of an error whose command had been sent: its effect may have happened.
// An error without it means that nothing was sent.
var ErrInterrupted = errors.New("the command had been sent")

// Versions name the browser in faults about missing commands.
type Versions struct{ Browser, Protocol string }

// Pending is a sent command of a page.
type Pending struct {
	session  *Session
	pending  *cdp.Pending
	waiter   *waiter
	ctx      context.Context //nolint:containedctx // carries the gate's cancellation from Start to Wait
	cancel   context.CancelCauseFunc
	deadline time.Duration
}

// Send sends a command and waits at most DefaultDeadline for its result, which is decoded into result
// unless that is nil. It fails at once while a dialog is open (dialog_open) or after a crash
// (target_failed), also when that happens during the wait. Other outcomes: page_unresponsive after the
// deadline, unsupported for a command this browser lacks, browser_disconnected, cancelled, and *cdp.Error
// for any other refusal by the browser.
func (s *Session) Send(ctx context.Context, method string, params, result any) error {
	return s.SendWithin(ctx, DefaultDeadline, method, params, result)
}

// SendWithin is Send with a deadline of d.
func (s *Session) SendWithin(ctx context.Context, d time.Duration, method string, params, result any) error {
	p, err := s.StartWithin(ctx, d, method, params)
	if err != nil {
		return err
	}
	return p.Wait(result)
}

// Start sends a command without waiting; commands started one after another arrive in that order. Wait must
// be called.
func (s *Session) Start(ctx context.Context, method string, params any) (*Pending, error) {
	return s.StartWithin(ctx, DefaultDeadline, method, params)
}

// StartWithin is Start with a deadline of d, which runs from now.
func (s *Session) StartWithin(ctx context.Context, d time.Duration, method string, params any) (*Pending, error) {
	if ctx.Err() != nil {
		return nil, s.translate(method, context.Cause(ctx), false)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w, err := s.gate.enter(method, cancel)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	p := &Pending{session: s, waiter: w, ctx: ctx, cancel: cancel, deadline: d}
	timed, stop := clock.WithTimeout(ctx, s.clock.Clock(), d)
	p.ctx = timed
	p.cancel = func(cause error) { stop(); cancel(cause) }
	p.pending, err = s.client.Start(s.id, method, params)
	if err != nil {
		p.end()
		return nil, s.translate(method, err, false)
	}
	return p, nil
}

// Wait waits for the result as Send does. Call it once.
func (p *Pending) Wait(result any) error {
	defer p.end()
	err := p.pending.Wait(p.ctx, result)
	return p.session.translate(p.pending.Method(), err, true)
}

func (p *Pending) end() {
	p.session.gate.leave(p.waiter)
	p.cancel(nil)
}

func (s *Session) translate(method string, err error, sent bool) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return err // the gate's
	}
	f = commandFault(method, err, s.versions, sent)
	if f == nil {
		return err
	}
	if n, ok := s.Navigation(); ok && f.Code == fault.PageUnresponsive && n.State == NavStarted {
		// The browser holds all commands to a page back while a navigation waits for the server's answer.
		f.Message = "the page waits for the answer to a navigation that has started, and answers nothing until then (" + method + ")"
		f.Recovery = "wait with navigation=complete, or navigate_to another address"
	}
	return f.About(s.gate.about)
}

// commandFault names the failures that are not the command's own business; nil for refusals.
func commandFault(method string, err error, v Versions, sent bool) *fault.Error {
	cause := err
	if sent {
		cause = errors.Join(err, ErrInterrupted)
	}
	var refusal *cdp.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == cdp.CodeMethodNotFound:
		return fault.New(fault.Unsupported, "the browser does not support %s (%s, protocol %s)", method, v.Browser, v.Protocol).
			WithRecovery("use a newer Chrome or Chromium").Because(err)
	case errors.As(err, &refusal) && refusal.Code == cdp.CodeSessionGone:
		return fault.New(fault.TargetFailed, "the page was closed").
			WithRecovery("list_pages shows the open pages").WithRetry(fault.Never).Because(cause)
	case refusal != nil:
		return nil
	case errors.Is(err, cdp.ErrClosed):
		return fault.New(fault.BrowserDisconnected, "the connection to the browser was lost").
			WithRecovery("browser_status shows whether it comes back; else start_browser").Because(cause)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.PageUnresponsive, "the page did not answer %s in time", method).
			WithRecovery("wait, reload or close the page").Because(cause)
	case errors.Is(err, context.Canceled):
		f := fault.New(fault.Cancelled, "the request was cancelled").Because(cause)
		if sent {
			f = f.WithRetry(fault.Never)
		}
		return f
	}
	return nil
}

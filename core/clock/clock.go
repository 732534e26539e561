// Package clock is the one source of time: a port that tests and the harness can drive.
package clock

import (
	"context"
	"time"
)

// SessionTime counts nanoseconds of the monotonic clock since a session began.
type SessionTime int64

// Duration returns t as a duration since the session began.
func (t SessionTime) Duration() time.Duration { return time.Duration(t) }

// Add returns t moved by d.
func (t SessionTime) Add(d time.Duration) SessionTime { return t + SessionTime(d) }

// Sub returns the duration from u to t.
func (t SessionTime) Sub(u SessionTime) time.Duration { return time.Duration(t - u) }

// Clock is the port. All methods may be called concurrently.
type Clock interface {
	// Wall is the wall-clock time. It may jump.
	Wall() time.Time
	// Mono is the monotonic time since an arbitrary fixed origin of this process. It never goes back.
	Mono() time.Duration
	// AfterFunc calls f in its own goroutine once d has elapsed, unless the timer is stopped first.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending AfterFunc.
type Timer interface {
	// Stop prevents the call and reports whether it did.
	Stop() bool
}

// System returns the clock of the operating system.
func System() Clock { return system{origin: time.Now()} }

type system struct{ origin time.Time }

func (system) Wall() time.Time       { return time.Now() }
func (s system) Mono() time.Duration { return time.Since(s.origin) }
func (system) AfterFunc(d time.Duration, f func()) Timer {
	return time.AfterFunc(d, f)
}

// Session maps the monotonic clock to the time of one session. It is immutable.
type Session struct {
	clock  Clock
	origin time.Duration
}

// Begin starts a session clock at zero, now.
func Begin(c Clock) Session { return Session{clock: c, origin: c.Mono()} }

// Clock returns the underlying clock.
func (s Session) Clock() Clock { return s.clock }

// Now returns the present session time.
func (s Session) Now() SessionTime { return s.At(s.clock.Mono()) }

// At converts a reading of Clock.Mono.
func (s Session) At(mono time.Duration) SessionTime { return SessionTime(mono - s.origin) }

// Mono converts back to a reading of Clock.Mono.
func (s Session) Mono(t SessionTime) time.Duration { return s.origin + time.Duration(t) }

// WithTimeout is context.WithTimeout on c: the context ends with context.DeadlineExceeded as its
// cause after d. The caller must call cancel.
func WithTimeout(ctx context.Context, c Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := c.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// Wait blocks until d has elapsed on c or ctx ends, and then returns the cause of ctx.
func Wait(ctx context.Context, c Clock, d time.Duration) error {
	done := make(chan struct{})
	timer := c.AfterFunc(d, func() { close(done) })
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

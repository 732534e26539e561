package stdio

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
)

const (
	// finishGrace is how long requests may go on after the end of input before they are cancelled.
	finishGrace = 15 * time.Second
	// drainReserve is the part of the budget that requests cannot use up: the browser gets at least this long.
	drainReserve = 12 * time.Second
)

// end stops admission and ends everything within the budget.
func (c *conn) end(ctx context.Context) error {
	c.requests.close()
	budget, cancel := clock.WithTimeout(c.base, c.loop.clock, ShutdownBudget)
	defer cancel()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		c.requests.waiters.Wait()
	}()
	c.endRequests(ctx, budget, idle)
	drained := c.drain(budget)
	// What the drain took away from a request lets it end now.
	select {
	case <-idle:
	case <-budget.Done():
	}
	unfinished := c.requests.labels()
	if !drained {
		unfinished = append(unfinished, "browser cleanup")
	}
	c.flush(budget)
	if len(unfinished) > 0 {
		return fault.New(fault.ShutdownIncomplete, "cleanup incomplete: %s", strings.Join(unfinished, ", ")).
			WithRecovery("look for a browser process that was left behind before starting again")
	}
	return nil
}

// endRequests returns when no request is left or only the drain's reserve is.
func (c *conn) endRequests(ctx, budget context.Context, idle <-chan struct{}) {
	phase, cancel := clock.WithTimeout(budget, c.loop.clock, ShutdownBudget-drainReserve)
	defer cancel()
	grace, stop := clock.WithTimeout(phase, c.loop.clock, finishGrace)
	defer stop()
	select {
	case <-idle:
		return
	case <-ctx.Done():
	case <-c.out.broken:
	case <-grace.Done():
	}
	c.requests.cancelAll()
	select {
	case <-idle:
	case <-phase.Done():
	}
}

// drain runs the hook and reports whether it ended well within the budget.
func (c *conn) drain(budget context.Context) bool {
	result := make(chan error, 1)
	go func() { result <- c.runDrain(budget) }()
	select {
	case err := <-result:
		if err != nil {
			c.loop.log.Error("cleanup failed", "error", err)
		}
		return err == nil
	case <-budget.Done():
		return false
	}
}

// runDrain turns a panic of the hook into an error: the last responses still have to be written.
func (c *conn) runDrain(budget context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "cleanup panicked with a %T", p)
			c.loop.log.Error("cleanup panicked", "stack", string(debug.Stack()))
		}
	}()
	return c.loop.drain(budget)
}

// flush writes what the client still reads and drops the rest.
func (c *conn) flush(budget context.Context) {
	unread := c.out.flush(budget, c.loop.clock)
	if dropped := c.out.close(); dropped > 0 || unread > 0 {
		c.loop.log.Warn("output was dropped", "lines", dropped, "unread_bytes", unread)
		return
	}
	<-c.out.done
}

package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/mcp/stdio"
)

// heartbeatInterval is how often a client that asked for progress hears of a call that says nothing of its own.
const heartbeatInterval = time.Second

// progress lets a call report how far it has come, until stop. A call that reports nothing is said to run, in
// seconds, with what it last said it was doing; its own counts replace that. Clients that gave no progress token hear
// nothing.
func (s *Server) progress(ctx context.Context, name string) (inner context.Context, stop func()) {
	if !stdio.WantsProgress(ctx) {
		return ctx, func() {}
	}
	b := &beat{ctx: ctx, clock: s.clock, text: name + " is running"}
	b.schedule()
	inner = capability.WithReporter(ctx, func(state string) { b.say(name + ": " + state) })
	return capability.WithProgress(inner, b.report), b.stop
}

// beat owns one timer at a time; stop ends it.
type beat struct {
	ctx   context.Context //nolint:containedctx // the request's own, for as long as its handler runs
	clock clock.Clock

	mu      sync.Mutex
	text    string
	timer   clock.Timer
	seconds float64
	stopped bool
}

func (b *beat) schedule() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.stopped {
		b.timer = b.clock.AfterFunc(heartbeatInterval, b.tick)
	}
}

func (b *beat) tick() {
	b.mu.Lock()
	if b.stopped {
		b.mu.Unlock()
		return
	}
	b.seconds += heartbeatInterval.Seconds()
	stdio.Progress(b.ctx, b.seconds, 0, b.text)
	b.mu.Unlock()
	b.schedule()
}

// report passes the call's own progress on. Seconds heard before count as progress already made, because the
// protocol wants numbers that grow: done and total are shifted by them.
func (b *beat) report(done, total float64, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.halt()
	if total > 0 {
		total += b.seconds
	}
	stdio.Progress(b.ctx, b.seconds+done, total, text)
}

// say replaces the text of the next heartbeats.
func (b *beat) say(text string) {
	b.mu.Lock()
	b.text = text
	b.mu.Unlock()
}

func (b *beat) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.halt()
}

// halt ends the heartbeat; b.mu is held.
func (b *beat) halt() {
	if !b.stopped {
		b.stopped = true
		b.timer.Stop()
	}
}

package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/mcp/stdio"
)

// heartbeatInterval is how often a client that asked for progress hears of a call that goes on.
const heartbeatInterval = time.Second

// heartbeat reports seconds of a call under way until stop, with what the operation last reported. Calls shorter
// than the interval report nothing, and clients that gave no progress token hear nothing. The operation runs with the
// returned context.
func (s *Server) heartbeat(ctx context.Context, name string) (reporting context.Context, stop func()) {
	if !stdio.WantsProgress(ctx) {
		return ctx, func() {}
	}
	b := &beat{ctx: ctx, clock: s.clock, text: name + " is running"}
	b.schedule()
	return capability.WithReporter(ctx, func(state string) { b.say(name + ": " + state) }), b.stop
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

// say replaces the text of the next reports.
func (b *beat) say(text string) {
	b.mu.Lock()
	b.text = text
	b.mu.Unlock()
}

func (b *beat) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.timer.Stop()
}

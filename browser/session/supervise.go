package session

import (
	"context"
	"time"

	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

const (
	// lastPageGrace is how long a session lives without a page: a page may close just before another opens.
	lastPageGrace = 300 * time.Millisecond
	// sampleEvery is the interval of clock samples.
	sampleEvery = 10 * time.Second
	// suspendJump is the difference between wall and monotonic time that shows a suspend or a clock change.
	suspendJump = 2 * time.Second
)

// supervise watches the connection and the pages until the session ends, and ends it when they are gone.
func (l *live) supervise() {
	for !l.stopping() {
		_, registry := l.connection()
		v := registry.View()
		switch {
		case ended(registry):
			if cause := l.reconnect(); cause != nil {
				l.browser.endByItself(l, cause)
				return
			}
			continue
		case len(v.Pages) == 0 && v.Closed > 0:
			if l.stayedEmpty(registry) {
				l.browser.endByItself(l, fault.New(fault.SessionEnded, "its last page was closed"))
				return
			}
			continue
		}
		select {
		case <-l.stop:
			return
		case <-registry.Done():
		case <-v.Changed():
		}
	}
}

func ended(r *target.Registry) bool {
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}

// stayedEmpty waits out the grace and reports whether no page has appeared.
func (l *live) stayedEmpty(registry *target.Registry) bool {
	ctx, cancel := l.whileAlive()
	defer cancel()
	ctx, cancelGrace := clock.WithTimeout(ctx, l.browser.deps.Clock, lastPageGrace)
	defer cancelGrace()
	v, _ := registry.Wait(ctx, func(v *target.View) bool { return len(v.Pages) > 0 })
	select {
	case <-l.stop:
		return false
	default:
		return len(v.Pages) == 0 && !ended(registry)
	}
}

// whileAlive is a context that ends with the session.
func (l *live) whileAlive() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-l.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// endByItself ends the session for cause unless somebody is ending it already.
func (b *Browser) endByItself(l *live, cause *fault.Error) {
	select {
	case b.transition <- struct{}{}:
		defer func() { <-b.transition }()
	case <-l.stop:
		return
	}
	if l.stopping() {
		return
	}
	l.mu.Lock()
	l.end = cause.About(fault.Context{SessionID: l.id})
	l.mu.Unlock()
	b.setState(corepage.StateStopping)
	b.deps.Logger.Info("the session ended", "code", string(cause.Code))
	outcome := l.finish()
	l.mu.Lock()
	l.outcome = outcome
	l.mu.Unlock()
	b.setState(corepage.StateEnded)
}

func (l *live) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// sample pairs wall and session time now and then, and finds the times in which the machine slept. last is the sample that
// the session began with.
func (l *live) sample(last record.ClockSample) {
	ctx, cancel := l.whileAlive()
	defer cancel()
	c := l.browser.deps.Clock
	for clock.Wait(ctx, c, sampleEvery) == nil {
		next := l.putSample()
		slept := time.Duration(next.WallNS-last.WallNS) - next.AtNS.Sub(last.AtNS)
		if slept > suspendJump || slept < -suspendJump {
			l.recorder.Suspended(last.AtNS, next.AtNS)
		}
		last = next
	}
}

func (l *live) putSample() record.ClockSample {
	s := record.ClockSample{SessionID: l.id, WallNS: l.browser.deps.Clock.Wall().UnixNano(), AtNS: l.clock.Now()}
	_ = l.facts.Put(context.Background(), s)
	return s
}

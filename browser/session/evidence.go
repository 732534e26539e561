package session

import (
	"context"
	"time"

	"github.com/krometrail/krometrail/browser/target"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
)

// busyRate is the cadence in frames a second above which a page keeps the machine busy.
const busyRate = 10

// Running returns the running session, its clock and its selected page; ok is false when there is none.
func (b *Browser) Running() (s id.Session, c clock.Session, selected id.Target, ok bool) {
	l, err := b.running()
	if err != nil {
		return "", clock.Session{}, "", false
	}
	return l.id, l.clock, l.view().Selected, true
}

// Lag is the 95th percentile of receipt minus presentation of the page's recent frames.
func (b *Browser) Lag(t id.Target) time.Duration {
	for _, stream := range b.streams() {
		if stream.TargetID == t {
			return time.Duration(stream.LagP95MS * float64(time.Millisecond))
		}
	}
	return 0
}

// Recording reports whether any page sends frames above busyRate.
func (b *Browser) Recording() bool {
	for _, stream := range b.streams() {
		if stream.FramesPerSecond > busyRate {
			return true
		}
	}
	return false
}

func (b *Browser) streams() []corepage.CaptureTarget {
	l, err := b.running()
	if err != nil {
		return nil
	}
	return l.recorder.Status()
}

// AwaitPage returns as soon as a page has appeared after the cursor, or when ctx ends.
func (b *Browser) AwaitPage(ctx context.Context, cursor string) {
	l, err := b.running()
	if err != nil {
		return
	}
	after, err := l.parseCursor(cursor)
	if err != nil {
		return
	}
	_, registry := l.connection()
	_, _ = registry.Wait(ctx, func(v *target.View) bool {
		_, ok := firstAfter(v, after, "")
		return ok
	})
}

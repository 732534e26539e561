// Package coretest holds the test doubles of core's ports.
package coretest

import (
	"sort"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/clock"
)

// Clock is a clock that moves only when told to. The zero value is not usable; call NewClock.
type Clock struct {
	mu     sync.Mutex
	wall   time.Time
	mono   time.Duration
	timers []*timer
	change chan struct{}
}

var _ clock.Clock = (*Clock)(nil)

// NewClock returns a clock that stands at wall and a monotonic time of zero.
func NewClock(wall time.Time) *Clock {
	return &Clock{wall: wall, change: make(chan struct{})}
}

// Wall implements clock.Clock.
func (c *Clock) Wall() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.wall }

// Mono implements clock.Clock.
func (c *Clock) Mono() time.Duration { c.mu.Lock(); defer c.mu.Unlock(); return c.mono }

// AfterFunc implements clock.Clock. A duration of zero or less fires at once.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{clock: c, at: c.mono + d, f: f}
	if d <= 0 {
		go f()
		return t
	}
	c.timers = append(c.timers, t)
	close(c.change)
	c.change = make(chan struct{})
	return t
}

// Advance moves both clocks by d and starts the timers that fall due, in order.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	c.mono += d
	c.wall = c.wall.Add(d)
	var due, rest []*timer
	for _, t := range c.timers {
		if t.at <= c.mono {
			due = append(due, t)
		} else {
			rest = append(rest, t)
		}
	}
	c.timers = rest
	c.mu.Unlock()
	sort.SliceStable(due, func(i, j int) bool { return due[i].at < due[j].at })
	for _, t := range due {
		go t.f()
	}
}

// JumpWall moves the wall clock alone, as a suspend or an operator would.
func (c *Clock) JumpWall(d time.Duration) { c.mu.Lock(); c.wall = c.wall.Add(d); c.mu.Unlock() }

// BlockUntil returns once at least n timers are pending.
func (c *Clock) BlockUntil(n int) {
	for {
		c.mu.Lock()
		pending, change := len(c.timers), c.change
		c.mu.Unlock()
		if pending >= n {
			return
		}
		<-change
	}
}

type timer struct {
	clock *Clock
	at    time.Duration
	f     func()
}

func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	for i, other := range t.clock.timers {
		if other == t {
			t.clock.timers = append(t.clock.timers[:i], t.clock.timers[i+1:]...)
			return true
		}
	}
	return false
}

package events

import (
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
)

const (
	// attachSlack is how much before its session's beginning an event may seem to have happened, for the sake of the
	// clocks' tolerance.
	attachSlack = 100 * time.Millisecond
	// wallTolerance and monoTolerance are how far a new reading of an offset may be off before it replaces the
	// one in use. Keeping one offset keeps the order of events that happened close to each other.
	wallTolerance = 50 * time.Millisecond
	monoTolerance = 20 * time.Millisecond
)

// times maps Chrome's two clocks to session time: the wall clock of console messages and the monotonic clock of
// the network. Browser and program share a machine, so the wall clock is the same one.
type times struct {
	clock clock.Session
	// wall is wall time minus monotonic time of this program; mono is wall time minus Chrome's monotonic time.
	wall, mono time.Duration
	calibrated bool
}

func newTimes(c clock.Session) *times {
	t := &times{clock: c}
	t.wall = t.offset()
	return t
}

func (t *times) offset() time.Duration {
	return time.Duration(t.clock.Clock().Wall().UnixNano()) - t.clock.Clock().Mono()
}

// refresh follows jumps of the wall clock. It is called once for each batch.
func (t *times) refresh() {
	if now := t.offset(); (now - t.wall).Abs() > wallTolerance {
		t.wall = now
	}
}

// received is when the message was read.
func (t *times) received(e cdp.Event) clock.SessionTime { return t.clock.At(e.Received) }

// fromWall maps a wall time in milliseconds since 1970 of an event of a stream. early is set when it happened before
// the stream began: Chrome repeats what was said before it was asked.
func (t *times) fromWall(ms float64, e cdp.Event, s *stream) (at clock.SessionTime, early bool) {
	if ms <= 0 {
		return t.received(e), false
	}
	return t.believe(time.Duration(ms*float64(time.Millisecond))-t.wall, e, s)
}

// fromMono maps Chrome's monotonic time in seconds.
func (t *times) fromMono(seconds float64, e cdp.Event, s *stream) clock.SessionTime {
	if seconds <= 0 || !t.calibrated {
		return t.received(e)
	}
	at, _ := t.believe(time.Duration(seconds*float64(time.Second))+t.mono-t.wall, e, s)
	return at
}

// believe keeps the time between the beginning of the stream and the receipt. In between anything is possible: in a
// storm messages wait in the browser for many seconds. Keeping all of them inside those two keeps their order.
func (t *times) believe(happened time.Duration, e cdp.Event, s *stream) (at clock.SessionTime, early bool) {
	if happened > e.Received {
		return t.received(e), false
	}
	at = t.clock.At(happened)
	if at >= s.since {
		return at, false
	}
	return s.since, s.since.Sub(at) > attachSlack
}

// calibrate learns the offset from a message that carries both clocks, in seconds.
func (t *times) calibrate(wall, mono float64) {
	if wall <= 0 || mono <= 0 {
		return
	}
	offset := time.Duration((wall - mono) * float64(time.Second))
	if !t.calibrated || (offset-t.mono).Abs() > monoTolerance {
		t.mono, t.calibrated = offset, true
	}
}

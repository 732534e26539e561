package events

import (
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
)

const (
	// maxLag is how long before its receipt an event can have happened; anything older is not believed.
	maxLag = 5 * time.Second
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

// fromWall maps a wall time in milliseconds since 1970. early is set when the event is older than its message
// can be: Chrome repeats what happened before it was asked.
func (t *times) fromWall(ms float64, e cdp.Event) (at clock.SessionTime, early bool) {
	if ms <= 0 {
		return t.received(e), false
	}
	happened := time.Duration(ms*float64(time.Millisecond)) - t.wall
	return t.believe(happened, e)
}

// fromMono maps Chrome's monotonic time in seconds.
func (t *times) fromMono(seconds float64, e cdp.Event) clock.SessionTime {
	if seconds <= 0 || !t.calibrated {
		return t.received(e)
	}
	at, _ := t.believe(time.Duration(seconds*float64(time.Second))+t.mono-t.wall, e)
	return at
}

func (t *times) believe(happened time.Duration, e cdp.Event) (at clock.SessionTime, early bool) {
	lag := e.Received - happened
	switch {
	case lag > maxLag:
		return t.received(e), true
	case lag < 0:
		return t.received(e), false
	}
	return max(t.clock.At(happened), 0), false
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

package capture

import (
	"time"

	"github.com/krometrail/krometrail/core/clock"
)

// maxLag is how far before its receipt a frame can have been presented; anything older is a clock that does
// not fit.
const maxLag = 5 * time.Second

// timeMap turns Chrome's swap times into session time. On one machine Chrome's monotonic clock and the
// program's differ by a fixed offset, which is taken when the connection is made; each frame is checked
// against its receipt. Where that clock does not fit (another time namespace, another system) the frame's
// wall time is tried.
type timeMap struct {
	session clock.Session
	// offset is the clock's Mono minus the system's monotonic reading; known is false where there is none.
	offset time.Duration
	known  bool
}

// Monotonic reads the system clock that Chrome's monotonic timestamps count; ok is false where that is unknown.
type Monotonic func() (reading time.Duration, ok bool)

func newTimeMap(session clock.Session, system Monotonic) timeMap {
	if system == nil {
		system = SystemMonotonic
	}
	before := session.Clock().Mono()
	reading, ok := system()
	after := session.Clock().Mono()
	return timeMap{session: session, offset: before + (after-before)/2 - reading, known: ok}
}

// presented returns the session time of the swap, nil when it cannot be trusted, and whether Chrome's monotonic clock
// contradicted the receipt. received and wall are the clock's readings at receipt.
func (t timeMap) presented(m metadata, received time.Duration, wall time.Time) (at *clock.SessionTime, skewed bool) {
	if m.Monotonic > 0 && t.known {
		if at := time.Duration(m.Monotonic*1e9) + t.offset; plausible(at, received) {
			return t.at(at), false
		}
		skewed = true
	}
	if m.Wall > 0 {
		age := time.Duration((float64(wall.UnixNano()) - m.Wall*1e9))
		if at := received - age; plausible(at, received) {
			return t.at(at), skewed
		}
	}
	return nil, skewed
}

func plausible(at, received time.Duration) bool { return at <= received && received-at <= maxLag }

func (t timeMap) at(mono time.Duration) *clock.SessionTime {
	s := t.session.At(mono)
	return &s
}

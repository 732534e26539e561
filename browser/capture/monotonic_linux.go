package capture

import (
	"time"

	"golang.org/x/sys/unix"
)

// SystemMonotonic reads CLOCK_MONOTONIC, which Chrome's timestamps count on this system.
func SystemMonotonic() (time.Duration, bool) {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0, false
	}
	return time.Duration(now.Nano()), true
}

//go:build !linux

package capture

import "time"

// SystemMonotonic reports that the clock behind Chrome's monotonic timestamps is not known here; presented
// times then come from Chrome's wall times.
func SystemMonotonic() (time.Duration, bool) { return 0, false }

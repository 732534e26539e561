//go:build !unix

package visual_test

import "time"

// cpuTime is not available here; figures that need it read 0.
func cpuTime() time.Duration { return 0 }

// Package capture records what pages show: it acknowledges screencast frames on the reading goroutine, numbers
// them, maps their times and hands them to the frame sink through bounded queues. What is lost becomes a gap.
package capture

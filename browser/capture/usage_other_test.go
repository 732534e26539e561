//go:build !linux

package capture_test

import "time"

// usage is only measured on Linux; elsewhere the figures are zero.
type usage struct {
	at                    time.Time
	wall                  time.Duration
	own, browser, machine time.Duration
}

func takeUsage(int) usage                { return usage{at: time.Now()} }
func (u usage) since(before usage) usage { return usage{wall: u.at.Sub(before.at)} }
func (usage) external() float64          { return 0 }

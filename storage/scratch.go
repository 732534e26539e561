package storage

import (
	"sync"

	"github.com/krometrail/krometrail/core/fault"
)

// ScratchDir is the folder in an instance root for files that become artifacts or nothing.
const ScratchDir = "scratch"

// scratchFraction of what evidence may use is the most that one reservation gets.
const scratchFraction = 8

// Scratch is where other parts of the process make files before they are published. Whoever makes a file there removes
// it; what a killed process left is removed by the next Open, and with the root.
func (s *Store) Scratch() string { return s.scratch }

// Reserve admits the bytes of a file that is about to grow in the scratch folder, at most most of them, and makes room
// for them as for an artifact. The writer must not exceed granted, which may be less than most under a small budget.
// The bytes count as used until release, which is called when the file is gone; calling it again does nothing.
func (s *Store) Reserve(most int64) (granted int64, release func(), warnings []*fault.Error, err error) {
	s.mu.Lock()
	granted = min(most, s.limitLocked(admitEvidence)/scratchFraction)
	s.mu.Unlock()
	if warnings, err = s.reserve(granted); err != nil {
		return 0, nil, warnings, err
	}
	release = sync.OnceFunc(func() {
		s.mu.Lock()
		s.reserved -= granted
		s.mu.Unlock()
	})
	return granted, release, warnings, nil
}

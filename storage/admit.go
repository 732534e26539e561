package storage

import (
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/instance"
	"github.com/krometrail/krometrail/storage/retention"
)

// admission says which part of the share a write may use.
type admission bool

// The two parts. Evidence leaves the reserve to the index, whose growth comes after the decision.
const (
	admitEvidence admission = true
	admitFacts    admission = false
)

// admitLocked decides whether n more bytes may be written, and makes room when they do not fit. The live count
// is read afresh. overrode reports that the protection of fresh artifacts had to be dropped.
func (s *Store) admitLocked(n int64, stream retention.Stream, kind admission) (overrode bool, err error) {
	limit := s.limitLocked(kind)
	if n > limit {
		return false, s.refusedLocked(kind, fault.New(fault.BudgetExhausted, "one write is larger than this instance's share of the disk budget").
			WithLimit("bytes", n, limit, limit).WithRecovery("raise the disk budget or end other instances"))
	}
	if err := s.expireLocked(); err != nil {
		return false, err
	}
	used, err := s.trimLocked(n, stream)
	if err != nil {
		return false, err
	}
	if used+n <= limit {
		s.admittedLocked(kind)
		return false, nil
	}
	overrode, fits, err := s.pressLocked(n, limit, stream)
	if err != nil {
		return overrode, err
	}
	if !fits {
		s.blocked.eviction = true
		return overrode, s.refusedLocked(kind, s.exhaustedLocked())
	}
	s.blocked.eviction = false
	s.admittedLocked(kind)
	return overrode, nil
}

func (s *Store) admittedLocked(kind admission) {
	if kind == admitEvidence {
		s.blocked.recording = nil
	}
}

// refusedLocked remembers why evidence is not accepted, for the status.
func (s *Store) refusedLocked(kind admission, why *fault.Error) error {
	if kind == admitEvidence {
		s.blocked.recording = why
	}
	return why
}

// limitLocked reads the live count and returns how many bytes the root may hold after the write.
func (s *Store) limitLocked(kind admission) int64 {
	live := s.liveLocked()
	s.share = s.options.BudgetBytes / int64(live.Live)
	if kind == admitFacts {
		return s.share
	}
	return s.share - min(indexReserve, s.share/reserveFraction)
}

// liveLocked counts the instances and has abandoned roots removed, which go first of all.
func (s *Store) liveLocked() instance.Count {
	live := s.options.Peers.Live()
	if live.Abandoned > 0 {
		s.janitor.notice()
	}
	return live
}

// usedLocked is the sum of the sizes of all files of the root, with what is admitted and not yet written.
func (s *Store) usedLocked() int64 { return s.fileBytes + s.reserved + s.indexBytes() }

func (s *Store) indexBytes() int64 {
	var sum int64
	for _, name := range index.Files() {
		if size, err := s.fs.Size(name); err == nil {
			sum += size
		}
	}
	return sum
}

// exhaustedLocked explains why nothing can go.
func (s *Store) exhaustedLocked() *fault.Error {
	if pinned := s.book.PinnedBytes(); pinned > 0 {
		return fault.New(fault.BudgetExhausted, "recording is paused: pinned evidence fills this instance's share of the disk budget").
			WithLimit("pinned_bytes", pinned, s.share, 0).WithRecovery("unpin a range with unpin_range or raise the disk budget")
	}
	return fault.New(fault.BudgetExhausted, "recording is paused: what is left in this instance's share of the disk budget cannot be removed").
		WithLimit("bytes", s.usedLocked(), s.share, 0).WithRecovery("raise the disk budget or end other instances")
}

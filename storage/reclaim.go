package storage

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/retention"
	"github.com/krometrail/krometrail/storage/segment"
)

const (
	// dropChunk bounds how many events or facts one step removes, and so how long an append waits for it.
	dropChunk = 2000
	// vacuumPages is how many free pages one step gives back to the file system.
	vacuumPages = 256
)

// expireLocked removes what is older than the maximum age and not protected.
func (s *Store) expireLocked() error {
	if s.options.MaxAge <= 0 {
		return nil
	}
	cutoff := s.wallTime().Add(-s.options.MaxAge).UnixNano()
	for {
		step, ok := s.book.Expired(cutoff)
		if !ok {
			break
		}
		if done, err := s.carryOutLocked(step); err != nil || !done {
			return err
		}
	}
	return s.expireFactsLocked(cutoff)
}

// expireFactsLocked looks for old facts once in a while: they are small and their age is not kept in memory.
func (s *Store) expireFactsLocked(cutoff int64) error {
	if cutoff < s.factsCheckedAt+int64(s.options.MaxAge)/ageChecks {
		return nil
	}
	s.factsCheckedAt = cutoff
	return s.change(func(tx *index.Tx) error {
		_, err := tx.DropAged(cutoff)
		return err
	})
}

// ageChecks is how many times within the maximum age facts are checked.
const ageChecks = 1000

// trimLocked keeps usage below the high-water mark as long as something unprotected is left, and returns it.
func (s *Store) trimLocked(n int64, stream retention.Stream) (used int64, err error) {
	mark := int64(highWater * float64(s.share))
	for {
		used = s.usedLocked()
		if used+n <= mark {
			s.blocked.eviction = false
			return used, nil
		}
		step, ok := s.book.Next(retention.Trim, s.wallTime().UnixNano(), stream)
		if !ok {
			s.blocked.eviction = true
			return used, nil
		}
		if done, err := s.carryOutLocked(step); err != nil || !done {
			return used, err
		}
	}
}

// pressLocked makes room for n bytes within limit by ever stronger means.
func (s *Store) pressLocked(n, limit int64, stream retention.Stream) (overrode, fits bool, err error) {
	if err := s.shrinkIndexLocked(); err != nil {
		return false, false, err
	}
	for force := retention.Press; force <= retention.Supersede; force++ {
		forced, err := s.forceLocked(force, n, limit, stream)
		overrode = overrode || forced
		if err != nil {
			return overrode, false, err
		}
		if s.usedLocked()+n <= limit {
			return overrode, true, nil
		}
	}
	return overrode, false, nil
}

// forceLocked takes steps of one force until n bytes fit or nothing may go. overrode reports that fresh artifacts
// lost their protection.
func (s *Store) forceLocked(force retention.Force, n, limit int64, stream retention.Stream) (overrode bool, err error) {
	for s.usedLocked()+n > limit {
		now := s.wallTime().UnixNano()
		graced := force >= retention.OverrideGrace && s.book.HasGraced(now)
		step, ok := s.book.Next(force, now, stream)
		if !ok {
			return overrode, nil
		}
		done, err := s.carryOutLocked(step)
		if err != nil || !done {
			return overrode, err
		}
		if graced {
			overrode = true
			s.overrodeLocked()
		}
		if step.Action == retention.DropEvents || step.Action == retention.DropFacts {
			if err := s.shrinkIndexLocked(); err != nil {
				return overrode, err
			}
		}
	}
	return overrode, nil
}

// overrodeLocked remembers how far retained evidence reached after the protection was dropped.
func (s *Store) overrodeLocked() {
	if point, ok := s.book.NewestPoint(); ok {
		s.overrode = &point
	}
}

// maxStuck is how many removals may wait for their files to go before no more evidence is given up: where files cannot
// be removed that makes no room.
const maxStuck = 4

// carryOutLocked does one step. done is false when it changed nothing, so that the caller stops asking.
func (s *Store) carryOutLocked(step retention.Step) (done bool, err error) {
	if len(s.deletions) >= maxStuck && (step.Action == retention.DropArtifact || step.Action == retention.EvictSegments) {
		return false, nil
	}
	switch step.Action {
	case retention.DropArtifact:
		return true, s.dropArtifactLocked(step.Artifact)
	case retention.EvictSegments:
		return true, s.evictLocked(step)
	case retention.SealSegment:
		return s.sealNowLocked(step.Segments[0])
	case retention.DropEvents:
		return true, s.dropEventsLocked(step.Wall)
	case retention.DropFacts:
		return s.dropFactsLocked()
	}
	return false, nil
}

// change runs work on the index alone and turns its failure into ours.
func (s *Store) change(work func(*index.Tx) error) error {
	err := s.ix.Do(context.Background(), work)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, index.ErrClosed) && s.Failure() == nil:
		return closedFault()
	}
	return s.fail(terminalFault(opIndex, err))
}

// evictLocked removes segments in two phases: the rows go and the files are listed for deletion in one
// transaction; then the files are unlinked; then the list forgets them. A crash between two of them leaves work
// that Open finishes.
func (s *Store) evictLocked(step retention.Step) error {
	var artifacts []id.Artifact
	var oldest int64
	err := s.change(func(tx *index.Tx) error {
		for _, key := range step.Segments {
			removal, err := tx.EvictSegment(key, segment.SealedName(s.book.Segment(key).ID), s.wallTime().UnixNano())
			if err != nil {
				return err
			}
			artifacts = append(artifacts, removal.ArtifactIDs...)
		}
		if _, err := tx.DropEvents(step.Wall, dropChunk, s.wallTime().UnixNano()); err != nil {
			return err
		}
		tx.Vacuum(vacuumPages)
		var err error
		oldest, err = tx.OldestEvent()
		return err
	})
	if err != nil {
		return err
	}
	s.book.EventsFrom(oldest)
	for _, key := range step.Segments {
		entry := s.book.Segment(key)
		s.deletions = append(s.deletions, index.Deletion{Path: segment.SealedName(entry.ID), Bytes: entry.Bytes})
	}
	s.book.RemoveSegments(step.Segments...)
	s.removedLocked(artifacts)
	s.unlinkLocked()
	return nil
}

func (s *Store) dropArtifactLocked(a id.Artifact) error {
	err := s.change(func(tx *index.Tx) error {
		var out index.Removal
		return tx.DropArtifact(a, index.Evicted, &out)
	})
	if err != nil {
		return err
	}
	s.removedLocked([]id.Artifact{a})
	s.unlinkLocked()
	return nil
}

// removedLocked takes artifacts whose rows are gone out of the book and lists their files.
func (s *Store) removedLocked(ids []id.Artifact) {
	for _, which := range ids {
		if a, ok := s.book.RemoveArtifact(which); ok {
			s.deletions = append(s.deletions, index.Deletion{Path: index.ArtifactDir(which), Bytes: a.Bytes})
		}
	}
}

func (s *Store) dropEventsLocked(wall int64) error {
	return s.change(func(tx *index.Tx) error {
		if _, err := tx.DropEvents(wall, dropChunk, s.wallTime().UnixNano()); err != nil {
			return err
		}
		oldest, err := tx.OldestEvent()
		s.book.EventsFrom(oldest)
		tx.Vacuum(vacuumPages)
		return err
	})
}

func (s *Store) dropFactsLocked() (bool, error) {
	dropped := 0
	err := s.change(func(tx *index.Tx) (err error) {
		dropped, err = tx.DropFactsBefore(dropChunk)
		tx.Vacuum(vacuumPages)
		return err
	})
	return dropped > 0, err
}

// sealNowLocked closes an open segment and waits until it is published.
func (s *Store) sealNowLocked(key int64) (bool, error) {
	for session, open := range s.writers {
		if open.entry.Key == key {
			s.detachLocked(session)
		}
	}
	s.publisher.wait()
	s.absorbLocked()
	if f := s.Failure(); f != nil {
		return false, f
	}
	entry := s.book.Segment(key)
	return entry != nil && entry.Sealed, nil
}

// shrinkIndexLocked folds the log into the database and gives free pages back.
func (s *Store) shrinkIndexLocked() error {
	return s.change(func(tx *index.Tx) error {
		tx.Vacuum(vacuumPages)
		tx.Checkpoint()
		return nil
	})
}

// unlinkLocked removes the files whose rows are gone. One that cannot be removed stays listed, counts as used,
// and is tried again with the next decision.
func (s *Store) unlinkLocked() {
	var gone []string
	var failed error
	s.deletions = slices.DeleteFunc(s.deletions, func(d index.Deletion) bool {
		if err := removeListed(s.fs, d.Path); err != nil {
			failed = err
			return false
		}
		s.fileBytes -= d.Bytes
		gone = append(gone, d.Path)
		return true
	})
	if failed != nil && !s.stuck { // said once, not with each frame
		s.options.Logger.Warn("removed evidence still occupies the disk", "files", len(s.deletions), "category", category(failed))
	}
	s.stuck = failed != nil
	if len(gone) > 0 {
		s.publisher.tasks <- task{forget: gone}
	}
}

// removeListed removes a segment file or an artifact's folder; what is already gone is fine.
func removeListed(tree disk.FS, name string) error {
	if path.Dir(name) == index.ArtifactsDir {
		return removeFolder(tree, name)
	}
	return ignoreMissing(tree.Remove(name))
}

func removeFolder(tree disk.FS, name string) error {
	entries, err := tree.ReadDir(name)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if err := ignoreMissing(tree.Remove(name + "/" + e.Name())); err != nil {
			return err
		}
	}
	return ignoreMissing(tree.Remove(name))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

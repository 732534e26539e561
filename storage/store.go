package storage

import (
	"context"
	"errors"
	"sync"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/retention"
	"github.com/krometrail/krometrail/storage/segment"
)

// Store is an open instance root. It implements the ports of core/record; all methods may be called
// concurrently.
//
// One lock orders everything that changes what is stored. Reading takes no lock: readers see the index as of
// the last commit and find out from a missing file that evidence went meanwhile.
type Store struct {
	options   Options
	fs        disk.FS
	scratch   string // path of the scratch folder
	ix        *index.Index
	publisher *publisher
	janitor   *janitor
	buffers   buffers

	mu        sync.Mutex
	closed    bool
	book      *retention.Book
	writers   map[id.Session]*openSegment
	streams   map[retention.Stream]*streamEnd
	rejected  map[id.Session]*fault.Error // failures after which the writer is usable, for the next append
	deletions []index.Deletion            // rows are gone, files are not yet
	nextKey   int64
	fileBytes int64 // all files of the root apart from the index
	reserved  int64 // admitted and not yet written
	overrode  *clock.SessionTime
	blocked   blockage
	share     int64        // at the last budget decision
	first     *fault.Error // first failure that left the writer usable
	// factsCheckedAt is the cutoff of the last look for expired facts.
	factsCheckedAt int64

	failMu  sync.Mutex
	failure *fault.Error
}

// openSegment is the segment that a session's frames go to.
type openSegment struct {
	writer    *segment.Writer
	entry     *retention.Segment
	createdAt int64 // monotonic, nanoseconds
	flushedTo int64
}

// streamEnd is the last accepted frame of a stream.
type streamEnd struct {
	ordinal uint64
	closed  bool // its target or session has ended
}

// blockage is what retention status says about the last attempt to make room.
type blockage struct {
	eviction bool
	// recording is why evidence was refused, nil since some was accepted.
	recording *fault.Error
}

// fail records the first terminal failure; nothing is accepted afterwards.
func (s *Store) fail(f *fault.Error) *fault.Error {
	s.failMu.Lock()
	defer s.failMu.Unlock()
	if s.failure == nil {
		s.failure = f
		s.options.Logger.Error("recording stopped", "operation", f.Persistence.Operation, "category", f.Persistence.Category)
	}
	return s.failure
}

// Failure is the first terminal failure, nil while all is well.
func (s *Store) Failure() *fault.Error {
	s.failMu.Lock()
	defer s.failMu.Unlock()
	return s.failure
}

// usableLocked returns why nothing can be accepted, and takes in what the publisher finished.
func (s *Store) usableLocked() error {
	if s.closed {
		return closedFault()
	}
	s.absorbLocked()
	if f := s.Failure(); f != nil {
		return f
	}
	return nil
}

// Barrier implements record.Barrier.
func (s *Store) Barrier(ctx context.Context) error {
	err := s.ix.Barrier(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if f := s.Failure(); f != nil {
		return f
	}
	if errors.Is(err, index.ErrClosed) {
		return closedFault()
	}
	return readFault(err)
}

// Close seals what is open, makes everything accepted durable and releases the root. Further calls do nothing.
// It gives up when ctx ends, with shutdown_incomplete: a later Open recovers the rest.
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for session := range s.writers {
		s.detachLocked(session)
	}
	s.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- s.finish() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fault.New(fault.ShutdownIncomplete, "stored evidence was not completely flushed in time").Because(context.Cause(ctx))
	}
}

// finish stops the goroutines in the order of their dependence. It ends by itself once the disk answers.
func (s *Store) finish() error {
	s.janitor.close()
	s.publisher.close()
	s.mu.Lock()
	s.absorbLocked()
	s.mu.Unlock()
	var errs []error
	if f := s.Failure(); f != nil {
		errs = append(errs, f)
	} else if err := s.ix.Checkpoint(context.Background()); err != nil {
		errs = append(errs, s.fail(terminalFault(opIndex, err)))
	}
	if err := s.ix.Close(); err != nil && len(errs) == 0 {
		errs = append(errs, terminalFault(opIndex, err))
	}
	return errors.Join(append(errs, s.fs.Close())...)
}

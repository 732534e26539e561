package storage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/retention"
	"github.com/krometrail/krometrail/storage/segment"
)

// Retention implements record.Admin.
func (s *Store) Retention(context.Context) (record.RetentionStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.absorbLocked()
	live := s.liveLocked()
	out := record.RetentionStatus{
		BudgetBytes: s.options.BudgetBytes, ShareBytes: s.options.BudgetBytes / int64(live.Live),
		LiveInstances: live.Live, CountSource: string(live.Source),
		UsedBytes: s.usedLocked(), PinnedBytes: s.book.PinnedBytes(),
		MaxAgeSeconds:   int64(s.options.MaxAge / time.Second),
		EvictionBlocked: s.blocked.eviction, RecordingBlocked: s.blocked.recording != nil,
		GraceOverriddenThrough: s.overrode, Failure: s.first,
	}
	if oldest, newest, ok := s.book.Edges(); ok {
		from, to := time.Unix(0, oldest), time.Unix(0, newest)
		out.OldestAt, out.NewestAt = &from, &to
	}
	if why := s.blocked.recording; why != nil {
		out.Failure = why
	}
	if f := s.Failure(); f != nil {
		out.Failure, out.RecordingBlocked = f, true
	}
	return out, nil
}

// Usage implements record.Admin.
func (s *Store) Usage(ctx context.Context) ([]record.SessionUsage, error) {
	out, err := s.ix.Usage(ctx)
	if err != nil {
		return nil, readFault(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range out {
		out[i].Bytes = s.book.SessionBytes(out[i].ID)
	}
	return out, nil
}

// DeleteSession implements record.Admin. Frames and artifacts of the session answer evidence_invalidated from
// now on.
func (s *Store) DeleteSession(ctx context.Context, session id.Session) (record.Deletion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return record.Deletion{}, err
	}
	if _, ok, err := s.sessionLocked(ctx, session); err != nil || !ok {
		return record.Deletion{}, orNotFound(err, "session")
	}
	if s.writers[session] != nil {
		s.endStreamsLocked(session)
		s.detachLocked(session)
	}
	s.publisher.wait()
	s.absorbLocked()
	if f := s.Failure(); f != nil {
		return record.Deletion{}, f
	}
	return s.deleteLocked(session)
}

func (s *Store) sessionLocked(ctx context.Context, session id.Session) (record.Session, bool, error) {
	if err := s.ix.Barrier(ctx); err != nil {
		return record.Session{}, false, err
	}
	return s.ix.Session(ctx, session)
}

func orNotFound(err error, what string) error {
	if err != nil {
		return readFault(err)
	}
	return notFound(what)
}

func (s *Store) deleteLocked(session id.Session) (record.Deletion, error) {
	paths := s.pathsLocked(session)
	var removal index.Removal
	var oldest int64
	err := s.change(func(tx *index.Tx) (err error) {
		if removal, err = tx.DropSession(session, paths); err != nil {
			return err
		}
		oldest, err = tx.OldestEvent()
		tx.Vacuum(vacuumPages)
		tx.Checkpoint() // the rows' bytes leave the log as well
		return err
	})
	if err != nil {
		return record.Deletion{}, err
	}
	before := s.fileBytes
	for key, path := range paths {
		s.deletions = append(s.deletions, index.Deletion{Path: path, Bytes: s.book.Segment(key).Bytes})
	}
	s.book.RemoveSegments(slices.Collect(maps.Keys(paths))...)
	s.removedLocked(removal.ArtifactIDs)
	s.forgetSessionLocked(session)
	s.book.EventsFrom(oldest)
	s.unlinkLocked()
	return record.Deletion{
		Frames: removal.Frames, Events: removal.Events, Artifacts: removal.Artifacts, Pins: removal.Pins,
		Rows: removal.Rows, Bytes: before - s.fileBytes,
	}, nil
}

// pathsLocked maps the session's segments to their files.
func (s *Store) pathsLocked(session id.Session) map[int64]string {
	paths := map[int64]string{}
	s.book.Segments(func(e *retention.Segment) bool {
		if e.Session == session {
			paths[e.Key] = segment.SealedName(e.ID)
		}
		return true
	})
	return paths
}

func (s *Store) forgetSessionLocked(session id.Session) {
	s.book.RemovePinsOf(session)
	s.book.SessionEnded(session)
	delete(s.rejected, session)
	for stream := range s.streams {
		if stream.Session == session {
			delete(s.streams, stream)
		}
	}
}

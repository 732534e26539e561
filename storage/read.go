package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/segment"
)

// Sessions implements record.SessionReader.
func (s *Store) Sessions(ctx context.Context) ([]record.Session, error) {
	out, err := s.ix.Sessions(ctx)
	return out, readFault(err)
}

// Session implements record.SessionReader.
func (s *Store) Session(ctx context.Context, session id.Session) (record.Session, error) {
	out, ok, err := s.ix.Session(ctx, session)
	return known(out, ok, err, "session")
}

// Targets implements record.SessionReader.
func (s *Store) Targets(ctx context.Context, session id.Session) ([]record.Target, error) {
	out, err := s.ix.Targets(ctx, session)
	return out, readFault(err)
}

// ClockSamples implements record.SessionReader.
func (s *Store) ClockSamples(ctx context.Context, session id.Session) ([]record.ClockSample, error) {
	out, err := s.ix.ClockSamples(ctx, session)
	return out, readFault(err)
}

// Interactions implements record.TimelineReader.
func (s *Store) Interactions(ctx context.Context, session id.Session, target id.Target, n int) ([]record.Interaction, error) {
	out, err := s.ix.Interactions(ctx, session, target, n)
	return out, readFault(err)
}

// Interaction implements record.TimelineReader.
func (s *Store) Interaction(ctx context.Context, i id.Interaction) (record.Interaction, error) {
	out, ok, err := s.ix.Interaction(ctx, i)
	return known(out, ok, err, "interaction")
}

// Navigation implements record.TimelineReader.
func (s *Store) Navigation(ctx context.Context, n id.Navigation) (record.Navigation, error) {
	out, ok, err := s.ix.Navigation(ctx, n)
	return known(out, ok, err, "navigation")
}

// Marker implements record.TimelineReader.
func (s *Store) Marker(ctx context.Context, m id.Marker) (record.Marker, error) {
	out, ok, err := s.ix.Marker(ctx, m)
	return known(out, ok, err, "marker")
}

// Within implements record.TimelineReader. Facts of the whole session, such as a suspended system, touch every
// target's window; an empty target means all targets.
func (s *Store) Within(ctx context.Context, w record.Window) (record.Facts, error) {
	out, err := s.ix.Within(ctx, w)
	return out, readFault(err)
}

// Events implements record.EventReader. An empty target means all targets and the session's own events.
func (s *Store) Events(ctx context.Context, q record.EventQuery) ([]record.Event, int, error) {
	out, total, err := s.ix.Events(ctx, q)
	return out, total, readFault(err)
}

// CountEvents implements record.EventReader.
func (s *Store) CountEvents(ctx context.Context, q record.EventQuery) (map[record.EventClass]int, error) {
	out, err := s.ix.CountEvents(ctx, q)
	return out, readFault(err)
}

// Frames implements record.FrameReader.
func (s *Store) Frames(ctx context.Context, w record.Window, offset, limit int) ([]record.Frame, int, error) {
	out, total, err := s.ix.Frames(ctx, w, offset, limit)
	return out, total, readFault(err)
}

// Frame implements record.FrameReader. A frame of a deleted session gives evidence_invalidated.
func (s *Store) Frame(ctx context.Context, f id.Frame) (record.Frame, error) {
	out, ok, err := s.ix.Frame(ctx, f)
	if err != nil || ok {
		return out, readFault(err)
	}
	reason, err := s.ix.Gone(ctx, string(f))
	switch {
	case err != nil:
		return out, readFault(err)
	case reason == index.Evicted:
		return out, fault.New(fault.RangeNotRetained, "the frame was recorded and has been evicted since")
	case reason == index.Deleted:
		return out, invalidated("the frame's session was deleted")
	}
	return out, notFound("frame")
}

// CarryIn implements record.FrameReader. A frame that is followed by evicted ones before t is no carry-in.
func (s *Store) CarryIn(ctx context.Context, session id.Session, target id.Target, t clock.SessionTime) (record.Frame, bool, error) {
	out, ok, err := s.ix.CarryIn(ctx, session, target, t)
	return out, ok, readFault(err)
}

// Retained implements record.FrameReader.
func (s *Store) Retained(ctx context.Context, session id.Session, target id.Target) (record.Retained, error) {
	out, err := s.ix.Retained(ctx, session, target)
	return out, readFault(err)
}

// Pixels implements record.FrameReader. The bytes are checked against the checksum they were stored with.
func (s *Store) Pixels(ctx context.Context, f record.Frame) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.New(fault.Cancelled, "the request ended before the frame was read").Because(err)
	}
	file, err := openSegmentFile(s.fs, f.SegmentID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, invalidated("the frame was evicted meanwhile")
	}
	if err != nil {
		return nil, readFault(err)
	}
	defer file.Close()
	pixels, err := segment.ReadPayload(file, f.Offset, f.Bytes)
	if errors.Is(err, io.EOF) {
		return nil, invalidated("the frame was evicted meanwhile")
	}
	return pixels, readFault(err)
}

// openSegmentFile opens a segment under whichever name it has now. It may be sealed, and so renamed, between
// two looks.
func openSegmentFile(tree disk.FS, s id.Segment) (disk.File, error) {
	if _, err := id.Parse[id.Segment](string(s)); err != nil {
		return nil, fs.ErrNotExist
	}
	f, err := tree.Open(segment.SealedName(s))
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f, err = tree.Open(segment.OpenName(s))
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	return tree.Open(segment.SealedName(s))
}

func invalidated(why string) *fault.Error { return fault.New(fault.EvidenceInvalidated, "%s", why) }

func known[T any](v T, ok bool, err error, what string) (T, error) {
	switch {
	case err != nil:
		return v, readFault(err)
	case !ok:
		return v, notFound(what)
	}
	return v, nil
}

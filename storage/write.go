package storage

import (
	"context"
	"encoding/json"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/retention"
)

const (
	// factBytes is what one fact is assumed to add to the index at a budget decision; eventBytes is added to an
	// event's payload. They cover a row, its index entries and its share of the log.
	factBytes  = 2 << 10
	eventBytes = 512
)

// Put implements record.FactSink. Facts may use the reserve that frames leave: what happened to a recording can
// be said even when nothing more can be recorded.
func (s *Store) Put(ctx context.Context, facts ...record.Fact) error {
	now := s.wallTime().UnixNano()
	rows := make([]index.Row, len(facts))
	for i, f := range facts {
		row, err := index.NewFactRow(f, now)
		if err != nil {
			return fault.Input("facts", "must have a JSON form").Because(err)
		}
		rows[i] = row
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	if _, err := s.admitLocked(factBytes*int64(len(facts)), retention.Stream{}, admitFacts); err != nil {
		return err
	}
	for _, f := range facts {
		s.noticeLocked(f)
	}
	return s.queue(ctx, rows...)
}

// noticeLocked learns from facts which targets live.
func (s *Store) noticeLocked(f record.Fact) {
	switch f := f.(type) {
	case record.Target:
		if f.ClosedNS != nil {
			s.closeStreamLocked(retention.Stream{Session: f.SessionID, Target: f.ID})
		}
	case record.Session:
		if f.EndedAt != nil {
			s.endStreamsLocked(f.ID)
		}
	}
}

func (s *Store) closeStreamLocked(stream retention.Stream) {
	end := s.streams[stream]
	if end == nil {
		end = &streamEnd{}
		s.streams[stream] = end
	}
	end.closed = true
	s.book.Closed(stream)
}

func (s *Store) endStreamsLocked(session id.Session) {
	for stream, end := range s.streams {
		if stream.Session == session {
			end.closed = true
		}
	}
	s.book.SessionEnded(session)
}

// AppendEvents implements record.EventSink.
func (s *Store) AppendEvents(ctx context.Context, events []record.Event) error {
	var size int64
	for i := range events {
		if n := len(events[i].Payload); n > MaxEventPayload {
			return fault.New(fault.ResourceLimitExceeded, "an event's payload is larger than 8 KiB").
				WithLimit("event_payload_bytes", int64(n), MaxEventPayload, MaxEventPayload)
		}
		if !json.Valid(events[i].Payload) {
			return fault.Input("payload", "must be JSON")
		}
		size += int64(len(events[i].Payload)) + eventBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	if _, err := s.admitLocked(size, retention.Stream{}, admitEvidence); err != nil {
		return err
	}
	now := s.wallTime().UnixNano()
	rows := make([]index.Row, len(events))
	for i, e := range events {
		rows[i] = index.EventRow{Event: e, WallNS: now}
	}
	if len(rows) > 0 {
		s.book.EventAccepted(now)
	}
	return s.queue(ctx, rows...)
}

// EndSession implements record.Admin.
func (s *Store) EndSession(ctx context.Context, session record.Session) error {
	row, err := index.NewFactRow(session, s.wallTime().UnixNano())
	if err != nil {
		return fault.Input("session", "must have a JSON form").Because(err)
	}
	s.mu.Lock()
	if err := s.usableLocked(); err != nil {
		s.mu.Unlock()
		return err
	}
	s.endStreamsLocked(session.ID)
	s.detachLocked(session.ID)
	err = s.queue(ctx, row)
	done := s.publisher.mark()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return fault.New(fault.ShutdownIncomplete, "the session's evidence was not completely flushed in time").Because(context.Cause(ctx))
	}
	if err := s.ix.Checkpoint(ctx); err != nil && ctx.Err() == nil {
		return s.fail(terminalFault(opIndex, err))
	}
	return s.settle(session.ID)
}

// settle returns what the session's last writes came to.
func (s *Store) settle(session id.Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.absorbLocked()
	if f := s.Failure(); f != nil {
		return f
	}
	if pending := s.rejected[session]; pending != nil {
		delete(s.rejected, session)
		return pending
	}
	return nil
}

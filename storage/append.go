package storage

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/imagehead"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/retention"
	"github.com/krometrail/krometrail/storage/segment"
)

// frameMeta is the metadata of a frame record: the frame without its place, and when it was stored. It lets
// recovery rebuild the frame's row.
type frameMeta struct {
	record.Frame
	WallNS int64 `json:"wall_unix_ns"`
}

// buffers are reused between appends of all stores: each holds one record while it is built.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() *segment.Buffer {
	if v, ok := b.pool.Get().(*segment.Buffer); ok {
		return v
	}
	return &segment.Buffer{}
}

func (b *buffers) put(v *segment.Buffer) { b.pool.Put(v) }

// AppendFrame implements record.FrameSink. When making room for the frame overrode the protection of fresh
// artifacts, the returned frame's warnings name it; the stored ones do not.
func (s *Store) AppendFrame(ctx context.Context, f record.Frame, payload []byte) (record.Frame, error) {
	if err := checkFrame(f); err != nil {
		return f, err
	}
	buffer := s.buffers.get()
	defer s.buffers.put(buffer)
	image, err := buffer.DecodePayload(payload)
	if err != nil {
		return f, payloadFault(err, len(payload))
	}
	info, err := imagehead.Read(image)
	if err != nil {
		return f, fault.Input("payload", "must be a JPEG or PNG image").Because(err)
	}
	f.Format, f.Width, f.Height, f.Bytes = info.Format, info.Width, info.Height, int64(len(image))
	f.SegmentID, f.Offset = "", 0
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendLocked(ctx, f, buffer)
}

func checkFrame(f record.Frame) error {
	if _, err := id.Parse[id.Frame](string(f.ID)); err != nil {
		return fault.Input("frame_id", err.Error())
	}
	if _, err := id.Parse[id.Session](string(f.SessionID)); err != nil {
		return fault.Input("session_id", err.Error())
	}
	if _, err := id.Parse[id.Target](string(f.TargetID)); err != nil {
		return fault.Input("target_id", err.Error())
	}
	if f.Ordinal == 0 || f.Ordinal > 1<<63-1 {
		return fault.Input("ordinal", "must be from 1 to 2^63-1")
	}
	return nil
}

func payloadFault(err error, length int) error {
	if errors.Is(err, segment.ErrPayloadTooLarge) {
		return fault.New(fault.ResourceLimitExceeded, "the frame is larger than a stored frame may be").
			WithLimit("frame_bytes", int64(length)/4*3, MaxFrame, MaxFrame)
	}
	return fault.Input("payload", "must be standard base64").Because(err)
}

func (s *Store) appendLocked(ctx context.Context, f record.Frame, buffer *segment.Buffer) (record.Frame, error) {
	if err := s.usableLocked(); err != nil {
		return f, err
	}
	if pending := s.rejected[f.SessionID]; pending != nil {
		delete(s.rejected, f.SessionID)
		return f, pending
	}
	stream := retention.Stream{Session: f.SessionID, Target: f.TargetID}
	end := s.streams[stream]
	if end != nil && f.Ordinal <= end.ordinal {
		return f, fault.Input("ordinal", "must be larger than that of the target's last frame")
	}
	now := s.options.Clock.Wall().UnixNano()
	meta, err := json.Marshal(frameMeta{Frame: f, WallNS: now})
	if err != nil || len(meta) > segment.MaxMeta {
		return f, fault.Input("frame", "must have metadata of at most 64 KiB").Because(err)
	}
	rec := buffer.Finish(meta)
	overrode, err := s.admitLocked(int64(len(rec)), stream, admitEvidence)
	if err != nil {
		return f, err
	}
	open, err := s.writerLocked(f.SessionID, int64(len(rec)))
	if err != nil {
		return f, s.writeFailedLocked(err)
	}
	if f.Offset, err = open.writer.Append(rec); err != nil {
		s.dropWriterLocked(f.SessionID)
		return f, s.writeFailedLocked(err)
	}
	f.SegmentID = open.writer.ID()
	s.storedLocked(open, stream, f, int64(len(rec)), now)
	if err := s.visibleLocked(ctx, open, f, stream); err != nil {
		return f, err
	}
	s.flushLocked(open)
	if overrode {
		f.Warnings = append(slices.Clip(f.Warnings), string(fault.ArtifactGraceOverridden))
	}
	return f, nil
}

// storedLocked takes an appended record into the books.
func (s *Store) storedLocked(open *openSegment, stream retention.Stream, f record.Frame, size, now int64) {
	s.fileBytes += size
	open.entry.Bytes += size
	open.entry.LastWall = now
	open.entry.NewestNS = max(open.entry.NewestNS, f.Time())
	end := s.streams[stream]
	if end == nil {
		end = &streamEnd{}
		s.streams[stream] = end
	}
	end.ordinal = f.Ordinal
	if !end.closed {
		s.book.Newest(stream, open.entry.Key)
	}
}

// visibleLocked queues the frame's row. The bytes are in the file, so a caller that gives up now must not keep
// the row from following; the wait ends with the index at the latest.
func (s *Store) visibleLocked(ctx context.Context, open *openSegment, f record.Frame, stream retention.Stream) error {
	rows := []index.Row{index.FrameRow{Frame: f, Segment: open.entry.Key}}
	for _, pin := range s.book.ExtendPins(stream, f.Time(), open.entry.Key) {
		rows = append(rows, index.PinSegmentRow{Pin: pin, Segment: open.entry.Key})
	}
	return s.queue(context.WithoutCancel(ctx), rows...)
}

// queue hands rows to the index and turns its failure into ours.
func (s *Store) queue(ctx context.Context, rows ...index.Row) error {
	err := s.ix.Enqueue(ctx, rows...)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.New(fault.Cancelled, "the request ended before the record was accepted").Because(err)
	case errors.Is(err, index.ErrClosed):
		return closedFault()
	}
	return s.fail(terminalFault(opIndex, err))
}

// writerLocked returns the session's open segment with room for n more bytes, rotating when it is due.
func (s *Store) writerLocked(session id.Session, n int64) (*openSegment, error) {
	mono := int64(s.options.Clock.Mono())
	if open := s.writers[session]; open != nil {
		full := open.writer.Frames() > 0 && open.writer.Size()+n > s.segmentSize()
		if !full && mono-open.createdAt < int64(segmentAge) {
			return open, nil
		}
		s.detachLocked(session)
	}
	return s.createLocked(session, mono)
}

// segmentSize is the length at which a segment is closed.
func (s *Store) segmentSize() int64 {
	return max(segmentMin, min(segmentMax, s.share/segmentFraction))
}

func (s *Store) createLocked(session id.Session, mono int64) (*openSegment, error) {
	now := s.options.Clock.Wall().UnixNano()
	w, err := segment.NewWriter(s.fs, segment.Header{ID: id.New[id.Segment](), Session: session, CreatedWallNS: now})
	if err != nil {
		return nil, err
	}
	s.book.AddSegment(retention.Segment{Key: s.nextKey, ID: w.ID(), Session: session, Bytes: w.Size(), CreatedWall: now, LastWall: now})
	open := &openSegment{writer: w, entry: s.book.Segment(s.nextKey), createdAt: mono}
	s.nextKey++
	s.fileBytes += w.Size()
	s.writers[session] = open
	return open, s.queue(context.Background(), index.SegmentRow{Segment: rowOf(open.entry)})
}

func rowOf(e *retention.Segment) index.Segment {
	return index.Segment{
		Key: e.Key, ID: e.ID, Session: e.Session, Sealed: e.Sealed, Bytes: e.Bytes,
		CreatedWall: e.CreatedWall, LastWall: e.LastWall,
	}
}

// detachLocked hands the session's open segment to the publisher to be sealed. The seal's bytes count from now.
func (s *Store) detachLocked(session id.Session) {
	open := s.writers[session]
	if open == nil {
		return
	}
	delete(s.writers, session)
	s.fileBytes += segment.SealSize
	open.entry.Bytes += segment.SealSize
	s.publisher.tasks <- task{seal: open.writer, row: rowOf(open.entry)}
}

// dropWriterLocked gives up a segment whose write failed. Its file stays for recovery.
func (s *Store) dropWriterLocked(session id.Session) {
	s.writers[session].writer.Abandon()
	delete(s.writers, session)
}

func (s *Store) writeFailedLocked(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	f = writeFault(err)
	if f.Persistence.Recoverability == writerTerminal {
		return s.fail(f)
	}
	s.noteLocked(f)
	return f
}

// flushLocked asks for a flush when enough was written since the last one.
func (s *Store) flushLocked(open *openSegment) {
	size := open.writer.Size()
	if size-open.flushedTo < flushBytes {
		return
	}
	select {
	case s.publisher.tasks <- task{flush: open.writer}:
		open.flushedTo = size
	default: // the device is far behind; the next append asks again
	}
}

// absorbLocked takes in what the publisher finished.
func (s *Store) absorbLocked() {
	for _, r := range s.publisher.take() {
		if entry := s.book.Segment(r.key); entry != nil && (r.err == nil || isDirectorySync(r.err)) {
			entry.Sealed = true
		}
		if r.err == nil {
			continue
		}
		f := writeFault(r.err)
		if f.Persistence.Recoverability == writerTerminal {
			_ = s.fail(f)
			continue
		}
		s.noteLocked(f)
		s.rejected[r.session] = f
	}
}

func isDirectorySync(err error) bool {
	var op *segment.OpError
	return errors.As(err, &op) && op.Op == segment.SyncDir
}

// noteLocked keeps the first failure for the status.
func (s *Store) noteLocked(f *fault.Error) {
	if s.first == nil {
		s.first = f
	}
}

func (s *Store) wallTime() time.Time { return s.options.Clock.Wall() }

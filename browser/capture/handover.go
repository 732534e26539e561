package capture

import (
	"context"
	"time"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// keepBuffer is the largest payload buffer that goes back to the pool, in bytes.
const keepBuffer = 4 << 20

// item is one frame on its way to the sink, or a flush that waits for those before it.
type item struct {
	frame   record.Frame
	payload *[]byte
	flushed chan struct{}
}

// accept numbers an acknowledged frame and hands it over without ever waiting. It runs on the reader.
func (s *stream) accept(data []byte, m metadata, times timeMap, received, ack time.Duration) {
	wall := s.recorder.config.Clock.Clock().Wall()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ordinal++
	if s.closed || s.ended {
		s.stats.received++
		s.stats.dropped++
		return
	}
	f := s.describe(m, times, received, wall)
	s.stats.arrived(f, ack)
	s.crashed = false
	switch {
	case len(data) > MaxPayload/3*4:
		s.drop(record.GapFrameRejected, f)
	case !s.offer(f, data):
		s.drop(record.GapQueueSaturated, f)
	default:
		s.ledger.good(f.Time())
	}
}

func (s *stream) drop(reason record.GapReason, f record.Frame) {
	s.stats.dropped++
	s.ledger.begin(reason, f.Time(), f.Ordinal)
}

// describe makes the frame's record but for what only its bytes can tell.
func (s *stream) describe(m metadata, times timeMap, received time.Duration, wall time.Time) record.Frame {
	presented, skewed := times.presented(m, received, wall)
	if skewed {
		s.stats.skewed++
	}
	f := record.Frame{
		ID: id.New[id.Frame](), SessionID: s.recorder.config.Session, TargetID: s.target, Ordinal: s.ordinal,
		ReceivedNS: s.recorder.config.Clock.At(received), PresentedNS: presented,
		ChromeTimestamp: m.Wall, Viewport: s.geometry,
	}
	if m.Width == nil || m.Height == nil || *m.Width <= 0 || *m.Height <= 0 {
		f.Warnings = append(f.Warnings, record.WarnViewportIncomplete)
	} else {
		s.geometry = s.viewport(m)
		f.Viewport = s.geometry
	}
	if want := s.expected; want[0] > 0 {
		if f.ReceivedNS > s.expires || f.Viewport.Width == want[0] && f.Viewport.Height == want[1] {
			s.expected = [2]float64{}
		} else {
			f.Warnings = append(f.Warnings, record.WarnViewportPending)
		}
	}
	return f
}

func (s *stream) viewport(m metadata) record.Viewport {
	v := record.Viewport{Width: *m.Width, Height: *m.Height, OffsetTop: m.OffsetTop, ScrollX: m.ScrollX, ScrollY: m.ScrollY}
	if m.PageScale != nil {
		v.PageScale = *m.PageScale
	}
	if s.session != nil {
		if e := s.session.Emulated(); e != nil {
			v.DeviceScale = e.DeviceScale
		}
	}
	return v
}

// offer copies the payload into a buffer of its own and queues it; false when there is no room.
func (s *stream) offer(f record.Frame, data []byte) bool {
	r := s.recorder
	if len(s.queue) == cap(s.queue) || r.waiting.Add(int64(len(data))) > QueueBytes {
		if len(s.queue) != cap(s.queue) {
			r.waiting.Add(-int64(len(data)))
		}
		return false
	}
	buffer, _ := r.buffers.Get().(*[]byte)
	*buffer = append((*buffer)[:0], data...)
	select {
	case s.queue <- item{frame: f, payload: buffer}:
		return true
	default: // a flush took the last place
		r.release(buffer)
		return false
	}
}

func (r *Recorder) release(buffer *[]byte) {
	r.waiting.Add(-int64(len(*buffer)))
	if cap(*buffer) <= keepBuffer {
		r.buffers.Put(buffer)
	}
}

// write is the stream's one writer. After close it drains what was accepted and ends.
func (s *stream) write() {
	for {
		select {
		case it := <-s.queue:
			s.store(it)
		case <-s.quit:
			for {
				select {
				case it := <-s.queue:
					s.store(it)
				default:
					return
				}
			}
		}
	}
}

func (s *stream) store(it item) {
	if it.flushed != nil {
		close(it.flushed)
		return
	}
	r := s.recorder
	if r.sinkContext.Err() != nil {
		r.release(it.payload)
		s.lost(record.GapStopped, it.frame)
		return
	}
	_, err := r.config.Frames.AppendFrame(r.sinkContext, it.frame, *it.payload)
	r.release(it.payload)
	if err != nil {
		s.rejected(it.frame, err)
		return
	}
	s.persisted()
}

func (s *stream) persisted() {
	s.mu.Lock()
	s.stats.persisted++
	if s.failure != nil && s.failure.Code == fault.BudgetExhausted {
		s.failure = nil // recording has resumed
	}
	counted := s.counted
	s.mu.Unlock()
	if counted {
		s.recorder.mu.Lock()
		s.recorder.past.persisted++
		s.recorder.mu.Unlock()
	}
}

func (s *stream) lost(reason record.GapReason, f record.Frame) {
	s.mu.Lock()
	s.drop(reason, f)
	counted := s.counted
	s.mu.Unlock()
	if counted {
		s.recorder.mu.Lock()
		s.recorder.past.dropped++
		s.recorder.mu.Unlock()
	}
}

// rejected sorts the sink's refusals: a bad frame costs that frame, an exhausted budget lasts until the next
// good frame, a failed store ends the stream.
func (s *stream) rejected(f record.Frame, err error) {
	code := fault.CodeOf(err)
	switch code {
	case fault.InvalidInput, fault.ResourceLimitExceeded:
		s.lost(record.GapFrameRejected, f)
		return
	}
	s.lost(record.GapPersistenceRejected, f)
	s.mu.Lock()
	first := s.failure == nil
	if first {
		s.failure = fault.From(err).About(fault.Context{SessionID: f.SessionID, TargetID: f.TargetID})
	}
	end := code != fault.BudgetExhausted && !s.ended
	if end {
		s.ended = true
	}
	session := s.session
	s.mu.Unlock()
	if end && session != nil {
		s.recorder.config.Logger.Warn("recording of a page ended", "target", string(s.target), "code", string(code))
		_ = session.Post("Page.stopScreencast", nil)
	}
}

// flush waits until the frames before it have been stored.
func (s *stream) flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case s.queue <- item{flushed: done}:
	case <-s.quit:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-done:
		return nil
	case <-s.quit:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package stdio

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/clock"
)

const (
	// maxUnread bounds the output that waits for a client that does not read.
	maxUnread = 256 << 20
	// noticeReserve is room beyond maxUnread for lines that say that another one was dropped.
	noticeReserve = 1 << 20
	// writeChunk bounds one write, so that a slow reader still shows progress.
	writeChunk = 64 << 10
	// flushStall is how long the last flush waits without any byte being taken.
	flushStall = 2 * time.Second
)

// writer hands lines to one goroutine that writes them in order. send never blocks.
type writer struct {
	out   io.Writer
	limit int

	mu      sync.Mutex
	queue   [][]byte
	unread  int // bytes queued or being written
	taken   uint64
	dropped int
	closed  bool
	changed chan struct{} // closed and replaced whenever unread, taken or failed changes
	failed  error

	wake   chan struct{}
	broken chan struct{} // closed on the first write error
	done   chan struct{} // closed when run has returned
}

func newWriter(out io.Writer, limit int) *writer {
	return &writer{
		out: out, limit: limit, changed: make(chan struct{}),
		wake: make(chan struct{}, 1), broken: make(chan struct{}), done: make(chan struct{}),
	}
}

// send queues one line without its newline. It reports false when the line was dropped: too much is unread, or
// the stream is broken or closed. The writer owns line afterwards.
func (w *writer) send(line []byte) bool { return w.offer(line, w.limit) }

// sendNotice is send with room in reserve, for the short line that stands in for a dropped one.
func (w *writer) sendNotice(line []byte) bool { return w.offer(line, w.limit+noticeReserve) }

func (w *writer) offer(line []byte, limit int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.failed != nil || w.unread+len(line)+1 > limit {
		w.dropped++
		return false
	}
	w.queue = append(w.queue, line)
	w.unread += len(line) + 1
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return true
}

// run writes until close or the first error. It may stay in a blocked write of the stream for as long as the
// stream lets it.
func (w *writer) run() {
	defer close(w.done)
	for range w.wake {
		for {
			batch, ok := w.take()
			if !ok {
				break
			}
			if !w.writeAll(batch) {
				return
			}
		}
	}
}

// take returns the queued lines as one buffer, at least one line and about a chunk.
func (w *writer) take() ([]byte, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return nil, false
	}
	batch := append(w.queue[0], '\n')
	n := 1
	for n < len(w.queue) && len(batch)+len(w.queue[n]) < writeChunk {
		batch = append(append(batch, w.queue[n]...), '\n')
		n++
	}
	clear(w.queue[:n])
	w.queue = w.queue[n:]
	return batch, true
}

func (w *writer) writeAll(batch []byte) bool {
	for len(batch) > 0 {
		n, err := w.out.Write(batch[:min(len(batch), writeChunk)])
		if n == 0 && err == nil {
			err = io.ErrShortWrite
		}
		w.note(n, err)
		if err != nil {
			return false
		}
		batch = batch[n:]
	}
	return true
}

func (w *writer) note(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread -= n
	w.taken += uint64(n)
	if err != nil && w.failed == nil {
		w.failed = err
		w.queue, w.unread = nil, 0
		close(w.broken)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// flush waits until everything is written, the stream is broken, ctx ends or the client takes nothing for
// flushStall. It returns the number of unread bytes.
func (w *writer) flush(ctx context.Context, c clock.Clock) int {
	for {
		w.mu.Lock()
		unread, taken, changed := w.unread, w.taken, w.changed
		w.mu.Unlock()
		if unread == 0 {
			return 0
		}
		stalled, cancel := clock.WithTimeout(ctx, c, flushStall)
		select {
		case <-changed:
			cancel()
		case <-stalled.Done():
			cancel()
			if ctx.Err() != nil || w.progress() == taken {
				return unread
			}
		}
	}
}

func (w *writer) progress() uint64 { w.mu.Lock(); defer w.mu.Unlock(); return w.taken }

// close drops what is unread and ends run as soon as its current write returns. It returns how many lines
// were ever dropped.
func (w *writer) close() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		w.dropped += len(w.queue)
		w.queue = nil
		close(w.wake)
	}
	return w.dropped
}

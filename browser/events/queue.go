package events

import (
	"sync"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Bounds of what waits for the writer. What the writer has taken counts no longer, so at most twice as much is
// in memory.
const (
	queueItems = 8192
	queueBytes = 16 << 20
	// queueShare is how much of the queue one page may take, so that its storm leaves room for the others.
	queueShare = queueItems * 3 / 4
	// queueReserve is kept for facts of navigations, targets, visibility and dialogs.
	queueReserve = 1024
	// gatherItems is how many items end the wait for more.
	gatherItems = 256
)

// item is one thing for the writer: a protocol message, or something this package observed itself.
type item struct {
	stream  *stream
	message cdp.Event
	made    *made
	visit   func() // called by the writer when everything before has been handled
}

// made is an event whose payload is ready.
type made struct {
	class    record.EventClass
	severity record.Severity
	at       clock.SessionTime
	payload  any
}

// loss is a stretch in which events of a page were not taken.
type loss struct {
	target   id.Target
	from, to clock.SessionTime
	count    uint64
	reason   record.GapReason
}

// queue is the hand-over from the reader to the writer. Offering never waits.
type queue struct {
	wake chan struct{} // something is there
	full chan struct{} // no reason to wait for more

	mu      sync.Mutex
	items   []item
	bytes   int
	pending map[id.Target]int
	losing  map[id.Target]*loss
	lost    []loss
	dropped uint64
	closed  bool
}

func newQueue() *queue {
	return &queue{
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1),
		pending: map[id.Target]int{}, losing: map[id.Target]*loss{},
	}
}

// offer takes the item or counts it as lost. Important items have a reserve of their own.
func (q *queue) offer(it item, at clock.SessionTime, important bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	target, size := it.stream.target, len(it.message.Params)
	limit, share := queueItems, queueShare
	if important {
		limit, share = queueItems+queueReserve, queueItems+queueReserve
	}
	if len(q.items) >= limit || q.pending[target] >= share || q.bytes+size > queueBytes {
		q.drop(target, at)
		return
	}
	q.settle(target)
	q.items = append(q.items, it)
	q.pending[target]++
	q.bytes += size
	signal(q.wake)
	if len(q.items) >= gatherItems {
		signal(q.full)
	}
}

func (q *queue) drop(target id.Target, at clock.SessionTime) {
	q.dropped++
	l := q.losing[target]
	if l == nil {
		l = &loss{target: target, from: at, reason: record.GapBrowserEventsDropped}
		q.losing[target] = l
	}
	l.to = max(at, l.from)
	l.count++
}

// settle ends the loss of a page: the next event is there.
func (q *queue) settle(target id.Target) {
	if l := q.losing[target]; l != nil {
		q.lost = append(q.lost, *l)
		delete(q.losing, target)
	}
}

// sync puts a visit behind everything that is queued: the writer calls it, so it may look at what only the writer
// touches, and must not block. It reports false when the queue is closed.
func (q *queue) sync(visit func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.items = append(q.items, item{visit: visit})
	signal(q.wake)
	signal(q.full)
	return true
}

// take empties the queue and ends the losses that go on: with an empty queue the next event is taken again.
func (q *queue) take() ([]item, []loss) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for target := range q.losing {
		q.settle(target)
	}
	items, lost := q.items, q.lost
	q.items, q.lost, q.bytes = nil, nil, 0
	clear(q.pending)
	return items, lost
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
}

func (q *queue) state() (queued int, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items), q.dropped
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

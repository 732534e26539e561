package cdp

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Event is one event of one protocol session. It is shared by all subscribers and must not be changed.
type Event struct {
	// Session is the flat session, "" for the browser itself.
	Session string
	Method  string
	// Params is raw JSON.
	Params []byte
	// Received is the monotonic reading of the clock when the message had been read.
	Received time.Duration
}

// Decode decodes the parameters into a cdproto event type or a struct of the caller's own.
func (e Event) Decode(v any) error { return Unmarshal(e.Params, v) }

// defaultQueue is the capacity of a subscription in events.
const defaultQueue = 1024

// Subscription delivers the events of one session in the order in which the peer sent them.
type Subscription struct {
	events  chan Event
	hub     *hub
	key     subscriptionKey
	methods map[string]bool
	tap     func(Event)
	dropped atomic.Uint64
	once    sync.Once
}

type subscriptionKey struct {
	session string
	any     bool
}

// Events is the queue. It is closed by Close and when the connection ends.
func (s *Subscription) Events() <-chan Event { return s.events }

// Dropped counts the events lost because the queue was full.
func (s *Subscription) Dropped() uint64 { return s.dropped.Load() }

// Close ends the delivery and closes the queue. Calling it again does nothing.
func (s *Subscription) Close() { s.hub.remove(s) }

func (s *Subscription) wants(method string) bool {
	return len(s.methods) == 0 || s.methods[method]
}

// hub routes events. Delivery runs on the reader and never blocks.
type hub struct {
	mu     sync.RWMutex
	subs   map[subscriptionKey][]*Subscription
	closed bool
}

func newHub() *hub { return &hub{subs: map[subscriptionKey][]*Subscription{}} }

func (h *hub) add(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.finish()
		return
	}
	// Copy on write: deliver walks the slice it has read without holding the lock.
	old := h.subs[s.key]
	h.subs[s.key] = append(slices.Clip(old), s)
}

func (h *hub) remove(s *Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.subs[s.key]
	kept := make([]*Subscription, 0, len(old))
	for _, other := range old {
		if other != s {
			kept = append(kept, other)
		}
	}
	if len(kept) == 0 {
		delete(h.subs, s.key)
	} else {
		h.subs[s.key] = kept
	}
	s.finish()
}

// finish needs the write lock: deliver sends under the read lock, so the queue cannot close beneath it.
func (s *Subscription) finish() {
	s.once.Do(func() {
		if s.events != nil {
			close(s.events)
		}
	})
}

func (h *hub) endSession(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := subscriptionKey{session: session}
	for _, s := range h.subs[key] {
		s.finish()
	}
	delete(h.subs, key)
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, list := range h.subs {
		for _, s := range list {
			s.finish()
		}
	}
	h.subs = map[subscriptionKey][]*Subscription{}
}

// deliver gives the event to every tap first and then to the queues, so that state kept by taps is
// never older than what a queue's reader sees.
func (h *hub) deliver(session, method string, params []byte, received time.Duration) {
	var event Event
	h.mu.RLock()
	matched := h.match(session, method)
	h.mu.RUnlock()
	if len(matched) == 0 {
		return
	}
	event = Event{Session: session, Method: method, Params: append([]byte(nil), params...), Received: received}
	for _, s := range matched {
		if s.tap != nil {
			s.tap(event)
		}
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, s := range matched {
		if s.tap == nil && h.listed(s) {
			s.offer(event)
		}
	}
}

func (h *hub) match(session, method string) []*Subscription {
	var matched []*Subscription
	for _, key := range [2]subscriptionKey{{session: session}, {any: true}} {
		for _, s := range h.subs[key] {
			if s.wants(method) {
				matched = append(matched, s)
			}
		}
	}
	return matched
}

func (h *hub) listed(s *Subscription) bool {
	return slices.Contains(h.subs[s.key], s)
}

func (s *Subscription) offer(event Event) {
	select {
	case s.events <- event:
	default:
		s.dropped.Add(1)
	}
}

package cdp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/krometrail/krometrail/core/clock"
)

// WriteLimit is how long one write may take. A peer that takes no bytes for that long is gone or hung,
// and the connection ends.
const WriteLimit = time.Second

// Interceptor sees every message before it is decoded, on the reading goroutine, and reports whether it
// dealt with it. It must not block and must copy what it keeps.
type Interceptor func(message []byte, received time.Duration) bool

// Client is one protocol connection. All methods are safe for concurrent use.
type Client struct {
	transport Transport
	clock     clock.Clock
	gate      *writeGate
	hub       *hub
	intercept atomic.Pointer[Interceptor]
	nextID    atomic.Int64
	malformed atomic.Uint64
	ackLimit  atomic.Int64 // nanoseconds

	mu      sync.Mutex
	pending map[int64]*Pending
	failure error

	done chan struct{}
}

// NewClient starts reading from transport, which it owns from now on.
func NewClient(transport Transport, c clock.Clock) *Client {
	client := &Client{
		transport: transport, clock: c, gate: newWriteGate(), hub: newHub(),
		pending: map[int64]*Pending{}, done: make(chan struct{}),
	}
	client.ackLimit.Store(int64(AckLimit))
	go client.read()
	return client
}

// SetAckLimit changes how long the reply to an acknowledgement may take, from the next one on.
func (c *Client) SetAckLimit(d time.Duration) { c.ackLimit.Store(int64(d)) }

// Intercept installs the interceptor of messages; there is at most one, the last one wins.
func (c *Client) Intercept(f Interceptor) { c.intercept.Store(&f) }

// Done is closed when the connection has ended and its reader has stopped.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err says why the connection ended; nil while it lives. It wraps ErrClosed.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// Malformed counts messages that were neither a reply nor an event.
func (c *Client) Malformed() uint64 { return c.malformed.Load() }

// Close ends the connection, fails what is waiting and waits for the reader.
func (c *Client) Close() error {
	c.fail(fmt.Errorf("%w: closed by this program", ErrClosed))
	<-c.done
	return nil
}

// Start sends a command and returns without waiting for its reply; commands started one after another
// arrive in that order. session "" addresses the browser. The caller must call Wait or Abandon.
func (c *Client) Start(session, method string, params any) (*Pending, error) {
	p := &Pending{client: c, method: method, session: session, reply: make(chan reply, 1)}
	if err := c.send(p, params); err != nil {
		return nil, err
	}
	return p, nil
}

// StartFunc is Start for a caller that does not wait: done gets the raw result or the error on the reading
// goroutine and must not block. It is called once, unless StartFunc itself fails.
func (c *Client) StartFunc(session, method string, params any, done func(result []byte, err error)) error {
	return c.send(&Pending{client: c, method: method, session: session, notify: done}, params)
}

func (c *Client) send(p *Pending, params any) error {
	p.id = c.nextID.Add(1)
	message, err := encodeCommand(p.id, p.session, p.method, params)
	if err != nil {
		return err
	}
	if err := c.register(p); err != nil {
		return err
	}
	if err := c.write(message, false); err != nil {
		p.Abandon()
		return err
	}
	return nil
}

// Call sends a command and waits for its reply, which is decoded into result unless that is nil. ctx
// bounds only the waiting.
func (c *Client) Call(ctx context.Context, session, method string, params, result any) error {
	p, err := c.Start(session, method, params)
	if err != nil {
		return err
	}
	return p.Wait(ctx, result)
}

// Subscribe returns the queue of a session's events with the given methods, or of all when none is given.
func (c *Client) Subscribe(session string, methods ...string) *Subscription {
	return c.SubscribeN(defaultQueue, session, methods...)
}

// SubscribeN is Subscribe with a queue of n events.
func (c *Client) SubscribeN(n int, session string, methods ...string) *Subscription {
	s := &Subscription{events: make(chan Event, n), hub: c.hub, key: subscriptionKey{session: session}, methods: set(methods)}
	c.hub.add(s)
	return s
}

// Tap calls f for each event on the reading goroutine, before any later reply or event is looked at. f
// must not block and must not call the client's waiting methods. Tapping suits state that gates commands.
func (c *Client) Tap(session string, f func(Event), methods ...string) *Subscription {
	s := &Subscription{hub: c.hub, key: subscriptionKey{session: session}, methods: set(methods), tap: f}
	c.hub.add(s)
	return s
}

// SubscribeAll is SubscribeN for the events of every session.
func (c *Client) SubscribeAll(n int, methods ...string) *Subscription {
	s := &Subscription{events: make(chan Event, n), hub: c.hub, key: subscriptionKey{any: true}, methods: set(methods)}
	c.hub.add(s)
	return s
}

func set(methods []string) map[string]bool {
	if len(methods) == 0 {
		return nil
	}
	m := make(map[string]bool, len(methods))
	for _, method := range methods {
		m[method] = true
	}
	return m
}

func (c *Client) register(p *Pending) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure != nil {
		return c.failure
	}
	c.pending[p.id] = p
	return nil
}

func (c *Client) write(message []byte, urgent bool) error {
	if urgent {
		c.gate.enterUrgent()
	} else {
		c.gate.enter()
	}
	defer c.gate.leave()
	watchdog := c.clock.AfterFunc(WriteLimit, func() {
		c.fail(fmt.Errorf("%w: a write did not finish within %v", ErrClosed, WriteLimit))
	})
	err := c.transport.Write(message)
	watchdog.Stop()
	if err != nil {
		c.fail(fmt.Errorf("%w: %w", ErrClosed, err))
		return c.Err()
	}
	return nil
}

// fail ends the connection once: the first reason stays.
func (c *Client) fail(reason error) {
	c.mu.Lock()
	if c.failure != nil {
		c.mu.Unlock()
		return
	}
	c.failure = reason
	waiting := c.pending
	c.pending = nil
	c.mu.Unlock()
	_ = c.transport.Close()
	for _, p := range waiting {
		p.deliver(reply{err: reason})
	}
}

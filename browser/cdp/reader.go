package cdp

import "fmt"

// read is the one reader of the connection.
func (c *Client) read() {
	defer close(c.done)
	defer c.hub.close()
	for {
		message, err := c.transport.Read()
		if err != nil {
			c.fail(fmt.Errorf("%w: %w", ErrClosed, err))
			return
		}
		received := c.clock.Mono()
		if f := c.intercept.Load(); f != nil && (*f)(message, received) {
			continue
		}
		e, err := decodeEnvelope(message)
		switch {
		case err != nil:
			c.malformed.Add(1)
		case e.ID != 0:
			c.complete(e)
		default:
			c.hub.deliver(e.Session, e.Method, e.Params, received)
			if e.Method == "Target.detachedFromTarget" {
				c.endSession(e.Params)
			}
		}
	}
}

// endSession fails what waits for a session that is gone, because no reply will come, and ends its queues.
func (c *Client) endSession(params []byte) {
	var gone struct {
		Session string `json:"sessionId"`
	}
	if Unmarshal(params, &gone) != nil || gone.Session == "" {
		return
	}
	var waiting []*Pending
	c.mu.Lock()
	for id, p := range c.pending {
		if p.session == gone.Session {
			waiting = append(waiting, p)
			delete(c.pending, id)
		}
	}
	c.mu.Unlock()
	for _, p := range waiting {
		p.deliver(reply{err: &Error{Method: p.method, Code: CodeSessionGone, Message: "session ended"}})
	}
	c.hub.endSession(gone.Session)
}

func (c *Client) complete(e envelope) {
	c.mu.Lock()
	p := c.pending[e.ID]
	delete(c.pending, e.ID)
	c.mu.Unlock()
	if p == nil {
		return // its waiter gave up
	}
	if e.Error != nil {
		p.deliver(reply{err: e.Error.as(p.method)})
		return
	}
	// The result aliases the transport's buffer, which the next Read reuses.
	p.deliver(reply{result: append([]byte(nil), e.Result...)})
}

package cdp

import (
	"context"
	"fmt"
)

type reply struct {
	result []byte
	err    error
}

// Pending is a command that has been sent.
type Pending struct {
	client  *Client
	id      int64
	method  string
	session string
	reply   chan reply
	// notify takes the reply on the reading goroutine instead of the channel.
	notify func([]byte, error)
}

// Method is the command's name.
func (p *Pending) Method() string { return p.method }

// Wait waits for the reply and decodes it into result unless that is nil. When ctx ends first the reply
// is ignored whenever it comes, and the cause of ctx is returned. Call it at most once.
func (p *Pending) Wait(ctx context.Context, result any) error {
	select {
	case r := <-p.reply:
		return p.finish(r, result)
	case <-ctx.Done():
		p.Abandon()
	}
	// A reply that came before ctx ended counts, even when both are ready.
	select {
	case r := <-p.reply:
		return p.finish(r, result)
	default:
		return context.Cause(ctx)
	}
}

func (p *Pending) finish(r reply, result any) error {
	if r.err != nil || result == nil {
		return r.err
	}
	if raw, ok := result.(*[]byte); ok {
		*raw = r.result
		return nil
	}
	if err := Unmarshal(r.result, result); err != nil {
		return fmt.Errorf("decoding the reply to %s: %w", p.method, err)
	}
	return nil
}

// Abandon gives up waiting; the command itself is not taken back.
func (p *Pending) Abandon() {
	p.client.mu.Lock()
	delete(p.client.pending, p.id)
	p.client.mu.Unlock()
}

func (p *Pending) deliver(r reply) {
	if p.notify != nil {
		p.notify(r.result, r.err)
		return
	}
	p.reply <- r
}

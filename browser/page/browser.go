package page

import (
	"context"
	"errors"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
)

// Browser is the browser-level session of a connection. Its commands never wait for a renderer.
type Browser struct {
	client   *cdp.Client
	clock    clock.Clock
	versions Versions
}

// NewBrowser returns the browser-level session of client.
func NewBrowser(client *cdp.Client, c clock.Clock, v Versions) *Browser {
	return &Browser{client: client, clock: c, versions: v}
}

// Client is the connection.
func (b *Browser) Client() *cdp.Client { return b.client }

// Versions names the browser and its protocol.
func (b *Browser) Versions() Versions { return b.versions }

// Send sends a browser-level command and waits at most DefaultDeadline. Failures are those of Session.Send
// without dialogs and crashes.
func (b *Browser) Send(ctx context.Context, method string, params, result any) error {
	return b.SendWithin(ctx, DefaultDeadline, method, params, result)
}

// SendWithin is Send with a deadline of d.
func (b *Browser) SendWithin(ctx context.Context, d time.Duration, method string, params, result any) error {
	ctx, stop := clock.WithTimeout(ctx, b.clock, d)
	defer stop()
	err := b.client.Call(ctx, "", method, params, result)
	if err == nil {
		return nil
	}
	if f := commandFault(method, err, b.versions, true); f != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			f.Message = "the browser did not answer " + method + " in time"
		}
		return f
	}
	return err
}

// Subscribe returns the queue of browser-level events with the given methods.
func (b *Browser) Subscribe(methods ...string) *cdp.Subscription {
	return b.client.Subscribe("", methods...)
}

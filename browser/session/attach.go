package session

import (
	"context"
	"errors"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

const (
	// dialLimit bounds one connection to a debugging endpoint.
	dialLimit = 5 * time.Second
	// reconnectAttempts are made with doubling pauses from reconnectPause on: 6.3 s in all.
	reconnectAttempts = 6
	reconnectPause    = 100 * time.Millisecond
)

// Attach begins a session with a browser that somebody else started on this machine.
func (b *Browser) Attach(ctx context.Context, r corepage.AttachRequest) (corepage.Status, error) {
	endpoint, err := parseEndpoint(r.Endpoint)
	if err != nil {
		return corepage.Status{}, err
	}
	if r.EveryNthFrame < 0 || r.EveryNthFrame > 60 {
		return corepage.Status{}, fault.Input("every_nth_frame", "between 1 and 60")
	}
	leave, err := b.enter(ctx)
	if err != nil {
		return corepage.Status{}, err
	}
	defer leave()
	if err := b.vacant(); err != nil {
		return corepage.Status{}, err
	}
	l, err := b.become(func() (*live, error) { return b.attach(ctx, endpoint, r) })
	if err != nil {
		return corepage.Status{}, err
	}
	return b.status(l), nil
}

func (b *Browser) attach(ctx context.Context, e endpoint, r corepage.AttachRequest) (*live, error) {
	transport, err := e.dial(ctx, b.deps.Clock)
	if err != nil {
		return nil, err
	}
	l := b.newLive(captureConfig(r.EveryNthFrame, r.CaptureSize))
	l.endpoint, l.focus = e, "foreground"
	l.record.Ownership, l.record.Focus = record.Attached, l.focus
	if err := l.establish(ctx, transport, false); err != nil {
		l.discard()
		return nil, attachFailure(err)
	}
	return l, nil
}

// attachFailure names what the browser's silence or end during the attachment means.
func attachFailure(err error) error {
	if code := fault.CodeOf(err); code != fault.Internal && code != fault.PageUnresponsive {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return fault.New(fault.Cancelled, "the attachment was cancelled").Because(err)
	}
	return fault.New(fault.BrowserDisconnected, "the browser accepted the connection and then did not answer").
		WithRecovery("check that the browser is alive and that no other debugger holds it").Because(err)
}

// reconnect restores a lost connection, or says why the session cannot go on. A launched browser that lets go of its
// pipe is gone; there is nothing to connect to.
func (l *live) reconnect() *fault.Error {
	if l.stopping() {
		return nil
	}
	if l.process != nil {
		l.browser.deps.Logger.Warn("the browser has let go of its pipe", "cause", errors.Unwrap(l.process.Failure()))
		return fault.New(fault.BrowserProcessTerminated, "the browser process has ended")
	}
	b := l.browser
	b.setState(corepage.StateReconnecting)
	ctx, cancel := l.whileAlive()
	defer cancel()
	pause := reconnectPause
	for range reconnectAttempts {
		if clock.Wait(ctx, b.deps.Clock, pause) != nil {
			return nil // the session is being stopped
		}
		if l.restore(ctx) {
			l.mu.Lock()
			l.reconnects++
			l.mu.Unlock()
			b.setState(corepage.StateReady)
			return nil
		}
		pause *= 2
	}
	return fault.New(fault.ReconnectExhausted, "the connection was lost and %d attempts to restore it failed", reconnectAttempts)
}

// restore connects again and puts the map of pages back: same targets, same selection, same viewports.
func (l *live) restore(ctx context.Context) bool {
	transport, err := l.endpoint.dial(ctx, l.browser.deps.Clock)
	if err != nil {
		return false
	}
	old := l.view()
	client := l.browser.client(transport)
	if err := l.resume(ctx, client, old); err != nil {
		l.browser.deps.Logger.Warn("a reconnection failed", "error", err)
		_ = client.Close()
		return false
	}
	return true
}

func (l *live) resume(ctx context.Context, client *cdp.Client, old *target.View) error {
	if _, _, err := identify(ctx, l.browser.deps.Clock, client); err != nil {
		return err
	}
	var list struct {
		Infos []struct {
			TargetID string `json:"targetId"`
		} `json:"targetInfos"`
	}
	ctx, cancel := clock.WithTimeout(ctx, l.browser.deps.Clock, dialLimit)
	defer cancel()
	if err := client.Call(ctx, "", "Target.getTargets", nil, &list); err != nil {
		return err
	}
	present := map[string]bool{}
	for _, info := range list.Infos {
		present[info.TargetID] = true
	}
	if err := l.connect(ctx, client, versions(l.record.Browser), old); err != nil {
		return err
	}
	l.registry.DropMissing(present)
	return nil
}

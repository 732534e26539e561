package observe

import (
	"context"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	core "github.com/krometrail/krometrail/core/page"
)

// traffic counts the requests under way since it began to watch. Requests that began before are seen when
// they end.
type traffic struct {
	mu     sync.Mutex
	flying map[string]bool
	last   time.Duration
}

// networkProbe watches requests until done is called.
func (w *waiting) networkProbe(ctx context.Context) (look probe, done func(), err error) {
	t := &traffic{flying: map[string]bool{}, last: w.clock.Mono()}
	tap := w.session.Tap(t.on, "Network.requestWillBeSent", "Network.loadingFinished", "Network.loadingFailed")
	// Enabling again changes nothing for whoever records the network's events.
	if err := w.session.Send(ctx, "Network.enable", nil, nil); err != nil {
		tap.Close()
		return nil, nil, err
	}
	want := time.Duration(w.request.NetworkQuietMS) * time.Millisecond
	return func(context.Context) (bool, core.Probe, error) {
		n, quiet := t.state(w.clock.Mono())
		ms := quiet.Milliseconds()
		return n == 0 && quiet >= want, core.Probe{InFlight: &n, QuietMS: &ms}, nil
	}, tap.Close, nil
}

func (t *traffic) on(e cdp.Event) {
	var p struct {
		ID string `json:"requestId"`
	}
	if e.Decode(&p) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = e.Received
	if e.Method == "Network.requestWillBeSent" {
		t.flying[p.ID] = true
		return
	}
	delete(t.flying, p.ID)
}

func (t *traffic) state(now time.Duration) (flying int, quiet time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.flying) > 0 {
		return len(t.flying), 0
	}
	return 0, max(0, now-t.last)
}

package observe

import (
	"context"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	core "github.com/krometrail/krometrail/core/page"
)

// traffic counts the requests under way: those that began since it watches, and of earlier ones those that earlier names.
type traffic struct {
	// earlier tells what is under way as somebody knows it who watched before; before is its first answer.
	earlier func() []string
	before  map[string]bool

	// mu guards what on changes.
	mu     sync.Mutex
	flying map[string]bool
	last   time.Duration
}

// networkProbe watches requests until done is called.
func (w *waiting) networkProbe(ctx context.Context) (look probe, done func(), err error) {
	t := &traffic{flying: map[string]bool{}, last: w.clock.Mono(), earlier: func() []string { return nil }}
	if w.traffic != nil {
		t.earlier = func() []string { return w.traffic.InFlight(ctx, w.session.Target()) }
	}
	tap := w.session.Tap(t.on, "Network.requestWillBeSent", "Network.loadingFinished", "Network.loadingFailed")
	// Enabling again changes nothing for whoever records the network's events.
	if err := w.session.Send(ctx, "Network.enable", nil, nil); err != nil {
		tap.Close()
		return nil, nil, err
	}
	t.begin()
	want := time.Duration(w.request.NetworkQuietMS) * time.Millisecond
	return func(context.Context) (bool, core.Probe, error) {
		n, quiet := t.state(w.clock.Mono())
		ms := quiet.Milliseconds()
		return n == 0 && quiet >= want, core.Probe{InFlight: &n, QuietMS: &ms}, nil
	}, tap.Close, nil
}

func (t *traffic) on(e cdp.Event) {
	var p struct {
		ID   string `json:"requestId"`
		Type string `json:"type"`
	}
	if e.Decode(&p) != nil || p.Type == "EventSource" {
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

// begin takes what was under way before. One that ends between the tap's start and now is not named any more later.
func (t *traffic) begin() {
	t.before = map[string]bool{}
	for _, k := range t.earlier() {
		t.before[k] = true
	}
}

// settle forgets of what was under way before what has ended since. It asks without the lock, which on needs on the
// connection's reading goroutine.
func (t *traffic) settle() {
	if len(t.before) == 0 {
		return
	}
	still := map[string]bool{}
	for _, k := range t.earlier() {
		if t.before[k] {
			still[k] = true
		}
	}
	t.before = still
}

// state is called by one goroutine at a time.
func (t *traffic) state(now time.Duration) (flying int, quiet time.Duration) {
	old := len(t.before) > 0
	t.settle()
	t.mu.Lock()
	defer t.mu.Unlock()
	flying = len(t.flying)
	for k := range t.before {
		if !t.flying[k] {
			flying++
		}
	}
	if flying > 0 {
		return flying, 0
	}
	if old {
		t.last = max(t.last, now) // the last of them has ended just now, on whichever session
	}
	return 0, max(0, now-t.last)
}

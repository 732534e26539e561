package capability

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// LaneWait is how long a mutating operation queues behind another one of the same page.
const LaneWait = 10 * time.Second

// Lanes serializes the mutating operations of each page in arrival order. Pages never wait for each other.
type Lanes struct {
	clock clock.Clock
	mu    sync.Mutex
	pages map[id.Target]*lane
}

// lane exists while a page has a holder. waiting is in arrival order.
type lane struct {
	holder  string
	waiting []*waiter
}

type waiter struct {
	name  string
	ready chan struct{}
}

// NewLanes returns lanes without holders.
func NewLanes(c clock.Clock) *Lanes {
	return &Lanes{clock: c, pages: map[id.Target]*lane{}}
}

// Enter waits for page's lane on behalf of the operation called name and returns the function that leaves
// it. It fails with page_busy, naming the holder, after LaneWait, and with cancelled when ctx ends first.
func (l *Lanes) Enter(ctx context.Context, page id.Target, name string) (leave func(), err error) {
	w := l.queue(page, name)
	if w == nil {
		return l.leaver(page), nil
	}
	ctx, cancel := clock.WithTimeout(ctx, l.clock, LaneWait)
	defer cancel()
	select {
	case <-w.ready:
		return l.leaver(page), nil
	case <-ctx.Done():
	}
	if holder, waiting := l.withdraw(page, w); waiting {
		return nil, busy(ctx, page, holder)
	}
	return l.leaver(page), nil // the lane was handed over at the last moment
}

// queue takes a free lane (nil) or joins its queue.
func (l *Lanes) queue(page id.Target, name string) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	held, ok := l.pages[page]
	if !ok {
		l.pages[page] = &lane{holder: name}
		return nil
	}
	w := &waiter{name: name, ready: make(chan struct{})}
	held.waiting = append(held.waiting, w)
	return w
}

// withdraw leaves the queue; waiting is false when the lane had been handed to w already.
func (l *Lanes) withdraw(page id.Target, w *waiter) (holder string, waiting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held, ok := l.pages[page]
	if !ok {
		return "", false
	}
	for i, other := range held.waiting {
		if other == w {
			held.waiting = append(held.waiting[:i], held.waiting[i+1:]...)
			return held.holder, true
		}
	}
	return "", false
}

func (l *Lanes) leaver(page id.Target) func() {
	var once sync.Once
	return func() { once.Do(func() { l.handOver(page) }) }
}

func (l *Lanes) handOver(page id.Target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.pages[page]
	if len(held.waiting) == 0 {
		delete(l.pages, page)
		return
	}
	next := held.waiting[0]
	held.waiting = held.waiting[1:]
	held.holder = next.name
	close(next.ready)
}

func busy(ctx context.Context, page id.Target, holder string) error {
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fault.New(fault.Cancelled, "cancelled while waiting for the page; nothing was sent to it").
			About(fault.Context{TargetID: page})
	}
	return fault.New(fault.PageBusy, "the page is busy with %s for more than %d s; nothing was sent to it", holder, int(LaneWait/time.Second)).
		About(fault.Context{TargetID: page}).
		WithRecovery("wait for %s to end, or handle its dialog, then call again", holder)
}

type holdKey struct{}

// hold is a lane held for a whole batch: its steps enter through it.
type hold struct {
	lanes *Lanes
	page  id.Target
	name  string
	leave func()
}

// enterHeld is Enter, unless ctx already holds the lane of this page.
func (l *Lanes) enterHeld(ctx context.Context, page id.Target, name string) (context.Context, func(), error) {
	if h, ok := ctx.Value(holdKey{}).(*hold); ok && h.page == page {
		return ctx, func() {}, nil
	}
	leave, err := l.Enter(ctx, page, name)
	if err != nil {
		return ctx, nil, err
	}
	h := &hold{lanes: l, page: page, name: name, leave: leave}
	return context.WithValue(ctx, holdKey{}, h), func() { h.leave() }, nil
}

// Yield runs f without the lane that ctx holds, if any, and takes the lane again before it returns. Waits
// inside a batch use it, so that they hold nothing up. A failure to get the lane back is returned after f ran.
func Yield(ctx context.Context, f func() error) error {
	h, ok := ctx.Value(holdKey{}).(*hold)
	if !ok {
		return f()
	}
	h.leave()
	result := f()
	leave, err := h.lanes.Enter(context.WithoutCancel(ctx), h.page, h.name)
	if err != nil {
		h.leave = func() {}
		return err
	}
	h.leave = leave
	return result
}

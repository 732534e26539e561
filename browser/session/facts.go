package session

import (
	"context"
	"log/slog"
	"sync"

	"github.com/krometrail/krometrail/core/record"
)

// factQueue is how many facts wait for the store. They are rare; a store that hangs must not stop the reader.
const factQueue = 4096

// facts hands facts to the store in order, from one goroutine, and never blocks its callers.
type facts struct {
	sink    record.FactSink
	logger  *slog.Logger
	queue   chan fact
	quit    chan struct{}
	ctx     context.Context //nolint:containedctx // ends the store's calls at a hard stop
	cancel  context.CancelFunc
	done    chan struct{}
	mu      sync.Mutex
	dropped int
	failure error
}

type fact struct {
	value   record.Fact
	flushed chan struct{}
}

var _ record.FactSink = (*facts)(nil)

func newFacts(sink record.FactSink, logger *slog.Logger) *facts {
	ctx, cancel := context.WithCancel(context.Background())
	f := &facts{
		sink: sink, logger: logger, queue: make(chan fact, factQueue), quit: make(chan struct{}),
		ctx: ctx, cancel: cancel, done: make(chan struct{}),
	}
	go f.run()
	return f
}

// Put implements record.FactSink. A full queue drops the fact and counts it.
func (f *facts) Put(_ context.Context, list ...record.Fact) error {
	for _, value := range list {
		select {
		case f.queue <- fact{value: value}:
		default:
			f.mu.Lock()
			f.dropped++
			f.mu.Unlock()
		}
	}
	return nil
}

func (f *facts) run() {
	defer close(f.done)
	for {
		select {
		case next := <-f.queue:
			f.store(next)
		case <-f.quit:
			for {
				select {
				case next := <-f.queue:
					f.store(next)
				default:
					return
				}
			}
		}
	}
}

func (f *facts) store(next fact) {
	if next.flushed != nil {
		close(next.flushed)
		return
	}
	if err := f.sink.Put(f.ctx, next.value); err != nil {
		f.mu.Lock()
		first := f.failure == nil
		if first {
			f.failure = err
		}
		f.mu.Unlock()
		if first {
			f.logger.Warn("a fact could not be stored", "error", err)
		}
	}
}

// flush waits until everything put before has been given to the store.
func (f *facts) flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case f.queue <- fact{flushed: done}:
	case <-f.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-done:
	case <-f.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// stop drains the queue, bounded by ctx, and ends the goroutine. It returns the store's first failure.
func (f *facts) stop(ctx context.Context) error {
	close(f.quit)
	select {
	case <-f.done:
	case <-ctx.Done():
		f.cancel()
		<-f.done
	}
	f.cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dropped > 0 {
		f.logger.Warn("facts were dropped", "count", f.dropped)
	}
	return f.failure
}

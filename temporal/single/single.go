// Package single keeps equal requests from doing the same work at the same time: the second waits for the first and
// then finds what it made.
package single

import (
	"context"
	"sync"
)

// Keys are the works under way. The zero value is ready; it is safe for concurrent use.
type Keys struct {
	mu   sync.Mutex
	busy map[string]chan struct{}
}

// Enter waits until nobody else works on key. The caller calls leave when it has published, or failed. The error is
// the cause of ctx.
func (k *Keys) Enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		wait := k.take(key)
		if wait == nil {
			return func() { k.release(key) }, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take begins work on key, or returns what to wait for.
func (k *Keys) take(key string) (wait chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if wait, busy := k.busy[key]; busy {
		return wait
	}
	if k.busy == nil {
		k.busy = map[string]chan struct{}{}
	}
	k.busy[key] = make(chan struct{})
	return nil
}

func (k *Keys) release(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.busy[key])
	delete(k.busy, key)
}

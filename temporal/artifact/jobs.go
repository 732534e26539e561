package artifact

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/visual"
)

// jobs keeps equal requests from doing the same work at the same time: the second waits for the first and
// then finds its pictures. The zero value is ready.
type jobs struct {
	mu   sync.Mutex
	busy map[string]chan struct{}
}

// enter waits until no other request works on key.
func (j *jobs) enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		wait := j.take(key)
		if wait == nil {
			return func() { j.release(key) }, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, overdue(ctx)
		}
	}
}

func (j *jobs) take(key string) (wait chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if wait, busy := j.busy[key]; busy {
		return wait
	}
	if j.busy == nil {
		j.busy = map[string]chan struct{}{}
	}
	j.busy[key] = make(chan struct{})
	return nil
}

func (j *jobs) release(key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.busy[key])
	delete(j.busy, key)
}

// keptAnalyses bounds the analyses kept for re-rendering; each is a few megabytes.
const keptAnalyses = 6

// analyses keeps the most recently used analyses. The zero value is ready.
type analyses struct {
	mu   sync.Mutex
	keys []string
	byID map[string]*visual.Analysis
}

func (a *analyses) get(key string) *visual.Analysis {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := a.byID[key]
	if found != nil {
		a.touch(key)
	}
	return found
}

func (a *analyses) put(key string, analysis *visual.Analysis) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[string]*visual.Analysis{}
	}
	a.byID[key] = analysis
	a.touch(key)
	if len(a.keys) > keptAnalyses {
		delete(a.byID, a.keys[0])
		a.keys = a.keys[1:]
	}
}

// touch moves key to the young end.
func (a *analyses) touch(key string) {
	for i, k := range a.keys {
		if k == key {
			a.keys = append(a.keys[:i], a.keys[i+1:]...)
			break
		}
	}
	a.keys = append(a.keys, key)
}

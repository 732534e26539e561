package cdp

import "sync"

// writeGate admits one writer at a time. Acknowledgements go before commands, so that a burst of large
// commands delays the next frame by at most the one write that is under way.
type writeGate struct {
	mu     sync.Mutex
	free   sync.Cond
	busy   bool
	urgent int
}

func newWriteGate() *writeGate {
	g := &writeGate{}
	g.free.L = &g.mu
	return g
}

func (g *writeGate) enter() {
	g.mu.Lock()
	for g.busy || g.urgent > 0 {
		g.free.Wait()
	}
	g.busy = true
	g.mu.Unlock()
}

func (g *writeGate) enterUrgent() {
	g.mu.Lock()
	g.urgent++
	for g.busy {
		g.free.Wait()
	}
	g.urgent--
	g.busy = true
	g.mu.Unlock()
}

func (g *writeGate) leave() {
	g.mu.Lock()
	g.busy = false
	g.mu.Unlock()
	g.free.Broadcast()
}

package instance

import "context"

// AssumedPeers is the live count that is assumed when nothing was ever proved.
const AssumedPeers = 4

// Source says how a live count is known.
type Source string

// The sources of a count, strongest first.
const (
	// Proved: the directory was read just now.
	Proved Source = "proved"
	// LastProved: the directory cannot be read; this is the last count that was.
	LastProved Source = "last_proved"
	// Assumed: the directory was never readable.
	Assumed Source = "assumed"
	// Undivided: this system cannot prove ownership, so the budget is not divided.
	Undivided Source = "undivided"
)

// Count is the number of live instances, this one included.
type Count struct {
	Live   int
	Source Source
	// Abandoned is the number of roots that Reap would clear.
	Abandoned int
}

// counter remembers the last proof.
type counter struct{ proved int }

func (c *counter) settle(live int, err error) (int, Source) {
	switch {
	case err == nil:
		c.proved = live
		return live, Proved
	case c.proved > 0:
		return c.proved, LastProved
	}
	return AssumedPeers, Assumed
}

// Live counts the instances that hold their root now. It reads the directory through the handle that Create
// retained; on failure it falls back to the last proved count, and to AssumedPeers before the first proof.
func (in *Instance) Live() Count {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !canProveOwnership {
		return Count{Live: 1, Source: Undivided}
	}
	seen, err := in.peers.survey()
	if err == nil && in.counter.proved > 0 && 1+seen.live > in.counter.proved {
		// One more than before is a newcomer, or an abandoned root that a peer locks to take it away: a second look tells
		// them apart, and spares the evidence that a smaller share would cost.
		seen, err = in.peers.survey()
	}
	live, source := in.counter.settle(1+seen.live, err)
	return Count{Live: live, Source: source, Abandoned: len(seen.abandoned)}
}

// Reap removes the roots that nobody holds and returns how many it removed. It is best effort: a root whose
// lock cannot be taken at this moment is stepped over. It stops between two roots when ctx ends.
func (in *Instance) Reap(ctx context.Context) int {
	if !canProveOwnership {
		return 0
	}
	in.mu.Lock()
	seen, err := in.peers.survey()
	in.mu.Unlock()
	if err != nil {
		return 0
	}
	removed := 0
	for _, name := range seen.abandoned {
		if ctx.Err() != nil {
			break
		}
		if in.peers.reap(ctx, name) {
			removed++
		}
	}
	return removed
}

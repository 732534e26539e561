package stdio

import (
	"slices"
	"sync"
)

const (
	// maxInFlight bounds the admitted requests that have not ended.
	maxInFlight = 1024
	// maxInFlightBytes bounds the input that those requests hold.
	maxInFlightBytes = 256 << 20
)

// inflight is the table of admitted requests.
type inflight struct {
	mu      sync.Mutex
	byID    map[string]*request
	bytes   int
	closed  bool
	waiters sync.WaitGroup // one for each admitted request until its response is queued
}

func newInflight() *inflight { return &inflight{byID: map[string]*request{}} }

// admit enters r or says why not.
func (t *inflight) admit(r *request) *rpcError {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := r.id.key()
	switch _, twice := t.byID[key]; {
	case twice:
		return newError(codeInvalidRequest, "a request with this id is still in progress")
	case t.closed:
		return newError(codeOverload, "the server is shutting down")
	case len(t.byID) >= maxInFlight, t.bytes+r.bytes > maxInFlightBytes && len(t.byID) > 0:
		return newError(codeOverload, "too many requests are in progress; wait for a response, then send again")
	}
	t.byID[key] = r
	t.bytes += r.bytes
	t.waiters.Add(1)
	return nil
}

// release frees the request's id. It comes before the response, since the client may use the id again as soon as
// it has read that.
func (t *inflight) release(r *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, r.id.key())
	t.bytes -= r.bytes
}

// leave ends the request: its response is queued.
func (t *inflight) leave() { t.waiters.Done() }

// withdraw cancels the request with this id for the client; an unknown id is ignored, it may just have ended.
func (t *inflight) withdraw(id requestID) {
	t.mu.Lock()
	r := t.byID[id.key()]
	t.mu.Unlock()
	if r != nil {
		r.withdraw()
	}
}

// close stops admission.
func (t *inflight) close() { t.mu.Lock(); defer t.mu.Unlock(); t.closed = true }

// cancelAll asks every request to end; what they answer is still written.
func (t *inflight) cancelAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.byID {
		r.cancel(errEnding)
	}
}

// labels lists what is in progress, sorted.
func (t *inflight) labels() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for _, r := range t.byID {
		names = append(names, r.name())
	}
	slices.Sort(names)
	return names
}

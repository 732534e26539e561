package events

import (
	"slices"

	"github.com/krometrail/krometrail/core/redact"
)

// maxInflight bounds the requests that are remembered until they end; the oldest are forgotten first.
const maxInflight = 4096

// inflight is what later messages of a request do not repeat.
type inflight struct {
	method, kind string
	url          *redact.URLSummary
	started      float64 // Chrome's monotonic seconds
	fromCache    bool
	at           sessionTime // of the newest stage
}

// stage gives the time of the next stage of the request, which is never before the last one: Chrome takes the
// times of one request in several processes.
func (f *inflight) stage(at sessionTime) sessionTime {
	f.at = max(f.at, at)
	return f.at
}

// requests finds them by the browser's request id. It is unique in the browser, and one request can be told on
// several sessions: a worker's script begins on the page's and ends on the worker's.
type requests struct {
	known map[string]*inflight
	order []string
	// failed are the last ones that failed: Chrome ends the request of a failed document a second time.
	failed [64]string
	next   int
}

func newRequests() *requests { return &requests{known: map[string]*inflight{}} }

func (r *requests) add(k string, f *inflight) {
	if r.known[k] == nil {
		r.order = append(r.order, k)
	}
	r.known[k] = f
	// order also holds requests that have ended; it is swept when it has grown to twice the bound.
	for len(r.known) > maxInflight || len(r.order) > 2*maxInflight {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
}

// get never returns nil: of a request whose beginning was missed nothing is known.
func (r *requests) get(k string) *inflight {
	if f := r.known[k]; f != nil {
		return f
	}
	return &inflight{}
}

func (r *requests) end(k string) { delete(r.known, k) }

func (r *requests) fail(k string) {
	r.end(k)
	r.failed[r.next%len(r.failed)] = k
	r.next++
}

func (r *requests) failedBefore(k string) bool {
	return r.known[k] == nil && slices.Contains(r.failed[:], k)
}

func requestID(raw string) string {
	if len(raw) > 64 {
		return ""
	}
	return token(raw)
}

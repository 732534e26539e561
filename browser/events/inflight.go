package events

import (
	"slices"
	"time"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/redact"
)

// maxInflight bounds the requests that are remembered until they end; the oldest are forgotten first.
const maxInflight = 4096

// inflight is what later messages of a request do not repeat.
type inflight struct {
	target       id.Target
	method, kind string
	url          *redact.URLSummary
	started      float64 // Chrome's monotonic seconds
	fromCache    bool
	at           sessionTime // of the newest stage
	loader       string      // of the document that asked
	left         bool        // the page has another document since
}

// lastingAfter is how long a request may be without a next stage before it counts as one that is meant to last.
const lastingAfter = 30 * time.Second

// lasts reports whether the request is one that nobody waits for: a page holds it open, as a long poll, a stream of events
// or a socket, or it belongs to a document that is gone, of which the browser may never tell the end.
func (f *inflight) lasts(now sessionTime) bool {
	return f.left || f.kind == "eventsource" || f.kind == "websocket" || now.Sub(f.at) > lastingAfter
}

// stage gives the time of the next stage of a request, which is never before the last one: Chrome takes the
// times of one request in several processes.
func (f *inflight) stage(at sessionTime) sessionTime {
	f.at = max(f.at, at)
	return f.at
}

// requests finds them by the browser's request id. It is unique in the browser, and one request can be told on
// several sessions: a worker's script begins on the page's and ends on the worker's. It is the writer's alone.
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

// of names the requests of a target that are under way and are not meant to last.
func (r *requests) of(t id.Target, now sessionTime) []string {
	var names []string
	for k, f := range r.known {
		if f.target == t && !f.lasts(now) {
			names = append(names, k)
		}
	}
	return names
}

// leave notes that a page shows the document of loader: what earlier documents and their frames asked for is abandoned.
// Workers name no loader.
func (r *requests) leave(t id.Target, loader string) {
	for _, f := range r.known {
		if f.target == t && f.loader != "" && f.loader != loader {
			f.left = true
		}
	}
}

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

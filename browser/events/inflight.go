package events

import "github.com/krometrail/krometrail/core/redact"

// maxInflight bounds the requests that are remembered until they end; the oldest are forgotten first.
const maxInflight = 4096

// inflight is what later messages of a request do not repeat.
type inflight struct {
	method, kind string
	url          *redact.URLSummary
	started      float64 // Chrome's monotonic seconds
	fromCache    bool
}

type requestKey struct{ session, id string }

type requests struct {
	known map[requestKey]*inflight
	order []requestKey
}

func newRequests() *requests { return &requests{known: map[requestKey]*inflight{}} }

func (r *requests) add(k requestKey, f *inflight) {
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
func (r *requests) get(k requestKey) *inflight {
	if f := r.known[k]; f != nil {
		return f
	}
	return &inflight{}
}

func (r *requests) end(k requestKey) { delete(r.known, k) }

func requestID(raw string) string {
	if len(raw) > 64 {
		return ""
	}
	return token(raw)
}

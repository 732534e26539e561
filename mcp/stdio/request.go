package stdio

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/krometrail/krometrail/core/fault"
)

// request is one admitted request until its handler has returned.
type request struct {
	id     requestID
	method string
	era    era
	params object
	bytes  int
	cancel context.CancelCauseFunc
	out    *writer

	token    json.RawMessage // of progress, nil when the client wants none
	logLevel string          // of notifications/message in a modern request, "" for none

	mu       sync.Mutex
	label    string // what it is called in logs and in the list of unfinished work
	silent   bool   // finished or cancelled: nothing more is written for this id
	reported float64
	started  bool  // progress was reported at least once
	cause    error // what the handler failed with, for the error mapping
}

// errWithdrawn is the cause of a request's context after notifications/cancelled.
var errWithdrawn = fault.New(fault.Cancelled, "the client cancelled the request")

// errEnding is the cause of a request's context when the program ends.
var errEnding = fault.New(fault.Cancelled, "the program is ending")

// withdraw cancels the request on the client's behalf: its response is never written.
func (r *request) withdraw() {
	r.mu.Lock()
	r.silent = true
	r.mu.Unlock()
	r.cancel(errWithdrawn)
}

// write sends a line that belongs to the request, unless the request is silent. last ends the request.
func (r *request) write(line []byte, last bool) (sent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.silent {
		return true
	}
	r.silent = last
	return r.out.send(line)
}

// name returns the label.
func (r *request) name() string { r.mu.Lock(); defer r.mu.Unlock(); return r.label }

func (r *request) rename(label string) { r.mu.Lock(); defer r.mu.Unlock(); r.label = label }

func (r *request) fail(err error) { r.mu.Lock(); defer r.mu.Unlock(); r.cause = err }

func (r *request) failure() error { r.mu.Lock(); defer r.mu.Unlock(); return r.cause }

type requestKey struct{}

func requestFrom(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// WantsProgress reports whether the client asked to know how far the request that ctx belongs to has come.
func WantsProgress(ctx context.Context) bool {
	r := requestFrom(ctx)
	return r != nil && r.token != nil
}

// Progress tells the client how far the request that ctx belongs to has come, if the client asked to know.
// done must grow from call to call, a smaller or equal one is ignored; total 0 means unknown. The
// notification is queued before Progress returns, so it precedes the response; after the response nothing
// is sent.
func Progress(ctx context.Context, done, total float64, text string) {
	r := requestFrom(ctx)
	if r == nil || r.token == nil || !r.advance(done) {
		return
	}
	line, err := notification("notifications/progress", struct {
		Token   json.RawMessage `json:"progressToken"`
		Done    float64         `json:"progress"`
		Total   float64         `json:"total,omitempty"`
		Message string          `json:"message,omitempty"`
	}{r.token, done, total, text})
	if err == nil {
		r.write(line, false)
	}
}

// advance accepts done when it is more than what was reported before.
func (r *request) advance(done float64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started && done <= r.reported {
		return false
	}
	r.started, r.reported = true, done
	return true
}

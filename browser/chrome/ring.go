package chrome

import (
	"strings"
	"sync"

	"github.com/krometrail/krometrail/core/redact"
)

// stderrRing is how much of the browser's stderr is kept in memory, in bytes. It leaves redacted only, for the log.
const stderrRing = 64 << 10

// lastWords is how much of it a failure carries as its cause, in bytes.
const lastWords = 4 << 10

// ring keeps the newest bytes written to it.
type ring struct {
	mu  sync.Mutex
	buf []byte
	max int
}

func newRing(limit int) *ring { return &ring{max: limit} }

// Write implements io.Writer; it never fails.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = append(r.buf, p...)
	if over := len(r.buf) - r.max; over > 0 {
		r.buf = append(r.buf[:0], r.buf[over:]...)
	}
	return len(p), nil
}

// Redacted returns the newest lines, at most limit bytes, without addresses, paths and secrets. All that is kept is redacted
// before it is cut, so that no cut hides what a secret looks like.
func (r *ring) Redacted(limit int) string {
	text := r.String()
	if len(text) >= r.max {
		_, text, _ = strings.Cut(text, "\n") // the oldest line has lost its beginning
	}
	text = redact.Text(text, 16*r.max) // a mark is longer than what it hides
	if over := len(text) - limit; over > 0 {
		_, text, _ = strings.Cut(text[over:], "\n")
	}
	return text
}

// String returns what is kept, as the browser wrote it.
func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.buf)
}

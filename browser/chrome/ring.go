package chrome

import "sync"

// stderrRing is how much of the browser's stderr is kept in memory, in bytes. It is never written anywhere.
const stderrRing = 64 << 10

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

// String returns what is kept.
func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.buf)
}

package resolve

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
)

const (
	// MaxHandles and maxHandleBytes bound the handles of a process. None is ever evicted: a handle that was
	// given out stays good.
	MaxHandles     = 4096
	maxHandleBytes = 16 << 20
)

// handles maps equal ranges to one handle each.
type handles struct {
	mu      sync.Mutex
	byRange map[string]id.RangeHandle
	ranges  map[id.RangeHandle]evidence.ResolvedRange
	bytes   int
}

func newHandles() *handles {
	return &handles{byRange: map[string]id.RangeHandle{}, ranges: map[id.RangeHandle]evidence.ResolvedRange{}}
}

// issue returns the range's handle, a new one for a new range; ok is false at the bounds.
func (h *handles) issue(r evidence.ResolvedRange) (handle id.RangeHandle, ok bool) {
	raw, err := json.Marshal(r)
	if err != nil {
		return "", false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if have, known := h.byRange[string(raw)]; known {
		return have, true
	}
	if len(h.ranges) >= MaxHandles || h.bytes+len(raw) > maxHandleBytes {
		return "", false
	}
	handle = id.New[id.RangeHandle]()
	h.byRange[string(raw)], h.ranges[handle] = handle, r
	h.bytes += len(raw)
	return handle, true
}

func (h *handles) find(handle id.RangeHandle) (evidence.ResolvedRange, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.ranges[handle]
	return r, ok
}

// offset prints a session time as agents read it.
func offset(t clock.SessionTime) string { return fmt.Sprintf("%+.3f s", t.Duration().Seconds()) }

package resolve

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
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
	ranges  map[id.RangeHandle]issued
	bytes   int
}

// issued is a range with the warnings of its resolution.
type issued struct {
	rng      evidence.ResolvedRange
	warnings []*fault.Error
}

func newHandles() *handles {
	return &handles{byRange: map[string]id.RangeHandle{}, ranges: map[id.RangeHandle]issued{}}
}

// issue returns the range's handle, a new one for a new range; ok is false at the bounds.
func (h *handles) issue(r evidence.ResolvedRange, warnings []*fault.Error) (handle id.RangeHandle, ok bool) {
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
	h.byRange[string(raw)], h.ranges[handle] = handle, issued{r, warnings}
	h.bytes += len(raw)
	return handle, true
}

func (h *handles) find(handle id.RangeHandle) (evidence.ResolvedRange, []*fault.Error, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.ranges[handle]
	return r.rng, r.warnings, ok
}

// offset prints a session time as agents read it.
func offset(t clock.SessionTime) string { return fmt.Sprintf("%+.3f s", t.Duration().Seconds()) }

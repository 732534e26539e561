package artifact

import (
	"sync"

	"github.com/krometrail/krometrail/visual"
)

// keptAnalyses bounds the analyses kept for re-rendering; each is a few megabytes.
const keptAnalyses = 6

// analyses keeps the most recently used analyses. The zero value is ready.
type analyses struct {
	mu   sync.Mutex
	keys []string
	byID map[string]*visual.Analysis
}

func (a *analyses) get(key string) *visual.Analysis {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := a.byID[key]
	if found != nil {
		a.touch(key)
	}
	return found
}

func (a *analyses) put(key string, analysis *visual.Analysis) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[string]*visual.Analysis{}
	}
	a.byID[key] = analysis
	a.touch(key)
	if len(a.keys) > keptAnalyses {
		delete(a.byID, a.keys[0])
		a.keys = a.keys[1:]
	}
}

// touch moves key to the young end.
func (a *analyses) touch(key string) {
	for i, k := range a.keys {
		if k == key {
			a.keys = append(a.keys[:i], a.keys[i+1:]...)
			break
		}
	}
	a.keys = append(a.keys, key)
}

// maxMade bounds the remembered keys.
const maxMade = 4096

// made remembers what this process has published, to tell what is made again from what is new. The zero value is ready.
type made struct {
	mu    sync.Mutex
	known map[string]bool
	order []string
}

func (m *made) add(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[key] {
		return
	}
	if m.known == nil {
		m.known = map[string]bool{}
	}
	m.known[key] = true
	if m.order = append(m.order, key); len(m.order) > maxMade {
		delete(m.known, m.order[0])
		m.order = m.order[1:]
	}
}

// word is what an outcome says of a picture that was just made.
func (m *made) word(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[key] {
		return "regenerated"
	}
	return "generated"
}

package observe

import (
	"sync"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Bounds of the ring.
const (
	ringPictures = 32
	ringBytes    = 64 << 20
)

// Ring keeps the newest pictures in memory; the oldest go first. Safe for concurrent use.
type Ring struct {
	mu    sync.Mutex
	list  []kept
	bytes int
}

type kept struct {
	id        id.Observation
	session   id.Session
	target    id.Target
	mediaType string
	data      []byte
}

// NewRing returns an empty ring.
func NewRing() *Ring { return &Ring{} }

// Put keeps a picture, which must not be changed afterwards, and returns its identity and address.
func (r *Ring) Put(s id.Session, t id.Target, mediaType string, data []byte) (id.Observation, string) {
	name := id.New[id.Observation]()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, kept{name, s, t, mediaType, data})
	r.bytes += len(data)
	for len(r.list) > ringPictures || (r.bytes > ringBytes && len(r.list) > 1) {
		r.bytes -= len(r.list[0].data)
		r.list[0] = kept{}
		r.list = r.list[1:]
	}
	return name, evidence.EvidenceURI(s, t, evidence.Observations, string(name))
}

// Get returns a kept picture; not_found once newer ones have replaced it.
func (r *Ring) Get(s id.Session, t id.Target, name id.Observation) (data []byte, mediaType string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.list {
		if k.id == name && k.session == s && k.target == t {
			return k.data, k.mediaType, nil
		}
	}
	return nil, "", fault.New(fault.NotFound, "the picture is no longer in memory").
		WithRecovery("take_screenshot takes a new one; retained frames show the past")
}

// Forget drops the pictures of a session and returns how many there were.
func (r *Ring) Forget(s id.Session) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []kept
	r.bytes = 0
	for _, k := range r.list {
		if k.session != s {
			list = append(list, k)
			r.bytes += len(k.data)
		}
	}
	forgotten := len(r.list) - len(list)
	r.list = list
	return forgotten
}

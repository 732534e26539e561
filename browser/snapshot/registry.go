package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
)

// maxDocuments bounds how many documents are remembered; the oldest are forgotten, and their references are
// then stale without a page.
const maxDocuments = 8192

// Registry names documents and frames for one browser session. A reference resolves through it. Safe for
// concurrent use.
type Registry struct {
	mu        sync.Mutex
	last      uint64
	documents map[uint64]*Document
	current   map[frameKey]*Document
	frames    map[frameKey]id.DocumentFrame
	names     map[id.DocumentFrame]frameKey
	explored  map[uint64]map[int64]bool
	shown     map[id.Target]core.Snapshot
	links     map[uint64]link
	installs  sync.Mutex
}

// link places a child document: the frame element that shows it.
type link struct {
	parent  *Document
	element uint64
}

type frameKey struct {
	target id.Target
	frame  string
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{
		documents: map[uint64]*Document{}, current: map[frameKey]*Document{}, frames: map[frameKey]id.DocumentFrame{},
		names: map[id.DocumentFrame]frameKey{}, explored: map[uint64]map[int64]bool{}, shown: map[id.Target]core.Snapshot{}, links: map[uint64]link{},
	}
}

func reference(node, generation uint64) string {
	return core.Ref{Node: node, Generation: generation}.String()
}

// Document returns the present document of a frame, "" being the session's root frame, and installs the script
// there when it is new.
func (r *Registry) Document(ctx context.Context, s *page.Session, frame string) (*Document, error) {
	if frame == "" {
		frame = s.MainFrame()
	}
	world, err := s.World(ctx, frame)
	if err != nil {
		return nil, gone(err)
	}
	key := frameKey{s.Target(), frame}
	if d := r.cached(key, s, world); d != nil {
		return d, nil
	}
	r.installs.Lock()
	defer r.installs.Unlock()
	if d := r.cached(key, s, world); d != nil {
		return d, nil
	}
	return r.install(ctx, s, key, world)
}

func (r *Registry) cached(key frameKey, s *page.Session, world int64) *Document {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.current[key]; d != nil && d.World == world && d.Session == s && !d.replaced.Load() {
		return d
	}
	return nil
}

func (r *Registry) install(ctx context.Context, s *page.Session, key frameKey, world int64) (*Document, error) {
	r.mu.Lock()
	r.last++
	generation := r.last
	r.mu.Unlock()
	var reply struct {
		Exception *exception `json:"exceptionDetails"`
	}
	err := s.Send(ctx, "Runtime.evaluate", map[string]any{
		"expression": fmt.Sprintf("%s(%d)", source(), generation), "contextId": world, "returnByValue": true,
	}, &reply)
	if err != nil {
		return nil, gone(err)
	}
	if reply.Exception != nil {
		return nil, fault.New(fault.PageObservationFailed, "the page cannot be read").
			Because(errors.New(reply.Exception.Text + " " + reply.Exception.Exception.Description))
	}
	d := &Document{
		Session: s, FrameID: key.frame, Frame: r.FrameName(key.target, key.frame), Generation: generation, World: world,
		Main: s == s.Page() && key.frame == s.MainFrame(),
	}
	r.keep(key, d)
	return d, nil
}

func (r *Registry) keep(key frameKey, d *Document) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.current[key]; old != nil {
		delete(r.explored, old.Generation)
		delete(r.links, old.Generation)
	}
	r.current[key] = d
	r.documents[d.Generation] = d
	if d.Generation > maxDocuments {
		delete(r.documents, d.Generation-maxDocuments)
	}
}

// FrameName is the identity of a frame of a page.
func (r *Registry) FrameName(target id.Target, frame string) id.DocumentFrame {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := frameKey{target, frame}
	name, ok := r.frames[key]
	if !ok {
		name = id.New[id.DocumentFrame]()
		r.frames[key] = name
		r.names[name] = key
	}
	return name
}

// FrameID is the browser's name of a frame; ok is false when no frame of the page has that identity.
func (r *Registry) FrameID(target id.Target, name id.DocumentFrame) (frame string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, ok := r.names[name]
	return key.frame, ok && key.target == target
}

// TargetOf is the page of a reference. A reference that this session never gave is stale.
func (r *Registry) TargetOf(ref string) (id.Target, error) {
	parsed, err := core.ParseRef(ref)
	if err != nil {
		return "", fault.Input("ref", "a node reference looks like e42@7; take one from snapshot_page or query_page")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.documents[parsed.Generation]
	if d == nil {
		return "", stale("")
	}
	return d.Session.Target(), nil
}

// Forget drops what is known of a closed page.
func (r *Registry) Forget(target id.Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, name := range r.frames {
		if key.target == target {
			delete(r.frames, key)
			delete(r.names, name)
		}
	}
	for key, d := range r.current {
		if key.target == target {
			delete(r.current, key)
			delete(r.explored, d.Generation)
			delete(r.links, d.Generation)
		}
	}
	for generation, d := range r.documents {
		if d.Session.Target() == target {
			delete(r.documents, generation)
		}
	}
	delete(r.shown, target)
}

// Find returns the document and the node number of a reference on the page of session s. It does not ask the
// page whether the node lives: calls for it say so.
func (r *Registry) Find(s *page.Session, ref string) (*Document, uint64, error) {
	parsed, err := core.ParseRef(ref)
	if err != nil {
		return nil, 0, fault.Input("ref", "a node reference looks like e42@7; take one from snapshot_page or query_page")
	}
	r.mu.Lock()
	d := r.documents[parsed.Generation]
	r.mu.Unlock()
	if d == nil {
		return nil, 0, stale(s.Target())
	}
	if d.Session.Target() != s.Target() {
		return nil, 0, fault.Input("ref", fmt.Sprintf("it belongs to page %s, not to %s", d.Session.Target(), s.Target()))
	}
	if d.Session.Page() != s.Page() {
		return nil, 0, stale(s.Target()) // the page was attached again meanwhile
	}
	return d, parsed.Node, nil
}

// Stale is the failure of a reference whose node or document is gone.
func Stale(target id.Target) *fault.Error { return stale(target) }

func stale(target id.Target) *fault.Error {
	return fault.New(fault.StaleReference, "the reference's node is no longer in the page").
		WithRecovery("take a new snapshot_page or query_page and use its reference").About(fault.Context{TargetID: target})
}

// Shown returns the complete snapshot of a page that was shown last, zero when there is none.
func (r *Registry) Shown(target id.Target) core.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown[target]
}

// Show notes what was shown of a page: a later snapshot that equals it may say so. The zero value forgets it.
func (r *Registry) Show(target id.Target, s core.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Generation == 0 {
		delete(r.shown, target)
		return
	}
	r.shown[target] = s
}

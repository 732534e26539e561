package snapshot

import (
	"context"
	"errors"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
)

// Offset places a frame's viewport in the page's viewport, in CSS pixels: x' = X + x*Scale.
type Offset struct{ X, Y, Scale float64 }

// Apply converts a point of the frame to one of the page.
func (o Offset) Apply(x, y float64) (float64, float64) { return o.X + x*o.Scale, o.Y + y*o.Scale }

func (r *Registry) place(d, parent *Document, element uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links[d.Generation] = link{parent, element}
}

func (r *Registry) linkOf(ctx context.Context, d *Document) (link, error) {
	if d.Main {
		return link{}, nil
	}
	r.mu.Lock()
	l, ok := r.links[d.Generation]
	r.mu.Unlock()
	if ok {
		return l, nil
	}
	// The frame was named by list_frames and not seen in a snapshot: one walk finds its place.
	if _, err := r.acquire(ctx, d.Session.Page(), Options{Frames: "all"}); err != nil {
		return link{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok = r.links[d.Generation]; !ok {
		return link{}, ErrGone
	}
	return l, nil
}

// Hop is one frame element on the way from a document up to the page.
type Hop struct {
	Document *Document
	Element  uint64
}

// Hops lists the frame elements from d's own up to that in the main document.
func (r *Registry) Hops(ctx context.Context, d *Document) ([]Hop, error) {
	var hops []Hop
	for !d.Main {
		l, err := r.linkOf(ctx, d)
		if err != nil {
			return nil, err
		}
		hops = append(hops, Hop{l.parent, l.element})
		d = l.parent
	}
	return hops, nil
}

type frameBox struct {
	Stale bool    `json:"stale"`
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Scale float64 `json:"scale"`
}

// Offset places a document's viewport in the page's. scroll brings the frame elements into view first.
func (r *Registry) Offset(ctx context.Context, d *Document, scroll bool) (Offset, error) {
	total := Offset{Scale: 1}
	hops, err := r.Hops(ctx, d)
	if err != nil {
		return total, err
	}
	for i := len(hops) - 1; i >= 0 && scroll; i-- {
		if err := hops[i].Document.Call(ctx, nil, "frameBox", hops[i].Element, true); err != nil {
			return total, err
		}
	}
	for _, h := range hops {
		var b frameBox
		if err := h.Document.Call(ctx, &b, "frameBox", h.Element, false); err != nil {
			return total, err
		}
		if b.Stale {
			return total, ErrGone
		}
		total = Offset{X: b.X + total.X*b.Scale, Y: b.Y + total.Y*b.Scale, Scale: total.Scale * b.Scale}
	}
	return total, nil
}

// Failure turns the failure of a call about a reference into what the agent is told.
func Failure(err error, d *Document) error {
	if errors.Is(err, ErrGone) {
		return stale(d.Session.Target()).Because(err)
	}
	return err
}

// Unreadable is the failure of reading a page whose document is being replaced; other failures stay as they are.
func Unreadable(err error, s *page.Session) error {
	if errors.Is(err, ErrGone) {
		return fault.New(fault.PageObservationFailed, "the page is navigating and cannot be read yet").
			WithRecovery("wait navigation=complete, then try again").About(fault.Context{TargetID: s.Target()}).Because(err)
	}
	return err
}

// Qualified reports whether frame-scoped queries may look into d: it shares the main document's origin and
// process. A document whose opaque origin is inherited (about:blank, srcdoc) qualifies; a fresh opaque one does not.
func (r *Registry) Qualified(ctx context.Context, d *Document) (bool, error) {
	for !d.Main {
		l, err := r.linkOf(ctx, d)
		if err != nil {
			return false, err
		}
		if l.parent.Session != d.Session {
			return false, nil
		}
		var reachable bool
		if err := l.parent.Call(ctx, &reachable, "sameOrigin", l.element); err != nil {
			return false, err
		}
		if !reachable {
			return false, nil
		}
		d = l.parent
	}
	return true, nil
}

func notQualified() error {
	return fault.New(fault.Unsupported, "queries look only into frames of the page's own origin and process").
		WithRecovery("snapshot_page lists the targets of every frame, with references that work")
}

// Query evaluates a semantic query on the present page.
func (r *Registry) Query(ctx context.Context, d *Document, q core.Query, maxMatches int) (core.QueryResult, error) {
	nodes, scope, err := r.matchable(ctx, d, q, true)
	if err != nil {
		return core.QueryResult{}, err
	}
	result := core.Match(nodes, q, scope, maxMatches)
	result.Generation = d.Generation
	return result, nil
}

// Present counts the matches of a query in the full tree, actionable or not.
func (r *Registry) Present(ctx context.Context, d *Document, q core.Query) (int, error) {
	nodes, scope, err := r.matchable(ctx, d, q, false)
	if err != nil {
		return 0, err
	}
	return core.Present(nodes, q, scope), nil
}

func (r *Registry) matchable(ctx context.Context, d *Document, q core.Query, explore bool) ([]core.Node, int, error) {
	end := d.Session.Observing("query")
	defer end()
	var w walked
	if err := r.walk(ctx, d, Options{Semantic: q.Semantic(), Explore: explore}, &w); err != nil {
		return nil, 0, limited(Failure(err, d), d)
	}
	nodes := w.nodes(d.Generation)
	if q.Within == "" {
		return nodes, -1, nil
	}
	ref, err := core.ParseRef(q.Within)
	if err != nil || ref.Generation != d.Generation {
		return nil, 0, stale(d.Session.Target())
	}
	for i := range nodes {
		if nodes[i].Serial == ref.Node {
			return nodes, i, nil
		}
	}
	return nil, 0, stale(d.Session.Target())
}

// DocumentFor is the document that a query is about: that of its frame or of its within reference, else the main one.
func (r *Registry) DocumentFor(ctx context.Context, d *Document, q core.Query) (*Document, error) {
	s := d.Session.Page()
	if q.Within != "" {
		within, _, err := r.Find(s, q.Within)
		if err != nil {
			return nil, err
		}
		return r.qualify(ctx, within)
	}
	if q.Frame == "" {
		return d, nil
	}
	framed, err := r.root(ctx, s, string(q.Frame))
	if err != nil {
		return nil, err
	}
	return r.qualify(ctx, framed)
}

func (r *Registry) qualify(ctx context.Context, d *Document) (*Document, error) {
	ok, err := r.Qualified(ctx, d)
	switch {
	case err != nil:
		return nil, Failure(err, d)
	case !ok:
		return nil, notQualified()
	}
	return d, nil
}

// FrameOf is the session that serves a frame of the page and the browser's name of that frame.
func (r *Registry) FrameOf(s *page.Session, name id.DocumentFrame) (owner *page.Session, frame string, err error) {
	frame, ok := r.FrameID(s.Target(), name)
	if ok {
		owner = owning(s, frame)
	}
	if owner == nil {
		return nil, "", noFrame(s.Target())
	}
	return owner, frame, nil
}

// In returns a handle of the node in another world of its document's session; it is released with the others.
func (h *Handles) In(ctx context.Context, node uint64, s *page.Session, world int64) (string, error) {
	if s != h.Session {
		return "", fault.Input("args", "a reference can only be handed to the process of its own frame")
	}
	handle, err := h.Node(ctx, node)
	if err != nil {
		return "", err
	}
	if handle == "" {
		return "", stale(s.Target())
	}
	described, err := h.describe(ctx, map[string]any{"objectId": handle})
	if err != nil {
		return "", err
	}
	var reply struct {
		Object remoteObject `json:"object"`
	}
	err = s.Send(ctx, "DOM.resolveNode", map[string]any{
		"backendNodeId": described.BackendID, "executionContextId": world, "objectGroup": h.group,
	}, &reply)
	if err != nil {
		return "", gone(err)
	}
	return reply.Object.ObjectID, nil
}

// Vanished recognises refusals that mean that a document went away.
func Vanished(err error) error { return gone(err) }

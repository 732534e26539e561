package snapshot

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// childDeadline bounds the acquisition of one child frame: a hung frame costs one line, not the call.
const childDeadline = 3 * time.Second

// Options of an acquisition.
type Options struct {
	// Frames is all, main, or the identity of one frame.
	Frames string
	// Semantic adds what label, text and test-id queries compare, and serials every element for scoping.
	Semantic bool
	// OnScreen marks what lies in the viewport.
	OnScreen bool
	// Explore looks for closed shadow roots and for elements with pointer listeners, which costs the page more.
	Explore bool
}

// Acquired is a snapshot with what was learned on the way.
type Acquired struct {
	core.Snapshot
	URL, Title, Ready string
	Documents         []*Document
}

// Acquire walks the page's frames. Only the main document's failure, or that of the one frame asked for, fails it.
func (r *Registry) Acquire(ctx context.Context, s *page.Session, o Options) (Acquired, error) {
	end := s.Observing("snapshot")
	defer end()
	for attempt := 0; ; attempt++ {
		a, err := r.acquire(ctx, s, o)
		if !errors.Is(err, ErrGone) {
			return a, err
		}
		// The document was replaced under the walk: the next one is what is wanted, unless it goes on like that.
		if attempt == 3 {
			return a, fault.New(fault.PageObservationFailed, "the page keeps navigating while it is read").
				WithRecovery("wait navigation=complete, then try again").About(fault.Context{TargetID: s.Target()}).Because(err)
		}
	}
}

func (r *Registry) acquire(ctx context.Context, s *page.Session, o Options) (Acquired, error) {
	root, err := r.root(ctx, s, o.Frames)
	if err != nil {
		return Acquired{}, err
	}
	top, err := r.visit(ctx, root, o)
	if err != nil {
		return Acquired{}, limited(err, root)
	}
	a := Acquired{URL: redact.LiveURL(top.walk.Address), Title: top.walk.Title, Ready: top.walk.Ready}
	a.Generation, a.Source, a.Pictorial = root.Generation, core.SourceWalk, top.walk.Pictorial
	r.flatten(&a, top)
	if o.Frames == "all" && !o.Semantic {
		r.remember(s.Target(), a.Snapshot)
	}
	return a, nil
}

func (r *Registry) root(ctx context.Context, s *page.Session, frames string) (*Document, error) {
	if frames == "" || frames == "all" || frames == "main" {
		return r.Document(ctx, s, "")
	}
	frame, ok := r.FrameID(s.Target(), id.DocumentFrame(frames))
	if !ok {
		return nil, noFrame(s.Target())
	}
	owner := owning(s, frame)
	if owner == nil {
		return nil, noFrame(s.Target())
	}
	return r.Document(ctx, owner, frame)
}

func noFrame(target id.Target) error {
	return fault.New(fault.NotFound, "the page has no such frame now").
		WithRecovery("list_frames shows the present frames").About(fault.Context{TargetID: target})
}

// owning is the session that serves a frame, nil when none does.
func owning(s *page.Session, frame string) *page.Session {
	root := s.Page()
	if child := root.Child(frame); child != nil {
		return child
	}
	if _, ok := root.Document(frame); ok {
		return root
	}
	for _, child := range root.Children() {
		if _, ok := child.Document(frame); ok {
			return child
		}
	}
	return nil
}

// visited is one walked frame with its children in document order.
type visited struct {
	document    *Document
	frame       string
	walk        walked
	children    []*visited
	unavailable string
	origin      string
	omitted     int
}

var errTooLarge = errors.New("the document is too large")

type tooLarge struct{ nodes int }

func (t *tooLarge) Error() string   { return errTooLarge.Error() }
func (t *tooLarge) Is(e error) bool { return e == errTooLarge }

func limited(err error, d *Document) error {
	var large *tooLarge
	if errors.As(err, &large) {
		return fault.New(fault.ResourceLimitExceeded, "the document is larger than one snapshot may be").
			WithLimit("document_nodes", int64(large.nodes), core.MaxDocumentNodes, 0).
			WithRecovery("use query_page with css or evaluate on a part of the page, or take_screenshot").
			About(fault.Context{TargetID: d.Session.Target()})
	}
	return err
}

// visit walks a document and, with all frames asked for, its children.
func (r *Registry) visit(ctx context.Context, d *Document, o Options) (*visited, error) {
	v := &visited{document: d, frame: d.FrameID}
	if err := r.walk(ctx, d, o, &v.walk); err != nil {
		return v, err
	}
	v.origin = v.walk.Origin
	if o.Frames == "all" && len(v.walk.Frames) > 0 {
		r.descend(ctx, v, o)
	}
	return v, nil
}

func (r *Registry) walk(ctx context.Context, d *Document, o Options, w *walked) error {
	options := map[string]any{
		"nodes": core.MaxDocumentNodes, "text": core.MaxDocumentText, "semantic": o.Semantic, "serials": o.Semantic, "screen": o.OnScreen,
		"urls": o.Explore,
	}
	if o.Explore {
		if err := r.exploreListeners(ctx, d); err != nil {
			return err
		}
	}
	for round := 0; ; round++ {
		var text string
		if err := d.Call(ctx, &text, "walk", options); err != nil {
			return err
		}
		*w = walked{}
		if err := cdp.Unmarshal([]byte(text), w); err != nil {
			return fault.New(fault.PageObservationFailed, "the page's structure could not be read").Because(err)
		}
		if w.Suspects == 0 || round == maxShadowDepth {
			break
		}
		found, err := r.exploreShadows(ctx, d)
		if err != nil {
			return err
		}
		if found == 0 {
			break
		}
	}
	if w.Over > 0 {
		return &tooLarge{nodes: len(w.Depth) + w.Over}
	}
	return nil
}

// descend visits child frames at the same time.
func (r *Registry) descend(ctx context.Context, v *visited, o Options) {
	v.children = make([]*visited, min(len(v.walk.Frames), core.MaxFrames))
	var wait sync.WaitGroup
	limit := make(chan struct{}, 16)
	for i := range v.children {
		wait.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			v.children[i] = r.child(ctx, v.document, v.walk.Frames[i][0], o)
		})
	}
	wait.Wait()
}

// child visits the frame of a frame element. A frame that cannot be read is still listed.
func (r *Registry) child(ctx context.Context, parent *Document, element uint64, o Options) *visited {
	ctx, cancel := withDeadline(ctx, parent, childDeadline)
	defer cancel()
	frame, err := parent.ContentFrame(ctx, element)
	if err != nil || frame == "" {
		return &visited{unavailable: "gone"}
	}
	v := &visited{frame: frame}
	owner := owning(parent.Session, frame)
	if owner == nil {
		v.unavailable = "gone"
		return v
	}
	if doc, ok := owner.Document(frame); ok {
		v.origin = redact.Origin(doc.URL)
	}
	d, err := r.Document(ctx, owner, frame)
	if err == nil {
		r.place(d, parent, element)
		var full *visited
		full, err = r.visit(ctx, d, o)
		if err == nil {
			return full
		}
	}
	v.unavailable = reason(err)
	var large *tooLarge
	if errors.As(err, &large) {
		v.omitted = large.nodes
	}
	return v
}

func reason(err error) string {
	switch {
	case errors.Is(err, errTooLarge):
		return "too_large"
	case errors.Is(err, ErrGone), fault.CodeOf(err) == fault.TargetFailed:
		return "gone"
	default:
		return "unresponsive"
	}
}

// flatten puts the sections in document order.
func (r *Registry) flatten(a *Acquired, v *visited) {
	if len(a.Sections) >= core.MaxFrames {
		return
	}
	s := core.Section{Origin: display(v.origin), Unavailable: v.unavailable, OmittedNodes: v.omitted, Nodes: []core.Node{}}
	if d := v.document; d != nil {
		s.Frame, s.Main, s.Generation = d.Frame, d.Main, d.Generation
		s.Nodes = v.walk.nodes(d.Generation)
		a.Documents = append(a.Documents, d)
	}
	a.Sections = append(a.Sections, s)
	for _, child := range v.children {
		r.flatten(a, child)
	}
}

func display(origin string) string {
	if origin == "null" || origin == "" {
		return "opaque"
	}
	return origin
}

package observe

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// Bounds of semantic outcomes.
const (
	maxSays     = 8
	maxHeadings = 3
	maxSaid     = 200
)

// Taking says what a live observation is for.
type Taking struct {
	// Picture asks for a screenshot of the given role; "" takes none.
	Picture evidence.Role
	// Unsettled marks the picture as not confirmed settled.
	Unsettled bool
	// Same allows the marker of an unchanged snapshot.
	Same bool
}

// Observe implements control.Inspector.
func (o *Observer) Observe(ctx context.Context, t id.Target, screenshot bool) (core.Observation, error) {
	s, err := o.pages.Page(t)
	if err != nil {
		return core.Observation{Page: core.PageState{TargetID: t}}, err
	}
	taking := Taking{}
	if screenshot {
		taking.Picture = evidence.RoleLive
	}
	// Who asked may or may not show it, so that no later answer builds on it.
	o.snapshots.Show(t, core.Snapshot{})
	return o.Take(ctx, s, taking), nil
}

// Take takes a live observation. What could not be had is absent, and Incomplete says why.
func (o *Observer) Take(ctx context.Context, s *page.Session, taking Taking) core.Observation {
	out := core.Observation{Page: core.PageState{TargetID: s.Target(), URL: presentURL(s), Title: o.known(s)}}
	out.Navigation = NavigationOf(s)
	if out.Dialog = DialogOf(s); out.Dialog != nil {
		return out
	}
	before := o.snapshots.Shown(s.Target())
	var wait sync.WaitGroup
	var tree snapshot.Acquired
	var shot taken
	var treeErr, shotErr error
	wait.Go(func() { tree, treeErr = o.snapshots.Acquire(ctx, s, snapshot.Options{Frames: "all"}) })
	if taking.Picture != "" {
		wait.Go(func() { shot, shotErr = o.view(ctx, s) })
	}
	wait.Wait()
	if out.Dialog = DialogOf(s); out.Dialog != nil {
		return out // it opened while we looked
	}
	out.Navigation = NavigationOf(s)
	o.addTree(&out, s, tree, treeErr, taking.Same, before)
	if taking.Picture != "" {
		o.addShot(&out, s, shot, shotErr, taking)
	}
	return out
}

// addTree leaves out the targets of a document that is being replaced: acting on them would fail.
func (o *Observer) addTree(out *core.Observation, s *page.Session, tree snapshot.Acquired, err error, same bool, before core.Snapshot) {
	if err != nil {
		out.Incomplete = incomplete(err, "the page's structure could not be observed")
		return
	}
	out.Page.URL, out.Page.Title = tree.URL, clip(tree.Title, 300)
	o.remember(s, out.Page.Title)
	out.Says = says(tree.Snapshot)
	if leaving(s) {
		return
	}
	out.Focus = tree.Focused()
	if same {
		o.snapshots.Show(s.Target(), tree.Snapshot)
	}
	if same && tree.SameAs(before) {
		out.Same = tree.Unchanged()
		return
	}
	snap := tree.Snapshot
	out.Tree = &snap
}

func leaving(s *page.Session) bool {
	n, ok := s.Navigation()
	return ok && n.State == page.NavStarted
}

func incomplete(err error, what string) *fault.Error {
	f := fault.From(err)
	if f.Code == fault.Internal {
		return fault.New(fault.PageObservationFailed, "%s", what).WithRecovery("snapshot_page tries again").Because(err)
	}
	return f
}

func (o *Observer) addShot(out *core.Observation, s *page.Session, t taken, err error, taking Taking) {
	if err != nil {
		f := incomplete(err, "the screenshot could not be taken")
		if out.Incomplete == nil {
			out.Incomplete = f
		} else {
			out.Warnings = append(out.Warnings, f)
		}
		return
	}
	name, uri := o.keep(s, t)
	picture := t.picture(taking.Picture)
	picture.ObservationID = name
	out.Picture = &picture
	out.Shot = &core.Screenshot{URI: uri, Width: t.width, Height: t.height, CSSPerPixel: round(t.cssPerPixel())}
	if taking.Unsettled {
		out.Shot.Marker = string(fault.CompositorRendezvousUnobserved)
	}
}

// view takes the present viewport as the cheap kind of picture.
func (o *Observer) view(ctx context.Context, s *page.Session) (taken, error) {
	end := s.Observing("screenshot")
	defer end()
	v, err := s.Viewport(ctx)
	if err != nil {
		return taken{}, err
	}
	return capture(ctx, s, area{x: v.PageX, y: v.PageY, width: v.VisualWidth, height: v.VisualHeight, view: true}, v, "jpeg", jpegOfView)
}

// keep puts a picture into the ring and makes it what image points of the page refer to.
func (o *Observer) keep(s *page.Session, t taken) (id.Observation, string) {
	o.showed(s.Target(), Shown{
		Width: t.width, Height: t.height, X: t.area.x, Y: t.area.y, CSSPerPixel: t.cssPerPixel(),
		ScrollX: t.view.PageX, ScrollY: t.view.PageY, ViewWidth: t.view.VisualWidth, ViewHeight: t.view.VisualHeight,
	})
	return o.ring.Put(s.RecordSession(), s.Target(), t.media, t.data)
}

// says picks what the page says at present: alerts, dialogs, status messages, then headings.
func says(s core.Snapshot) []core.Semantic {
	var ranked [4][]core.Semantic
	for _, section := range s.Sections {
		for _, n := range section.Nodes {
			if rank, text := saying(n); text != "" {
				ranked[rank] = append(ranked[rank], core.Semantic{Role: n.Role, Text: clip(text, maxSaid)})
			}
		}
	}
	ranked[3] = ranked[3][:min(len(ranked[3]), maxHeadings)]
	var out []core.Semantic
	for _, list := range ranked {
		out = append(out, list...)
	}
	return out[:min(len(out), maxSays)]
}

func saying(n core.Node) (rank int, text string) {
	switch {
	case n.Role == "alert" || n.Role == "alertdialog":
		return 0, n.Live
	case n.Role == "dialog":
		return 1, n.Live
	case n.Live != "":
		return 2, n.Live
	case n.Role == "heading":
		return 3, n.Name
	}
	return 0, ""
}

// DialogOf is the open dialog as answers show it, nil when none is known to be open.
func DialogOf(s *page.Session) *core.Dialog {
	open, _ := s.Dialog()
	if open == nil {
		return nil
	}
	return &core.Dialog{Type: open.Type, Message: clip(open.Message, 500)}
}

// NavigationOf is the newest navigation as answers show it.
func NavigationOf(s *page.Session) *core.NavigationRef {
	n, ok := s.Navigation()
	if !ok {
		return nil
	}
	return &core.NavigationRef{ID: n.ID, URL: redact.LiveURL(n.Address), State: n.State}
}

func presentURL(s *page.Session) string {
	doc, _ := s.Document("")
	return redact.LiveURL(doc.URL)
}

func clip(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

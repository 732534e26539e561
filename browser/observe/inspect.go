package observe

import (
	"context"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// Snapshot acquires the page's structure for the agent.
func (o *Observer) Snapshot(ctx context.Context, r core.SnapshotRequest) (core.Snapshot, error) {
	if err := r.Validate(); err != nil {
		return core.Snapshot{}, err
	}
	s, err := o.pages.Page(r.Target)
	if err != nil {
		return core.Snapshot{}, err
	}
	a, err := o.snapshots.Acquire(ctx, s, snapshot.Options{Frames: r.Frames, Explore: true, OnScreen: r.Anchor == "viewport"})
	if err != nil {
		return core.Snapshot{}, err
	}
	if r.Frames == "all" {
		o.snapshots.Show(s.Target(), a.Snapshot)
	}
	a.FromViewport = r.Anchor == "viewport"
	return a.Snapshot, nil
}

// Query says what a semantic query means on the present page.
func (o *Observer) Query(ctx context.Context, r core.QueryRequest) (core.QueryResult, error) {
	if err := r.Validate(); err != nil {
		return core.QueryResult{}, err
	}
	s, err := o.pages.Page(r.Target)
	if err != nil {
		return core.QueryResult{}, err
	}
	q, err := core.ParseQuery(r.Query)
	if err != nil {
		return core.QueryResult{}, fault.Input("query", err.Error())
	}
	d, err := o.snapshots.Document(ctx, s, "")
	if err != nil {
		return core.QueryResult{}, snapshot.Unreadable(err, s)
	}
	if d, err = o.snapshots.DocumentFor(ctx, d, q); err != nil {
		return core.QueryResult{}, err
	}
	return o.snapshots.Query(ctx, d, q, r.MaxMatches)
}

// Inspect reports identity, geometry and progress. With a dialog open the parts that need the page are absent.
func (o *Observer) Inspect(ctx context.Context, r core.InspectRequest) (core.InspectResult, error) {
	s, err := o.pages.Page(r.Target)
	if err != nil {
		return core.InspectResult{}, err
	}
	out := core.InspectResult{PageState: core.PageState{TargetID: s.Target(), URL: presentURL(s), Title: o.known(s)}}
	out.Navigation, out.Dialog = NavigationOf(s), DialogOf(s)
	if out.Dialog != nil {
		return out, nil
	}
	v, err := s.Viewport(ctx)
	if err != nil {
		return out, err
	}
	out.Viewport = &core.Viewport{
		VisualWidth: v.VisualWidth, VisualHeight: v.VisualHeight, LayoutWidth: v.LayoutWidth, LayoutHeight: v.LayoutHeight,
		Scale: v.Scale, DeviceScale: v.DeviceScale,
	}
	out.Scroll = &core.Scroll{X: v.PageX, Y: v.PageY, ContentWidth: v.ContentWidth, ContentHeight: v.ContentHeight}
	if v.Fallback {
		out.Warnings = append(out.Warnings, fault.New(fault.LayoutMetricsFallback, "the browser's layout metrics were unusable; the sizes are what the page's own script observes"))
	}
	return out, o.identify(ctx, s, &out)
}

func (o *Observer) identify(ctx context.Context, s *page.Session, out *core.InspectResult) error {
	d, err := o.snapshots.Document(ctx, s, "")
	if err != nil {
		return snapshot.Unreadable(err, s)
	}
	var facts struct {
		Title      string `json:"title"`
		Ready      string `json:"ready"`
		Visibility string `json:"visibility"`
		URL        string `json:"url"`
	}
	if err := d.Call(ctx, &facts, "facts"); err != nil {
		return snapshot.Unreadable(err, s)
	}
	out.Title, out.ReadyState, out.Visibility, out.URL = clip(facts.Title, 300), facts.Ready, facts.Visibility, redact.LiveURL(facts.URL)
	return nil
}

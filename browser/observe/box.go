package observe

import (
	"context"

	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// Box implements evidence.Geometry.
func (o *Observer) Box(ctx context.Context, ref string) (evidence.Box, error) {
	target, err := o.snapshots.TargetOf(ref)
	if err != nil {
		return evidence.Box{}, err
	}
	s, err := o.pages.Page(target)
	if err != nil {
		return evidence.Box{}, err
	}
	l, err := o.snapshots.Locate(ctx, s, core.Element{Ref: ref})
	if err != nil {
		return evidence.Box{}, err
	}
	var g geometry
	if err := l.Document.Call(ctx, &g, "geometry", l.Node, false); err != nil {
		return evidence.Box{}, snapshot.Failure(err, l.Document)
	}
	switch {
	case g.Stale:
		return evidence.Box{}, snapshot.Stale(target)
	case g.Why != "" || g.Width <= 0 || g.Height <= 0:
		return evidence.Box{}, fault.New(fault.ReferenceNotActionable, "the element is not rendered, so it has no place").
			WithRecovery("name the area with rect instead").About(fault.Context{TargetID: target})
	}
	offset, err := o.snapshots.Offset(ctx, l.Document, false)
	if err != nil {
		return evidence.Box{}, snapshot.Failure(err, l.Document)
	}
	v, err := s.Viewport(ctx)
	if err != nil {
		return evidence.Box{}, err
	}
	b := evidence.Box{TargetID: target, Width: g.Width * offset.Scale, Height: g.Height * offset.Scale, ScrollX: v.PageX, ScrollY: v.PageY}
	b.X, b.Y = offset.Apply(g.X, g.Y)
	return b, nil
}

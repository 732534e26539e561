package input

import (
	"context"
	"errors"

	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// spot is a point of the page's viewport in CSS pixels, and what lies there.
type spot struct {
	x, y float64
	// element is what the input is meant for; document nil for bare points.
	element snapshot.Located
}

type aimed struct {
	Stale bool    `json:"stale"`
	Why   string  `json:"why"`
	By    string  `json:"by"`
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
}

// locate resolves an element locator and notes its state.
func (d *Driver) locate(ctx context.Context, c *call, e core.Element) (snapshot.Located, error) {
	l, err := d.Snapshots.Locate(ctx, c.session, e)
	if err != nil {
		return l, err
	}
	return l, c.concern(ctx, l)
}

// visible makes sure that pointer input reaches the page at all.
func (d *Driver) visible(ctx context.Context, c *call) error {
	return d.Tabs.EnsureForeground(ctx, c.session.Target())
}

// aim finds where the pointer reaches the locator, bringing it into view.
func (d *Driver) aim(ctx context.Context, c *call, l core.Locator, force bool) (spot, error) {
	if l.Point != nil {
		return d.aimPoint(ctx, c, l.Point)
	}
	located, err := d.locate(ctx, c, l.Element())
	if err != nil {
		return spot{}, err
	}
	return d.aimAt(ctx, c, located, force)
}

func (d *Driver) aimAt(ctx context.Context, c *call, l snapshot.Located, force bool) (spot, error) {
	end := c.session.Observing("hit_test")
	defer end()
	if !l.Document.Main {
		if _, err := d.Snapshots.Offset(ctx, l.Document, true); err != nil {
			return spot{}, err
		}
	}
	var a aimed
	if err := l.Document.Call(ctx, &a, "aim", l.Node, map[string]any{"force": force}); err != nil {
		return spot{}, err
	}
	if a.Stale {
		return spot{}, snapshot.Stale(c.session.Target())
	}
	if a.Why != "" {
		return spot{}, unreachable(a)
	}
	return d.throughFrames(ctx, l, a)
}

// throughFrames converts a point of a frame and checks every frame element on the way for what covers it.
func (d *Driver) throughFrames(ctx context.Context, l snapshot.Located, a aimed) (spot, error) {
	hops, err := d.Snapshots.Hops(ctx, l.Document)
	if err != nil {
		return spot{}, err
	}
	x, y := a.X, a.Y
	for _, h := range hops {
		var box struct {
			Stale bool    `json:"stale"`
			X     float64 `json:"x"`
			Y     float64 `json:"y"`
			Scale float64 `json:"scale"`
		}
		if err := h.Document.Call(ctx, &box, "frameBox", h.Element, false); err != nil {
			return spot{}, err
		}
		x, y = box.X+x*box.Scale, box.Y+y*box.Scale
		var hit struct {
			Stale bool   `json:"stale"`
			OK    bool   `json:"ok"`
			Why   string `json:"why"`
			By    string `json:"by"`
		}
		if err := h.Document.Call(ctx, &hit, "hits", h.Element, x, y); err != nil {
			return spot{}, err
		}
		if box.Stale || hit.Stale {
			return spot{}, snapshot.ErrGone
		}
		if !hit.OK {
			return spot{}, unreachable(aimed{Why: hit.Why, By: hit.By})
		}
	}
	return spot{x: x, y: y, element: l}, nil
}

// unreachable names what keeps the input from its target.
func unreachable(a aimed) error {
	f := fault.New(fault.ReferenceNotActionable, "no input was sent: the element is %s", a.Why)
	switch a.Why {
	case "covered":
		what := a.By
		if what == "" || what == "nothing" {
			what = "something else"
		}
		return fault.New(fault.ReferenceNotActionable, "no input was sent: the element is covered by %s", what).
			WithRecovery("close or move what covers it, or act on that instead")
	case "off_screen":
		return fault.New(fault.ReferenceNotActionable, "no input was sent: the element is off-screen and cannot be scrolled into view").
			WithRecovery("scroll its container, or open what it belongs to first")
	case "moving":
		return f.WithRecovery("wait until it rests, for example with wait elapsed_ms, then try again")
	case "hidden":
		return f.WithRecovery("make it visible first (open its menu, tab or section), then take a new snapshot_page")
	case "disabled", "inert":
		return f.WithRecovery("do first what enables it, or wait with ref and state=enabled")
	}
	return f.WithRecovery("take a new snapshot_page")
}

// aimPoint converts a declared point to the viewport.
func (d *Driver) aimPoint(ctx context.Context, c *call, p *core.Point) (spot, error) {
	v, err := c.session.Viewport(ctx)
	if err != nil {
		return spot{}, err
	}
	x, y := p.X, p.Y
	switch p.Space {
	case core.SpaceDocument:
		x, y = x-v.PageX, y-v.PageY
	case core.SpaceImage:
		shown, ok := d.Observer.Newest(c.session.Target())
		if !ok {
			return spot{}, fault.Input("point.space", "no picture of this page has been returned; call take_screenshot first")
		}
		if shown.ScrollX != v.PageX || shown.ScrollY != v.PageY || shown.ViewWidth != v.VisualWidth || shown.ViewHeight != v.VisualHeight {
			return spot{}, fault.New(fault.InvalidInput, "the page has scrolled or changed its size since its newest picture").
				WithRetry(fault.AfterRecovery).WithRecovery("call take_screenshot and read the point from that picture")
		}
		if x > float64(shown.Width) || y > float64(shown.Height) {
			return spot{}, fault.Input("point", "lies outside the newest picture")
		}
		x, y = shown.X+x*shown.CSSPerPixel-v.PageX, shown.Y+y*shown.CSSPerPixel-v.PageY
	}
	if x < 0 || y < 0 || x >= v.WindowWidth || y >= v.WindowHeight {
		return spot{}, fault.New(fault.ReferenceNotActionable, "no input was sent: the point is off-screen").
			WithRecovery("scroll it into view first")
	}
	return spot{x: x, y: y}, nil
}

// errHeldBack is the outcome of a press that would have reached something else.
var errHeldBack = errors.New("the press was held back")

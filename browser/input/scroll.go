package input

import (
	"context"

	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// container is what a request scrolls.
type container struct {
	Stale bool     `json:"stale"`
	None  bool     `json:"none"`
	Node  uint64   `json:"node"`
	What  string   `json:"what"`
	Left  float64  `json:"left"`
	Top   float64  `json:"top"`
	MaxX  float64  `json:"maxX"`
	MaxY  float64  `json:"maxY"`
	X     *float64 `json:"x"`
	Y     *float64 `json:"y"`
}

type offsets struct {
	Stale bool    `json:"stale"`
	Left  float64 `json:"left"`
	Top   float64 `json:"top"`
	MaxX  float64 `json:"maxX"`
	MaxY  float64 `json:"maxY"`
}

// Frames to wait for a wheel's scrolling to begin, and to end.
const (
	wheelPatience = 8
	wheelFrames   = 90
)

func prepareScroll(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.ScrollRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"dx": r.DX, "dy": r.DY, "to": describeElement(r.To()), "locator": describe(r.Locator)}
	if err := d.visible(ctx, c); err != nil {
		return err
	}
	if to := r.To(); !to.Empty() {
		return d.prepareBring(ctx, c, to)
	}
	doc, args, err := d.scrollFrom(ctx, c, r)
	if err != nil {
		return err
	}
	var box container
	if err := doc.Call(ctx, &box, "container", append(args, r.DX, r.DY)...); err != nil {
		return err
	}
	switch {
	case box.Stale:
		return snapshot.Stale(c.session.Target())
	case box.None:
		return fault.New(fault.ReferenceNotActionable, "no input was sent: nothing there scrolls in that direction").
			WithRecovery("name an element inside what should scroll, or bring an element into view with to_ref")
	}
	offset, err := d.Snapshots.Offset(ctx, doc, true)
	if err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		sending()
		return d.scroll(ctx, c, doc, box, offset, r)
	}
	return nil
}

// scrollFrom is where the search for a container begins.
func (d *Driver) scrollFrom(ctx context.Context, c *call, r *core.ScrollRequest) (*snapshot.Document, []any, error) {
	if e := r.Locator.Element(); !e.Empty() {
		l, err := d.Snapshots.Locate(ctx, c.session, e)
		return l.Document, []any{l.Node, nil, nil}, err
	}
	doc, err := d.Snapshots.Document(ctx, c.session, "")
	if err != nil {
		return nil, nil, snapshot.Unreadable(err, c.session)
	}
	if r.Point == nil {
		return doc, []any{0, nil, nil}, nil
	}
	at, err := d.aimPoint(ctx, c, r.Point)
	return doc, []any{0, at.x, at.y}, err
}

// scroll turns the wheel over the container, as a person would, and moves what the wheel left undone directly.
func (d *Driver) scroll(ctx context.Context, c *call, doc *snapshot.Document, box container, offset snapshot.Offset, r *core.ScrollRequest) (any, error) {
	after := offsets{Left: box.Left, Top: box.Top}
	if box.X != nil && box.Y != nil {
		x, y := offset.Apply(*box.X, *box.Y)
		err := pipeline(ctx, c.session, "Input.dispatchMouseEvent", []mouse{{Type: "mouseWheel", X: x, Y: y, Button: "none", DeltaX: r.DX, DeltaY: r.DY, Pointer: "mouse"}})
		if err != nil {
			return nil, err
		}
		if err := doc.Call(ctx, &after, "scrolled", box.Node, box.Left, box.Top, wheelPatience, wheelFrames); err != nil {
			return nil, err
		}
	}
	wantX, wantY := clamp(box.Left+r.DX, box.MaxX), clamp(box.Top+r.DY, box.MaxY)
	untouched := abs(after.Left-box.Left) < 1 && abs(after.Top-box.Top) < 1
	if untouched && (abs(wantX-after.Left) > 1 || abs(wantY-after.Top) > 1) {
		if err := doc.Call(ctx, &after, "scrollBy", box.Node, wantX-after.Left, wantY-after.Top); err != nil {
			return nil, err
		}
	}
	if after.Stale {
		return nil, nil
	}
	result := core.ScrollResult{
		Container: box.What, MovedX: after.Left - box.Left, MovedY: after.Top - box.Top, X: after.Left, Y: after.Top, MaxX: after.MaxX, MaxY: after.MaxY,
	}
	if result.MovedX == 0 && result.MovedY == 0 {
		c.expectation = "nothing scrolled: the container is at its end in that direction"
	}
	return result, nil
}

func clamp(v, high float64) float64 { return max(0, min(v, high)) }

func (d *Driver) prepareBring(ctx context.Context, c *call, to core.Element) error {
	l, err := d.locate(ctx, c, to)
	if err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		sending()
		var b struct {
			Stale  bool    `json:"stale"`
			What   string  `json:"what"`
			Before offsets `json:"before"`
			After  offsets `json:"after"`
			InView bool    `json:"inView"`
		}
		if !l.Document.Main {
			if _, err := d.Snapshots.Offset(ctx, l.Document, true); err != nil {
				return nil, err
			}
		}
		if err := l.Document.Call(ctx, &b, "bring", l.Node); err != nil {
			return nil, err
		}
		if b.Stale {
			return nil, snapshot.Stale(c.session.Target()).WithRetry(fault.Never)
		}
		if !b.InView {
			return nil, fault.New(fault.InteractionFailed, "the element could not be brought into view: it is not rendered").
				WithRetry(fault.Never).WithRecovery("make it visible first")
		}
		return core.ScrollResult{
			Container: b.What, MovedX: b.After.Left - b.Before.Left, MovedY: b.After.Top - b.Before.Top,
			X: b.After.Left, Y: b.After.Top, MaxX: b.After.MaxX, MaxY: b.After.MaxY, InView: &b.InView,
		}, nil
	}
	return nil
}

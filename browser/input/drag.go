package input

import (
	"context"
	"encoding/json"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

func prepareDrag(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.DragRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"from": describe(r.From), "to": describe(r.To), "steps": r.Steps, "hold_ms": r.HoldMS}
	if err := d.visible(ctx, c); err != nil {
		return err
	}
	from, err := d.aim(ctx, c, r.From, false)
	if err != nil {
		return err
	}
	about, state := c.where, c.before.state
	to, err := d.aim(ctx, c, r.To, true)
	if err != nil {
		return err
	}
	// Bringing the goal into view may have moved the start.
	if from.element.Document != nil {
		if from, err = d.aimAt(ctx, c, from.element, false); err != nil {
			return err
		}
		if again, err := d.still(ctx, r.To, to); err != nil {
			return err
		} else if !again {
			return fault.New(fault.ReferenceNotActionable, "no input was sent: start and goal are not on the screen together").
				WithRecovery("scroll so that both are visible, or set a smaller viewport scale with set_viewport")
		}
		c.where, c.before.state = about, state
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		return nil, d.drag(ctx, c, r, from, to, sending)
	}
	return nil
}

// still reports whether a goal lies where it was aimed at.
func (d *Driver) still(ctx context.Context, l core.Locator, at spot) (bool, error) {
	if l.Point != nil {
		return true, nil
	}
	var a aimed
	if err := at.element.Document.Call(ctx, &a, "where", at.element.Node); err != nil {
		return false, err
	}
	if a.Stale || a.Why != "" {
		return false, nil
	}
	offset, err := d.Snapshots.Offset(ctx, at.element.Document, false)
	if err != nil {
		return false, err
	}
	x, y := offset.Apply(a.X, a.Y)
	return abs(x-at.x) < 2 && abs(y-at.y) < 2, nil
}

func abs(v float64) float64 { return max(v, -v) }

// drag presses, moves and releases. Where the page starts an HTML5 drag, the browser hands it to us and the rest
// goes on as drag events; the system's own drag loop never starts.
func (d *Driver) drag(ctx context.Context, c *call, r *core.DragRequest, from, to spot, sending func()) error {
	s := c.session
	intercepted := s.Subscribe("Input.dragIntercepted")
	defer intercepted.Close()
	if err := s.Send(ctx, "Input.setInterceptDrags", map[string]any{"enabled": true}, nil); err != nil {
		return err
	}
	defer func() { _ = s.Post("Input.setInterceptDrags", map[string]any{"enabled": false}) }()
	sending()
	err := pipeline(ctx, s, "Input.dispatchMouseEvent", []mouse{
		{Type: "mouseMoved", X: from.x, Y: from.y, Button: "none"},
		{Type: "mousePressed", X: from.x, Y: from.y, Button: "left", Buttons: 1, ClickCount: 1},
	})
	if err != nil {
		return err
	}
	var data json.RawMessage
	for i := 1; i <= r.Steps; i++ {
		at := between(from, to, float64(i)/float64(r.Steps))
		if data != nil {
			err = dragEvent(ctx, c, "dragOver", at, data)
		} else {
			err = pipeline(ctx, s, "Input.dispatchMouseEvent", []mouse{{Type: "mouseMoved", X: at.x, Y: at.y, Button: "left", Buttons: 1}})
			select {
			case e := <-intercepted.Events():
				if data = dragged(e); data != nil && err == nil {
					err = dragEvent(ctx, c, "dragEnter", at, data)
				}
			default:
			}
		}
		if err != nil {
			return err
		}
	}
	return d.drop(ctx, c, r, to, data)
}

// dragged is the data of an intercepted drag.
func dragged(e cdp.Event) json.RawMessage {
	var p struct {
		Data json.RawMessage `json:"data"`
	}
	if e.Decode(&p) != nil {
		return nil
	}
	return p.Data
}

func dragEvent(ctx context.Context, c *call, kind string, at spot, data json.RawMessage) error {
	return c.session.Send(ctx, "Input.dispatchDragEvent", map[string]any{"type": kind, "x": at.x, "y": at.y, "data": data}, nil)
}

func (d *Driver) drop(ctx context.Context, c *call, r *core.DragRequest, to spot, data json.RawMessage) error {
	waited := pause(ctx, c.session, time.Duration(r.HoldMS)*time.Millisecond)
	ctx = context.WithoutCancel(ctx) // the button must come up again
	if data != nil {
		for _, kind := range []string{"dragOver", "drop"} {
			if err := dragEvent(ctx, c, kind, to, data); err != nil {
				return err
			}
		}
	}
	err := pipeline(ctx, c.session, "Input.dispatchMouseEvent", []mouse{{Type: "mouseReleased", X: to.x, Y: to.y, Button: "left", ClickCount: 1}})
	if err == nil {
		err = waited
	}
	return err
}

func between(a, b spot, t float64) spot {
	return spot{x: a.x + (b.x-a.x)*t, y: a.y + (b.y-a.y)*t}
}

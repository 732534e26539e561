package input

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
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
	if from.element.Document == nil {
		from.x, from.y = math.Floor(from.x), math.Floor(from.y) // no text is selected from between two pixels
	} else {
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
	if err := s.Send(ctx, "Input.setInterceptDrags", map[string]any{"enabled": true}, nil); err != nil {
		intercepted.Close()
		return err
	}
	err := d.carry(ctx, c, r, from, to, intercepted, sending)
	if fault.CodeOf(err) == fault.DialogOpen {
		d.loose.put(s.Target(), &looseDrag{session: s, intercepted: intercepted, at: to})
		return err
	}
	intercepted.Close()
	_ = s.Post("Input.setInterceptDrags", map[string]any{"enabled": false})
	return err
}

// carry is the drag itself, from the press to the release.
func (d *Driver) carry(ctx context.Context, c *call, r *core.DragRequest, from, to spot, intercepted *cdp.Subscription, sending func()) error {
	s := c.session
	watched := d.watchDrag(ctx, c, from)
	sending()
	err := pipeline(ctx, s, "Input.dispatchMouseEvent", []mouse{
		{Type: "mouseMoved", X: from.x, Y: from.y, Button: "none"},
		{Type: "mousePressed", X: from.x, Y: from.y, Button: "left", Buttons: 1, ClickCount: 1},
	})
	if err != nil {
		return err
	}
	data, err := moves(ctx, c, r.Steps, from, to, intercepted)
	if err == nil && data == nil && began(ctx, watched) {
		data, err = late(ctx, c, to, intercepted)
	}
	if err != nil {
		return err
	}
	if err := d.drop(ctx, c, r, to, data); err != nil {
		return err
	}
	if data != nil {
		c.expectation = refused(ctx, watched)
	} else if watched != nil {
		_ = watched.Call(ctx, nil, "unwatchDrag")
	}
	return nil
}

// watchDrag lets the document where the drag starts tell about it; nil when it cannot.
func (d *Driver) watchDrag(ctx context.Context, c *call, from spot) *snapshot.Document {
	doc := from.element.Document
	if doc == nil {
		var err error
		if doc, err = d.Snapshots.Document(ctx, c.session, ""); err != nil {
			return nil
		}
	}
	if doc.Call(ctx, nil, "watchDrag") != nil {
		return nil
	}
	return doc
}

// moves goes from start to goal, as a pointer until the browser hands over a drag, with the drag from then on.
func moves(ctx context.Context, c *call, steps int, from, to spot, intercepted *cdp.Subscription) (data json.RawMessage, err error) {
	for i := 1; i <= steps && err == nil; i++ {
		at := between(from, to, float64(i)/float64(steps))
		if data != nil {
			err = dragEvent(ctx, c.session, "dragOver", at, data)
			continue
		}
		err = pipeline(ctx, c.session, "Input.dispatchMouseEvent", []mouse{{Type: "mouseMoved", X: at.x, Y: at.y, Button: "left", Buttons: 1}})
		select {
		case e := <-intercepted.Events():
			if data = dragged(e); data != nil && err == nil {
				err = dragEvent(ctx, c.session, "dragEnter", at, data)
			}
		default:
		}
	}
	return data, err
}

// handover bounds the wait for a drag that the page has begun and the browser has not handed over yet.
const handover = 2 * time.Second

// late waits for the drag when the last move was answered before it came: a release without it would drop nothing
// and leave the browser in the middle of a drag.
func late(ctx context.Context, c *call, to spot, intercepted *cdp.Subscription) (data json.RawMessage, err error) {
	bounded(ctx, c, handover, func(ctx context.Context) {
		select {
		case e := <-intercepted.Events():
			data = dragged(e)
		case <-ctx.Done():
		}
	})
	if data != nil {
		err = dragEvent(ctx, c.session, "dragEnter", to, data)
	}
	return data, err
}

func began(ctx context.Context, watched *snapshot.Document) bool {
	var yes bool
	return watched != nil && watched.Call(ctx, &yes, "dragBegan") == nil && yes
}

// refused notes a drag that ended without a drop.
func refused(ctx context.Context, watched *snapshot.Document) string {
	var effect string
	if watched == nil || watched.CallWithin(ctx, rendezvousLimit*4, &effect, "dragEnded") != nil || effect != "none" {
		return ""
	}
	return "the drag ended without a drop: what lies at the goal did not accept it"
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

func dragEvent(ctx context.Context, s *page.Session, kind string, at spot, data json.RawMessage) error {
	return s.Send(ctx, "Input.dispatchDragEvent", map[string]any{"type": kind, "x": at.x, "y": at.y, "data": data}, nil)
}

func (d *Driver) drop(ctx context.Context, c *call, r *core.DragRequest, to spot, data json.RawMessage) error {
	waited := pause(ctx, c.session, time.Duration(r.HoldMS)*time.Millisecond)
	ctx = context.WithoutCancel(ctx) // the button must come up again
	if data != nil {
		for _, kind := range []string{"dragOver", "drop"} {
			if err := dragEvent(ctx, c.session, kind, to, data); err != nil {
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

package input

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// Modifier bits of the protocol.
var modifierBits = map[string]int{"alt": 1, "control": 2, "meta": 4, "shift": 8}

var buttonBits = map[string]int{"left": 1, "right": 2, "middle": 4}

func bitsOf(modifiers []string) int {
	bits := 0
	for _, m := range modifiers {
		bits |= modifierBits[m]
	}
	return bits
}

// mouse is one pointer event of the protocol.
type mouse struct {
	Type       string  `json:"type"`
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	Modifiers  int     `json:"modifiers,omitempty"`
	Button     string  `json:"button"`
	Buttons    int     `json:"buttons"`
	ClickCount int     `json:"clickCount,omitempty"`
	DeltaX     float64 `json:"deltaX"`
	DeltaY     float64 `json:"deltaY"`
	Pointer    string  `json:"pointerType,omitempty"`
}

// pipeline sends events one after another without waiting in between, then waits for all. The first failure is
// returned after all have been answered.
func pipeline[T any](ctx context.Context, s *page.Session, method string, events []T) error {
	pending := make([]*page.Pending, 0, len(events))
	var failed error
	for _, e := range events {
		p, err := s.Start(ctx, method, e)
		if err != nil {
			failed = err
			break
		}
		pending = append(pending, p)
	}
	for _, p := range pending {
		if err := p.Wait(nil); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func clickEvents(at spot, r *core.ClickRequest) []mouse {
	bits := bitsOf(r.Modifiers)
	events := []mouse{{Type: "mouseMoved", X: at.x, Y: at.y, Modifiers: bits, Button: "none"}}
	for i := 1; i <= r.Count; i++ {
		events = append(events,
			mouse{Type: "mousePressed", X: at.x, Y: at.y, Modifiers: bits, Button: r.Button, Buttons: buttonBits[r.Button], ClickCount: i},
			mouse{Type: "mouseReleased", X: at.x, Y: at.y, Modifiers: bits, Button: r.Button, ClickCount: i})
	}
	return events
}

func prepareClick(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.ClickRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"locator": describe(r.Locator), "button": r.Button, "count": r.Count, "modifiers": r.Modifiers}
	c.waitNavigation = r.WaitForNavigation
	if err := d.visible(ctx, c); err != nil {
		return err
	}
	at, err := d.aim(ctx, c, r.Locator, false)
	if err != nil {
		return err
	}
	c.opens = c.before.state != nil && c.before.state.Link == "page"
	c.run = func(ctx context.Context, sending func()) (any, error) {
		return nil, d.press(ctx, c, at, sending, func(at spot) []mouse { return clickEvents(at, r) })
	}
	return nil
}

// press sends a press with its guard. What the guard held back never reached the page, so it is aimed again.
func (d *Driver) press(ctx context.Context, c *call, at spot, sending func(), events func(spot) []mouse) error {
	watch := c.session.Subscribe("Page.windowOpen")
	defer watch.Close()
	err := d.pressOnce(ctx, c, at, sending, events)
	for range 2 {
		if !errors.Is(err, errHeldBack) {
			break
		}
		if at, err = d.aimAt(ctx, c, at.element, false); err == nil {
			err = d.pressOnce(ctx, c, at, func() {}, events)
		}
	}
	select {
	case _, ok := <-watch.Events():
		c.opens = c.opens || ok
	default:
	}
	if errors.Is(err, errHeldBack) {
		return fault.New(fault.ReferenceNotActionable, "the element moved or was replaced under the pointer; the press was held back from the page").
			WithRecovery("wait until the page rests, take a new snapshot_page, then try again")
	}
	return err
}

type guarded struct {
	Stale   bool `json:"stale"`
	Hit     bool `json:"hit"`
	Blocked bool `json:"blocked"`
	Seen    int  `json:"seen"`
	Clicks  int  `json:"clicks"`
}

func (d *Driver) pressOnce(ctx context.Context, c *call, at spot, sending func(), events func(spot) []mouse) error {
	doc := at.element.Document
	if doc != nil {
		var armed guarded
		if err := doc.Call(ctx, &armed, "arm", at.element.Node); err != nil {
			return err
		}
		if armed.Stale {
			return snapshot.Stale(c.session.Target())
		}
	}
	sending()
	err := pipeline(ctx, c.session, "Input.dispatchMouseEvent", events(at))
	if doc == nil || err != nil {
		return err
	}
	var after guarded
	if err := doc.Call(ctx, &after, "disarm"); err != nil {
		return nil // the document is gone or blocked by what the press did
	}
	switch {
	case after.Blocked:
		return errHeldBack
	case after.Seen == 0:
		c.expectation = "the press was sent, and the element's document saw nothing of it"
	case after.Clicks == 0:
		c.expectation = "the press reached the element and no click followed: it changed between press and release"
	}
	return nil
}

func prepareHover(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.HoverRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"locator": describe(r.Locator)}
	if err := d.visible(ctx, c); err != nil {
		return err
	}
	at, err := d.aim(ctx, c, r.Locator, true)
	if err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		sending()
		// A first move beside the goal makes sure that entering is seen even when the pointer was there already.
		return nil, pipeline(ctx, c.session, "Input.dispatchMouseEvent", []mouse{
			{Type: "mouseMoved", X: at.x + 1, Y: at.y, Button: "none"}, {Type: "mouseMoved", X: at.x, Y: at.y, Button: "none"},
		})
	}
	return nil
}

// pause waits on the session's clock.
func pause(ctx context.Context, s *page.Session, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	return clock.Wait(ctx, s.Clock().Clock(), d)
}

// describe is a locator as a record keeps it: how it was given, never its text.
func describe(l core.Locator) map[string]any {
	switch {
	case l.Ref != "":
		return map[string]any{"ref": l.Ref}
	case l.Query != "":
		return map[string]any{"query": shape(l.Query)}
	case l.CSS != "":
		return map[string]any{"css": true}
	case l.Point != nil:
		return map[string]any{"point": map[string]any{"x": l.Point.X, "y": l.Point.Y, "space": l.Point.Space}}
	}
	return map[string]any{}
}

func describeElement(e core.Element) map[string]any {
	return describe(core.Locator{Ref: e.Ref, Query: e.Query, CSS: e.CSS})
}

// shape names a query's keys and role.
func shape(query string) map[string]any {
	q, err := core.ParseQuery(query)
	if err != nil {
		return nil
	}
	keys := []string{}
	for key, m := range map[string]*core.Matcher{"name": q.Name, "text": q.Text, "label": q.Label, "test_id": q.TestID} {
		if m != nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return map[string]any{"role": q.Role, "keys": keys}
}

func wrongRequest(c *call) error {
	return fault.New(fault.Internal, "operation %s was given a request of another operation", c.action.Operation)
}

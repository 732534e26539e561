package input

import (
	"context"
	"strconv"

	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

func count(n int) string { return strconv.Itoa(n) }

type chosen struct {
	Stale   bool   `json:"stale"`
	Why     string `json:"why"`
	By      string `json:"by"`
	Node    uint64 `json:"node"`
	Picked  []int  `json:"picked"`
	Options int    `json:"options"`
	Changed bool   `json:"changed"`
	Same    bool   `json:"same"`
}

func prepareSelect(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.SelectRequest)
	if !ok {
		return wrongRequest(c)
	}
	by, wanted := selection(r)
	c.parameters = map[string]any{"by": by, "count": len(wanted), "locator": describeElement(r.Element)}
	l, err := d.Snapshots.Locate(ctx, c.session, r.Element)
	if err != nil {
		return err
	}
	var p chosen
	if err := l.Document.Call(ctx, &p, "choose", l.Node, by, wanted); err != nil {
		return err
	}
	if p.Stale {
		return snapshot.Stale(c.session.Target())
	}
	if p.Why != "" {
		return p.refusal(by)
	}
	l.Node = p.Node
	if err := c.concern(ctx, l); err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		sending()
		var done chosen
		if err := l.Document.Call(ctx, &done, "pick", l.Node, p.Picked); err != nil {
			return nil, err
		}
		switch {
		case done.Stale:
			return nil, nil
		case !done.Same:
			return nil, fault.New(fault.InteractionFailed, "the select did not keep the choice").WithRetry(fault.Never).WithRecovery("snapshot_page shows the select")
		case !done.Changed:
			c.expectation = "the options were selected already"
		}
		return nil, nil
	}
	return nil
}

func selection(r *core.SelectRequest) (by string, wanted []any) {
	switch {
	case r.Value != nil:
		return "value", []any{*r.Value}
	case r.Label != nil:
		return "label", []any{*r.Label}
	case r.Index != nil:
		return "index", []any{*r.Index}
	case r.Values != nil:
		return "value", anys(r.Values)
	case r.Labels != nil:
		return "label", anys(r.Labels)
	}
	return "index", anys(r.Many)
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

func (p chosen) refusal(by string) error {
	switch p.Why {
	case "not_select":
		return fault.New(fault.ReferenceNotActionable, "no input was sent: the element is no native select").
			WithRecovery("click it, take a new snapshot_page, and click the option")
	case "no_option":
		return fault.New(fault.NotFound, "no input was sent: none of the select's %d options has that %s", p.Options, by).
			WithRecovery("snapshot_page detail=full lists the options")
	case "several_options":
		return fault.New(fault.LocatorNotUnique, "no input was sent: %d options have that label", p.Options).WithRecovery("use value or index")
	case "option_disabled":
		return fault.New(fault.ReferenceNotActionable, "no input was sent: the option is disabled").WithRecovery("choose another option")
	case "single":
		return fault.Input("values", "the select takes only one option")
	}
	return unreachable(aimed{Why: p.Why})
}

func prepareToggle(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.ToggleRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"state": r.State, "locator": describeElement(r.Element)}
	l, err := d.locate(ctx, c, r.Element)
	if err != nil {
		return err
	}
	if l, err = d.toggled(ctx, c, l); err != nil {
		return err
	}
	before, ok := onOff(c.before.state)
	if !ok {
		return fault.New(fault.ReferenceNotActionable, "no input was sent: the element is no checkbox, radio, switch or details").
			WithRecovery("use click")
	}
	want := r.State
	if want == "flip" {
		want = map[string]string{"on": "off", "off": "on", "mixed": "on"}[before]
	}
	if before == want {
		c.run = func(_ context.Context, sending func()) (any, error) {
			sending()
			return core.ToggleResult{Before: before, After: before}, nil
		}
		return nil
	}
	if want == "off" && c.before.state.Role == "radio" {
		return fault.Input("state", "a radio button is switched off by choosing another one of its group")
	}
	return d.prepareFlip(ctx, c, l, before, want)
}

// toggled follows a details element to its summary, which is what is clicked.
func (d *Driver) toggled(ctx context.Context, c *call, l snapshot.Located) (snapshot.Located, error) {
	if c.before.state.Tag != "details" {
		return l, nil
	}
	var node uint64
	if err := l.Document.Call(ctx, &node, "summaryOf", l.Node); err != nil {
		return l, err
	}
	if node == 0 {
		return l, unreachable(aimed{Why: "hidden"})
	}
	l.Node = node
	return l, c.concern(ctx, l)
}

func (d *Driver) prepareFlip(ctx context.Context, c *call, l snapshot.Located, before, want string) error {
	if err := d.visible(ctx, c); err != nil {
		return err
	}
	at, err := d.aimAt(ctx, c, l, false)
	if err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		click := &core.ClickRequest{Button: "left", Count: 1}
		if err := d.press(ctx, c, at, sending, func(at spot) []mouse { return clickEvents(at, click) }); err != nil {
			return nil, err
		}
		after, err := stateOf(ctx, l)
		if err != nil || after.Stale {
			return core.ToggleResult{Before: before, After: "unknown"}, err
		}
		now, _ := onOff(after)
		result := core.ToggleResult{Before: before, After: now, Changed: now != before}
		if now != want {
			return result, fault.New(fault.InteractionFailed, "the element was clicked and is %s, not %s", now, want).
				WithRetry(fault.Never).WithRecovery("snapshot_page shows the element")
		}
		return result, nil
	}
	return nil
}

func onOff(s *elementState) (state string, ok bool) {
	switch {
	case s.Checked == "mixed":
		return "mixed", true
	case s.Checked != "":
		return name(s.Checked == "true"), true
	case s.Pressed != "":
		return name(s.Pressed == "true"), true
	case s.Expanded != nil:
		return name(*s.Expanded), true
	}
	return "", false
}

func name(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

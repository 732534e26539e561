package input

import (
	"context"
	"unicode/utf8"

	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// field is what the script says about an editable element.
type field struct {
	Stale  bool   `json:"stale"`
	Node   uint64 `json:"node"`
	Why    string `json:"why"`
	Kind   string `json:"kind"`
	Type   string `json:"type"`
	Valid  bool   `json:"valid"`
	Length int    `json:"length"`
	Secret bool   `json:"secret"`
	Max    int    `json:"max"`
}

func prepareFill(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.FillRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"mode": r.Mode, "length": utf8.RuneCountInString(r.Value), "locator": describeElement(r.Element)}
	c.waitNavigation = r.WaitForNavigation
	return d.prepareEdit(ctx, c, r.Element, r.Value, r.Mode)
}

func prepareClear(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.ClearRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"locator": describeElement(r.Element)}
	return d.prepareEdit(ctx, c, r.Element, "", "replace")
}

func (d *Driver) prepareEdit(ctx context.Context, c *call, e core.Element, value, mode string) error {
	l, err := d.Snapshots.Locate(ctx, c.session, e)
	if err != nil {
		return err
	}
	var f field
	if err := l.Document.Call(ctx, &f, "field", l.Node, value); err != nil {
		return err
	}
	if f.Stale {
		return snapshot.Stale(c.session.Target())
	}
	if err := f.refusal(mode, value); err != nil {
		return err
	}
	l.Node = f.Node
	if err := c.concern(ctx, l); err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		if f.Kind == "native" {
			return nil, d.setNative(ctx, c, l, value, sending)
		}
		return nil, d.edit(ctx, c, l, value, mode, sending)
	}
	return nil
}

// refusal says why a field cannot be filled, before anything is sent.
func (f field) refusal(mode, value string) error {
	no := fault.New(fault.ReferenceNotActionable, "no input was sent: the element is %s", f.Why)
	switch f.Why {
	case "":
	case "disabled", "inert", "readonly":
		return no.WithRecovery("do first what makes it editable, or wait with ref and state=editable")
	case "select":
		return no.WithRecovery("use select_option")
	case "checkbox", "radio":
		return no.WithRecovery("use toggle")
	case "file":
		return no.WithRecovery("use upload_files")
	case "not_editable":
		return fault.New(fault.ReferenceNotActionable, "no input was sent: the element is not editable").
			WithRecovery("name the field itself; click may open an editor")
	default:
		return no.WithRecovery("use click")
	}
	if f.Kind != "native" {
		return nil
	}
	if !f.Valid {
		return fault.Input("value", "a "+f.Type+" field takes only a complete value such as "+example(f.Type))
	}
	if mode == "append" && value != "" {
		return fault.Input("mode", "a "+f.Type+" field takes only complete values, so append does not apply")
	}
	return nil
}

func example(kind string) string {
	switch kind {
	case "date":
		return "2031-04-09"
	case "time":
		return "13:45"
	case "datetime-local":
		return "2031-04-09T13:45"
	case "month":
		return "2031-04"
	case "week":
		return "2031-W15"
	case "color":
		return "#3366cc"
	case "range":
		return "a number within its minimum, maximum and step"
	case "number":
		return "12.5"
	}
	return "the field's format"
}

func (d *Driver) setNative(ctx context.Context, c *call, l snapshot.Located, value string, sending func()) error {
	sending()
	var done struct {
		Stale bool `json:"stale"`
		Same  bool `json:"same"`
	}
	if err := l.Document.Call(ctx, &done, "setNative", l.Node, value); err != nil {
		return err
	}
	switch {
	case done.Stale:
		return snapshot.Stale(c.session.Target()).WithRetry(fault.Never)
	case !done.Same:
		return notTaken()
	}
	return nil
}

func notTaken() error {
	return fault.New(fault.InteractionFailed, "the field did not take the value").WithRetry(fault.Never).
		WithRecovery("snapshot_page shows the field; type_text or press_keys may work where the page edits for itself")
}

type took struct {
	Stale   bool `json:"stale"`
	Same    bool `json:"same"`
	Changed bool `json:"changed"`
	Length  int  `json:"length"`
}

// edit selects what is to be replaced and inserts the text as an input method does, so that every change passes
// through trusted beforeinput and input events. Then it looks whether the value took.
func (d *Driver) edit(ctx context.Context, c *call, l snapshot.Located, value, mode string, sending func()) error {
	var held struct {
		Stale bool   `json:"stale"`
		Text  string `json:"text"`
	}
	if err := l.Document.Call(ctx, &held, "heldOf", l.Node); err != nil {
		return err
	}
	if held.Stale {
		return snapshot.Stale(c.session.Target())
	}
	sending()
	where := "all"
	if mode == "append" {
		where = "end"
	}
	if err := d.caret(ctx, c, l, where); err != nil {
		return err
	}
	if err := d.insert(ctx, c, value, mode, held.Text); err != nil {
		return err
	}
	var t took
	if err := l.Document.Call(ctx, &t, "took", l.Node, value, held.Text, mode); err != nil {
		return err
	}
	return c.judge(t, value)
}

func (d *Driver) insert(ctx context.Context, c *call, value, mode, held string) error {
	if value != "" {
		return c.session.Send(ctx, "Input.insertText", map[string]any{"text": value}, nil)
	}
	if mode == "append" || held == "" {
		return nil
	}
	k := namedKeys["Delete"]
	return pipeline(ctx, c.session, "Input.dispatchKeyEvent", []stroke{k.down(0), k.up(0)})
}

// judge turns what the field holds into an outcome: a field that formats what it is given is noted, a silent
// no-op is a failure.
func (c *call) judge(t took, value string) error {
	switch {
	case t.Stale || t.Same:
		return nil // a field that was replaced shows in the postconditions
	case !t.Changed:
		return notTaken()
	}
	c.expectation = "the field holds a different text than was given (" + count(t.Length) + " instead of " + count(utf8.RuneCountInString(value)) + " characters)"
	return nil
}

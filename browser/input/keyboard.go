package input

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

// chunk bounds how many key events are under way at once.
const chunk = 64

func preparePress(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.PressRequest)
	if !ok {
		return wrongRequest(c)
	}
	chords := make([]core.Chord, len(r.Keys))
	for i, text := range r.Keys {
		chord, err := core.ParseChord(text)
		if err != nil {
			return fault.Input(fmt.Sprintf("keys[%d]", i), err.Error())
		}
		chords[i] = chord
	}
	c.parameters = map[string]any{"keys": recordable(chords), "hold_ms": r.HoldMS, "locator": describeElement(r.Element)}
	c.waitNavigation = r.WaitForNavigation
	focus, err := d.prepareFocus(ctx, c, r.Element)
	if err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		if err := focus(ctx, sending); err != nil {
			return nil, err
		}
		for _, chord := range chords {
			if err := d.chord(ctx, c, chord, time.Duration(r.HoldMS)*time.Millisecond); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return nil
}

// recordable leaves printable keys out: what was typed is nobody's record.
func recordable(chords []core.Chord) []string {
	list := make([]string, len(chords))
	for i, chord := range chords {
		name := chord.Key
		if chord.Printable() {
			name = "printable"
		}
		list[i] = strings.Join(append(append([]string{}, chord.Modifiers...), name), "+")
	}
	return list
}

// prepareFocus finds what is to be focused; the returned function focuses it and then reports sending.
func (d *Driver) prepareFocus(ctx context.Context, c *call, e core.Element) (func(context.Context, func()) error, error) {
	if e.Empty() {
		return func(_ context.Context, sending func()) error { sending(); return nil }, nil
	}
	l, err := d.locate(ctx, c, e)
	if err != nil {
		return nil, err
	}
	if c.before.state.Disabled {
		return nil, unreachable(aimed{Why: "disabled"})
	}
	return func(ctx context.Context, sending func()) error {
		sending()
		where := "keep"
		if c.before.state.States&1 == 0 && c.before.state.Editable {
			where = "end"
		}
		return d.caret(ctx, c, l, where)
	}, nil
}

type focusState struct {
	Stale   bool `json:"stale"`
	Focused bool `json:"focused"`
	// Unplaced fields have no selection that a script could set; their caret is moved by a key.
	Unplaced bool `json:"unplaced"`
}

// caret focuses an element and places the caret in it: all, end or keep.
func (d *Driver) caret(ctx context.Context, c *call, l snapshot.Located, where string) error {
	var s focusState
	if err := l.Document.Call(ctx, &s, "caret", l.Node, where); err != nil {
		return err
	}
	switch {
	case s.Stale:
		return snapshot.Stale(c.session.Target())
	case !s.Focused:
		return fault.New(fault.ReferenceNotActionable, "the element does not take the focus").
			WithRecovery("click it first, or act on the field inside it")
	case s.Unplaced:
		end := namedKeys["End"]
		return pipeline(ctx, c.session, "Input.dispatchKeyEvent", []stroke{end.down(0), end.up(0)})
	}
	return nil
}

// chord presses modifiers, key, and releases in the opposite order.
func (d *Driver) chord(ctx context.Context, c *call, chord core.Chord, hold time.Duration) error {
	k, shift, ok := keyFor(unshifted(chord))
	if !ok {
		// No key of the keyboard gives this character.
		return c.session.Send(ctx, "Input.insertText", map[string]any{"text": chord.Key}, nil)
	}
	var down, up []stroke
	held := 0
	for _, m := range chord.Modifiers {
		modifier := namedKeys[modifierKeys[m]]
		up = append([]stroke{modifier.up(held)}, up...)
		held |= modifierBits[m]
		down = append(down, modifier.down(held))
	}
	with := held
	if shift {
		with |= modifierBits["shift"]
	}
	down = append(down, k.down(with))
	up = append([]stroke{k.up(with)}, up...)
	if hold <= 0 {
		return pipeline(ctx, c.session, "Input.dispatchKeyEvent", append(down, up...))
	}
	if err := pipeline(ctx, c.session, "Input.dispatchKeyEvent", down); err != nil {
		return err
	}
	waited := pause(ctx, c.session, hold)
	// The keys are released also when the caller gave up: a stuck key would spoil everything after.
	err := pipeline(context.WithoutCancel(ctx), c.session, "Input.dispatchKeyEvent", up)
	if err == nil {
		err = waited
	}
	return err
}

// unshifted reads Control+A as people mean it: the key A, without Shift unless it is named.
func unshifted(chord core.Chord) string {
	if len(chord.Modifiers) > 0 && len(chord.Key) == 1 {
		return strings.ToLower(chord.Key)
	}
	return chord.Key
}

func prepareType(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.TypeRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"length": len([]rune(r.Text)), "locator": describeElement(r.Element)}
	if r.Element.Empty() {
		if err := d.somethingFocused(ctx, c); err != nil {
			return err
		}
	}
	focus, err := d.prepareFocus(ctx, c, r.Element)
	if err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		if err := focus(ctx, sending); err != nil {
			return nil, err
		}
		return nil, d.typeText(ctx, c, r.Text)
	}
	return nil
}

func (d *Driver) somethingFocused(ctx context.Context, c *call) error {
	doc, err := d.Snapshots.Document(ctx, c.session, "")
	if err != nil {
		return snapshot.Unreadable(err, c.session)
	}
	var active struct {
		Node uint64 `json:"node"`
		Body bool   `json:"body"`
	}
	if err := doc.Call(ctx, &active, "active"); err != nil {
		return err
	}
	if active.Node == 0 || active.Body {
		return fault.New(fault.ReferenceNotActionable, "no input was sent: nothing on the page has the focus").
			WithRecovery("name the field with ref, query or css, or click it first")
	}
	return c.concern(ctx, snapshot.Located{Document: doc, Node: active.Node})
}

// typeText sends key events for what the keyboard has, and inserts the rest as input methods do.
func (d *Driver) typeText(ctx context.Context, c *call, text string) error {
	var keys []stroke
	flush := func() error {
		err := pipeline(ctx, c.session, "Input.dispatchKeyEvent", keys)
		keys = keys[:0]
		return err
	}
	for _, run := range runs(text) {
		if !run.keyboard {
			if err := flush(); err != nil {
				return err
			}
			if err := c.session.Send(ctx, "Input.insertText", map[string]any{"text": run.text}, nil); err != nil {
				return err
			}
			continue
		}
		for _, r := range run.text {
			keys = append(keys, typed(r)...)
			if len(keys) >= chunk {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

func typed(r rune) []stroke {
	name := string(r)
	switch r {
	case '\n':
		name = "Enter"
	case '\t':
		name = "Tab"
	}
	k, shift, _ := keyFor(name)
	bits := 0
	if shift {
		bits = modifierBits["shift"]
	}
	return []stroke{k.down(bits), k.up(bits)}
}

type textRun struct {
	text     string
	keyboard bool
}

// runs splits text where the keyboard's characters end or begin.
func runs(text string) []textRun {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var list []textRun
	for _, r := range text {
		_, has := characterKeys[string(r)]
		has = has || r == '\n' || r == '\t'
		if n := len(list); n > 0 && list[n-1].keyboard == has {
			list[n-1].text += string(r)
			continue
		}
		list = append(list, textRun{string(r), has})
	}
	return list
}

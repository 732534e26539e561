package input

import (
	"context"

	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/snapshot"
	core "github.com/krometrail/krometrail/core/page"
)

// elementState is what the script says about one element.
type elementState struct {
	Stale     bool   `json:"stale"`
	Connected bool   `json:"connected"`
	Role      string `json:"role"`
	Tag       string `json:"tag"`
	States    int    `json:"states"`
	Visible   bool   `json:"visible"`
	Disabled  bool   `json:"disabled"`
	Editable  bool   `json:"editable"`
	Checked   string `json:"checked"`
	Pressed   string `json:"pressed"`
	Expanded  *bool  `json:"expanded"`
	Selected  *bool  `json:"selected"`
	Length    *int   `json:"length"`
	// Link is document for links that should load another document, page for those that should open one, none else.
	Link string `json:"link"`
}

func stateOf(ctx context.Context, l snapshot.Located) (*elementState, error) {
	var s elementState
	if err := l.Document.Call(ctx, &s, "state", l.Node); err != nil {
		return nil, err
	}
	return &s, nil
}

// concern notes the element an action is about and its state.
func (c *call) concern(ctx context.Context, l snapshot.Located) error {
	state, err := stateOf(ctx, l)
	if err != nil {
		return err
	}
	if state.Stale {
		return snapshot.Stale(c.session.Target())
	}
	c.where, c.about, c.before.state = l, true, state
	return nil
}

// postconditions compares now with before.
func (d *Driver) postconditions(ctx context.Context, c *call, o *core.Observation) *core.Postconditions {
	post := &core.Postconditions{
		Pages:     &core.CursorBefore{CursorBefore: c.before.pages},
		Downloads: &core.Downloads{CursorBefore: c.before.downloads, Started: d.Downloads.DownloadsSince(c.before.downloads)},
	}
	if opened, err := d.Tabs.PagesSince(c.before.pages); err == nil {
		post.NewPages = opened
	}
	if c.navigated() != "" {
		post.Navigation = observe.NavigationOf(c.session)
	}
	if c.clipboard != nil {
		post.Clipboard = &core.Clipboard{Confirmed: *c.clipboard}
	}
	if c.about && o.Dialog == nil {
		d.elementAfter(ctx, c, post)
	}
	if o.Dialog == nil { // what a dialog holds up may still come
		post.Expectation = c.expects(post)
	}
	return post
}

func (d *Driver) elementAfter(ctx context.Context, c *call, post *core.Postconditions) {
	if doc, ok := c.session.Document(""); ok && doc.Loader != c.before.loader {
		return // another document: the navigation says it all
	}
	after, err := stateOf(ctx, c.where)
	if err != nil {
		return
	}
	replaced := after.Stale || !after.Connected
	if replaced {
		post.NodeReplaced = &replaced
		return
	}
	state := after.target()
	if state != nil {
		post.TargetState = state
	}
	c.compare(after)
}

func (s *elementState) target() *core.TargetState {
	t := core.TargetState{Expanded: s.Expanded, Selected: s.Selected, ValueLength: s.Length}
	if s.Checked != "" {
		t.Checked = &s.Checked
	}
	if s.Pressed != "" {
		t.Pressed = &s.Pressed
	}
	if t == (core.TargetState{}) {
		return nil
	}
	return &t
}

// compare notes a click on something that flips and did not.
func (c *call) compare(after *elementState) {
	b := c.before.state
	if c.expectation != "" || c.action.Operation != "click" || b == nil || b.Checked == "" {
		return
	}
	unchanged := b.Checked == after.Checked
	if unchanged && !(b.Role == "radio" && b.Checked == "true") {
		c.expectation = "the " + b.Role + "'s state was not observed to change"
	}
}

// expects is at most one cautious note about a common expectation that observably did not hold.
func (c *call) expects(post *core.Postconditions) string {
	if c.expectation != "" {
		return c.expectation
	}
	b := c.before.state
	if c.action.Operation != "click" || b == nil {
		return ""
	}
	switch {
	case b.Link == "document" && post.Navigation == nil && len(post.NewPages) == 0 && len(post.Downloads.Started) == 0:
		return "a link was activated and no navigation was observed"
	case b.Link == "page" && len(post.NewPages) == 0 && post.Navigation == nil && len(post.Downloads.Started) == 0:
		return "a link that opens a page was activated and no new page was observed"
	}
	return ""
}

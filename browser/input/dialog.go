package input

import (
	"context"

	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

func prepareDialog(_ context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.HandleDialogRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"action": r.Action, "prompt_text": r.PromptText != nil}
	open, known := c.session.Dialog()
	if open == nil {
		f := fault.New(fault.NotFound, "the page has no open dialog")
		if !known {
			f = fault.New(fault.NotFound, "no open dialog is known; this page's dialogs are not observed yet")
		}
		return f.WithRecovery("go on; browser_status names the pages with open dialogs").About(fault.Context{TargetID: c.session.Target()})
	}
	c.run = func(ctx context.Context, sending func()) (any, error) {
		sending()
		params := map[string]any{"accept": r.Action == "accept"}
		if r.PromptText != nil {
			params["promptText"] = *r.PromptText
		}
		if err := c.session.Send(ctx, "Page.handleJavaScriptDialog", params, nil); err != nil {
			return nil, err
		}
		if drag := d.loose.take(c.session.Target()); drag != nil {
			drag.end(ctx)
		}
		return core.HandleDialogResult{Type: open.Type, Action: r.Action}, nil
	}
	return nil
}

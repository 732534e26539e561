package control

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

func (o Operations) pages() []capability.Op {
	return append(o.pageSet(),
		read(capability.Spec{
			Name: "list_pages", Lane: capability.Free, Lean: true, Tiers: true, Title: "List pages",
			Summary: "Open pages with visibility, opener and dialog, and a cursor.",
		}, func(ctx context.Context, _ *page.ListRequest) (page.Pages, error) { return o.PageList.List(ctx) }),
		read(capability.Spec{
			Name: "wait_for_page", Lane: capability.Free, Title: "Wait for a page",
			Summary: "Wait for a popup or new tab that appeared after a cursor.",
		}, func(ctx context.Context, r *page.WaitForPageRequest) (page.NewPageResult, error) {
			return o.PageList.WaitForPage(ctx, *r)
		}),
		change[page.NavigateRequest](o.Runner, capability.Spec{
			Name: "navigate_to", Lean: true, StartsBrowser: true, Title: "Navigate",
			Summary: "Load an address in a page. Starts the browser when none was started.",
		}),
		change[page.ReloadRequest](o.Runner, capability.Spec{Name: "reload_page", Lean: true, Title: "Reload", Summary: "Load the page again."}),
		change[page.BackRequest](o.Runner, capability.Spec{Name: "go_back", Lean: true, Title: "Back", Summary: "Go back in the page's history."}),
		change[page.ForwardRequest](o.Runner, capability.Spec{Name: "go_forward", Title: "Forward", Summary: "Go forward in the page's history."}),
		change[page.ViewportRequest](o.Runner, capability.Spec{
			Name: "set_viewport", Lean: true, PicturesByDefault: true, Idempotent: true, Title: "Set the viewport",
			Summary: "Emulate a viewport for one page: preset, width and height, or clear.",
		}),
		read(capability.Spec{
			Name: "list_frames", Title: "List frames",
			Summary: "Document frames of a page, with ifr_ references.",
		}, func(ctx context.Context, r *page.ListFramesRequest) (page.ListFramesResult, error) {
			return o.Inspection.Frames(ctx, *r)
		}),
		read(capability.Spec{
			Name: "list_page_assets", Tiers: true, Title: "List assets",
			Summary: "Loaded resources of a page: counts, sizes, times. Paths are hashed.",
		}, func(ctx context.Context, r *page.ListAssetsRequest) (page.ListAssetsResult, error) {
			return o.Inspection.Assets(ctx, *r)
		}),
	)
}

// pageSet are the operations that open, select, activate and close pages.
func (o Operations) pageSet() []capability.Op {
	return []capability.Op{
		pageCommand(o.Runner, capability.Spec{
			Name: "open_page", Lean: true, StartsBrowser: true, Title: "Open a page",
			Summary: "Open and select a new page. Starts the browser when none was started.",
		}, true, func(ctx context.Context, r *page.OpenRequest) (CommandResult, error) {
			done, err := o.PageSet.Open(ctx, *r)
			return CommandResult{Target: done.Target, Show: done.Target, Value: done}, err
		}),
		pageCommand(o.Runner, capability.Spec{
			Name: "select_page", Lean: true, Idempotent: true, Title: "Select a page",
			Summary: "Make a page the one that calls without target mean.",
		}, false, func(ctx context.Context, r *page.SelectPageRequest) (CommandResult, error) {
			done, err := o.PageSet.Select(ctx, *r)
			return CommandResult{Target: done.Selected, Show: done.Selected, Value: done}, err
		}),
		pageCommand(o.Runner, capability.Spec{
			Name: "activate_page", Idempotent: true, PicturesByDefault: true, Title: "Bring to the front",
			Summary: "Bring a page to the front once and wait until it is visible. Selection is unchanged.",
		}, false, func(ctx context.Context, r *page.ActivateRequest) (CommandResult, error) {
			done, err := o.PageSet.Activate(ctx, *r)
			return CommandResult{Target: done.Target, Show: done.Target, Value: done}, err
		}),
		pageCommand(o.Runner, capability.Spec{
			Name: "close_page", Lean: true, Destructive: true, Title: "Close a page",
			Summary: "Close a page. Closing the last one ends a managed session.",
		}, true, func(ctx context.Context, r *page.CloseRequest) (CommandResult, error) {
			done, err := o.PageSet.Close(ctx, *r)
			return CommandResult{Target: done.Closed, Show: done.Selected, Value: done}, err
		}),
	}
}

// pageCommand makes a state-changing operation on the set of pages. An error that says retry never means
// that the command had been sent.
func pageCommand[Req any](runner *Runner, spec capability.Spec, affecting bool, run func(ctx context.Context, r *Req) (CommandResult, error)) capability.Op {
	spec.Capability, spec.Kind, spec.Lane = capability.Control, capability.Change, capability.Free
	spec.Tiers, spec.Pictures, spec.OpenWorld = true, true, true
	return capability.Define[Req, Result](spec, func(ctx context.Context, r *Req) (capability.Outcome, error) {
		var target id.Target
		if scoped, ok := any(r).(capability.PageScoped); ok {
			target = scoped.PageTarget()
		}
		return runner.Command(ctx, Command{
			Kind: Kind{Operation: spec.Name, PageAffecting: affecting, Observe: true}, Target: target, Parameters: Parameters(map[string]any{}),
			Run: func(ctx context.Context, sending func()) (CommandResult, error) {
				done, err := run(ctx, r)
				if err == nil || fault.From(err).Retry == fault.Never && fault.CodeOf(err) != fault.InvalidInput {
					sending()
				}
				return done, err
			},
		})
	})
}

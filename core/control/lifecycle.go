package control

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
)

// StatusFinisher completes a status; it never fails, it leaves out what it cannot learn.
type StatusFinisher func(ctx context.Context, s *page.Status)

func (o Operations) lifecycle() []capability.Op {
	return []capability.Op{
		status(o, capability.Spec{
			Name: "start_browser", Kind: capability.Lifecycle, Lane: capability.Free, Lean: true, Tiers: true, OpenWorld: true, Title: "Start the browser",
			Summary: "Launch Chrome and record every page. open_page and navigate_to do it by themselves; call it for other settings, fixed for the session.",
		}, func(ctx context.Context, r *page.StartRequest) (page.Status, error) { return o.Browser.Start(ctx, *r) }),
		status(o, capability.Spec{
			Name: "attach_browser", Kind: capability.Lifecycle, Lane: capability.Free, Tiers: true, OpenWorld: true, Title: "Attach to a browser",
			Summary: "Record and drive a Chrome or Electron that already runs with remote debugging on this machine. It is never closed.",
		}, func(ctx context.Context, r *page.AttachRequest) (page.Status, error) {
			return o.Browser.Attach(ctx, *r)
		}),
		status(o, capability.Spec{
			Name: "browser_status", Kind: capability.Read, Lane: capability.Free, Lean: true, Tiers: true, Idempotent: true, Title: "Status",
			Summary: "Browser, pages, dialogs, recording, disk budget, capabilities. Works at any time.",
		}, func(ctx context.Context, _ *page.StatusRequest) (page.Status, error) { return o.Browser.Status(ctx) }),
		o.stop(),
		read(capability.Spec{
			Name: "list_managed_profiles", Lane: capability.Free, Title: "List profiles",
			Summary: "Reusable browser profiles and which are in use.",
		}, func(ctx context.Context, _ *page.ProfilesRequest) (page.Profiles, error) {
			return o.Browser.Profiles(ctx)
		}),
	}
}

func status[Req any](o Operations, spec capability.Spec, run func(ctx context.Context, r *Req) (page.Status, error)) capability.Op {
	spec.Capability = capability.Control
	return capability.Define[Req, page.Status](spec, func(ctx context.Context, r *Req) (capability.Outcome, error) {
		s, err := run(ctx, r)
		if err != nil {
			return capability.Outcome{Stage: spec.Name, Warnings: s.Warnings}, err
		}
		o.Finish(ctx, &s)
		return capability.Outcome{Result: s, Warnings: s.Warnings, Notes: s.Notes}, nil
	})
}

func (o Operations) stop() capability.Op {
	return capability.Define[page.StopRequest, page.StopResult](capability.Spec{
		Name: "stop_browser", Capability: capability.Control, Kind: capability.Lifecycle, Lane: capability.Free, Lean: true,
		Destructive: true, Title: "Stop the browser",
		Summary: "Close the browser, or detach from an attached one, and end the session. The recording stays readable in this process.",
	}, func(ctx context.Context, _ *page.StopRequest) (capability.Outcome, error) {
		result, err := o.Browser.Stop(ctx)
		if err != nil {
			return capability.Outcome{Stage: "stop"}, err
		}
		out := capability.Outcome{Result: result}
		if result.Quality == "degraded" {
			out.Status, out.Stage, out.Err = capability.Degraded, result.Stage, result.Cause
			if out.Err == nil {
				out.Err = fault.New(fault.ShutdownIncomplete, "the session ended, but not all of it could be finished")
			}
		}
		return out, nil
	})
}

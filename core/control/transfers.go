package control

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/page"
)

func (o Operations) transfers() []capability.Op {
	return []capability.Op{
		read(capability.Spec{
			Name: "get_cookies", Title: "Read cookies", Summary: "Cookies of a page or of given URLs, with values. Never recorded.",
		}, func(ctx context.Context, r *page.GetCookiesRequest) (page.GetCookiesResult, error) {
			return o.Transfers.Cookies(ctx, *r)
		}),
		recorded[page.SetCookiesRequest](o.Runner, capability.Spec{
			Name: "set_cookies", Batchable: true, Idempotent: true, Title: "Set cookies", Summary: "Set 1 to 64 cookies. Names and values are not recorded.",
		}),
		recorded[page.ClearCookiesRequest](o.Runner, capability.Spec{
			Name: "clear_cookies", Batchable: true, Destructive: true, Idempotent: true, Title: "Clear cookies",
			Summary: "Delete cookies by name, domain or URL, or all of the browser's.",
		}),
		read(capability.Spec{
			Name: "read_clipboard", Title: "Read the clipboard", Summary: "Text of the clipboard as the page sees it, up to 64 KiB.",
		}, func(ctx context.Context, r *page.ReadClipboardRequest) (page.ReadClipboardResult, error) {
			return o.Transfers.ReadClipboard(ctx, *r)
		}),
		change[page.WriteClipboardRequest](o.Runner, capability.Spec{
			Name: "write_clipboard", Idempotent: true, Title: "Write the clipboard", Summary: "Put text on the clipboard and confirm it.",
		}),
		read(capability.Spec{
			Name: "list_downloads", Lane: capability.Free, Title: "List downloads",
			Summary: "Downloads of the session; completed ones with resource and path; a cursor for wait_for_download.",
		}, func(ctx context.Context, _ *page.ListDownloadsRequest) (page.ListDownloadsResult, error) {
			return o.Transfers.Downloads(ctx)
		}),
		read(capability.Spec{
			Name: "wait_for_download", Lane: capability.Free, OwnDeadline: true, Title: "Wait for a download",
			Summary: "Wait for a download that began after a cursor of list_downloads or of an action's answer.",
		}, func(ctx context.Context, r *page.WaitForDownloadRequest) (page.ListDownloadsResult, error) {
			return o.Transfers.WaitForDownload(ctx, *r)
		}),
		recordedPlain[page.CancelDownloadRequest](o.Runner, capability.Spec{
			Name: "cancel_download", Destructive: true, Idempotent: true, Title: "Cancel a download", Summary: "Stop a running download.",
		}),
	}
}

// recordedPlain is recorded for operations that are not about a page; they belong to the selected one.
func recordedPlain[Req any](runner *Runner, spec capability.Spec) capability.Op {
	spec.Capability, spec.Kind, spec.Lane = capability.Control, capability.Recorded, capability.Free
	kind := Kind{Operation: spec.Name}
	return capability.Define[Req, Result](spec, func(ctx context.Context, r *Req) (capability.Outcome, error) {
		return runner.Do(ctx, kind, "", r)
	})
}

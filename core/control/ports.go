package control

import (
	"context"

	"github.com/krometrail/krometrail/core/page"
)

// Browser is the lifecycle of the one browser session.
type Browser interface {
	Start(ctx context.Context, r page.StartRequest) (page.Status, error)
	Attach(ctx context.Context, r page.AttachRequest) (page.Status, error)
	Status(ctx context.Context) (page.Status, error)
	Stop(ctx context.Context) (page.StopResult, error)
	Profiles(ctx context.Context) (page.Profiles, error)
}

// PageList reads the set of pages.
type PageList interface {
	List(ctx context.Context) (page.Pages, error)
	WaitForPage(ctx context.Context, r page.WaitForPageRequest) (page.NewPageResult, error)
}

// PageSet changes the set of pages. Each method sends its first command only when it is called; an error
// with retry never says that something was sent.
type PageSet interface {
	Open(ctx context.Context, r page.OpenRequest) (page.OpenResult, error)
	Select(ctx context.Context, r page.SelectPageRequest) (page.SelectPageResult, error)
	Activate(ctx context.Context, r page.ActivateRequest) (page.ActivateResult, error)
	Close(ctx context.Context, r page.CloseRequest) (page.CloseResult, error)
}

// Inspection reads a page's structure.
type Inspection interface {
	Inspect(ctx context.Context, r page.InspectRequest) (page.InspectResult, error)
	Snapshot(ctx context.Context, r page.SnapshotRequest) (page.Snapshot, error)
	Query(ctx context.Context, r page.QueryRequest) (page.QueryResult, error)
	Frames(ctx context.Context, r page.ListFramesRequest) (page.ListFramesResult, error)
	Assets(ctx context.Context, r page.ListAssetsRequest) (page.ListAssetsResult, error)
}

// Camera takes pictures and live observations.
type Camera interface {
	Inspector
	Screenshot(ctx context.Context, r page.ScreenshotRequest) (page.ScreenshotResult, error)
}

// Waiter waits for a condition. A time-out returns the result with the last probe and wait_timed_out. It
// holds nothing up while it waits.
type Waiter interface {
	Wait(ctx context.Context, r page.WaitRequest) (page.WaitResult, error)
}

// Transfers reads what passes between page and machine.
type Transfers interface {
	Cookies(ctx context.Context, r page.GetCookiesRequest) (page.GetCookiesResult, error)
	ReadClipboard(ctx context.Context, r page.ReadClipboardRequest) (page.ReadClipboardResult, error)
	Downloads(ctx context.Context) (page.ListDownloadsResult, error)
	WaitForDownload(ctx context.Context, r page.WaitForDownloadRequest) (page.ListDownloadsResult, error)
}

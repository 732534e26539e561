package wire

import (
	"context"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/browser/input"
	"github.com/krometrail/krometrail/browser/observe"
	cdppage "github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

// parts are the services of transfers and waits.
type parts struct {
	fx.Out
	Waiter    control.Waiter
	Transfers control.Transfers
	Downloads downloadReader
	Started   input.Downloads
	Moves     input.Transfers
}

type interim struct{}

var errInterim = fault.New(fault.Unsupported, "interim")

func (interim) Wait(context.Context, page.WaitRequest) (page.WaitResult, error) { return page.WaitResult{}, errInterim }
func (interim) Cookies(context.Context, page.GetCookiesRequest) (page.GetCookiesResult, error) {
	return page.GetCookiesResult{}, errInterim
}
func (interim) ReadClipboard(context.Context, page.ReadClipboardRequest) (page.ReadClipboardResult, error) {
	return page.ReadClipboardResult{}, errInterim
}
func (interim) Downloads(context.Context) (page.ListDownloadsResult, error) { return page.ListDownloadsResult{}, errInterim }
func (interim) WaitForDownload(context.Context, page.WaitForDownloadRequest) (page.ListDownloadsResult, error) {
	return page.ListDownloadsResult{}, errInterim
}
func (interim) ReadDownload(context.Context, id.Session, id.Download) ([]byte, string, error) { return nil, "", errInterim }
func (interim) Cursor() string                    { return "d0" }
func (interim) Since(string) []id.Download        { return nil }
func (interim) SetCookies(context.Context, *cdppage.Session, *page.SetCookiesRequest, func()) (page.CookieCount, error) {
	return page.CookieCount{}, errInterim
}
func (interim) ClearCookies(context.Context, *cdppage.Session, *page.ClearCookiesRequest, func()) (page.CookieCount, error) {
	return page.CookieCount{}, errInterim
}
func (interim) WriteClipboard(context.Context, *cdppage.Session, *page.WriteClipboardRequest, func()) (page.WriteClipboardResult, error) {
	return page.WriteClipboardResult{}, errInterim
}
func (interim) CancelDownload(context.Context, *page.CancelDownloadRequest, func()) (page.CancelDownloadResult, error) {
	return page.CancelDownloadResult{}, errInterim
}

func newParts() parts { i := interim{}; return parts{Waiter: i, Transfers: i, Downloads: i, Started: i, Moves: i} }

type inspection struct{ *observe.Observer }

func (inspection) Assets(context.Context, page.ListAssetsRequest) (page.ListAssetsResult, error) {
	return page.ListAssetsResult{}, errInterim
}

package input

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
)

// Tabs is what actions need to know about the set of pages.
type Tabs interface {
	// PageCursor anchors a wait for pages at this moment.
	PageCursor() string
	// PagesSince lists the pages that have appeared after a cursor, with their openers.
	PagesSince(cursor string) ([]core.NewPage, error)
	// WaitForPage returns as soon as a page has appeared after a cursor.
	WaitForPage(ctx context.Context, r core.WaitForPageRequest) (core.NewPageResult, error)
	// MarkAction notes that an action begins: waits for pages without a cursor count from here.
	MarkAction()
	// EnsureForeground makes a hidden page visible if the session's focus policy allows it, and waits boundedly;
	// target_hidden when it may not or does not become visible.
	EnsureForeground(ctx context.Context, t id.Target) error
}

// Downloads is what actions need to know about downloads.
type Downloads interface {
	// DownloadCursor anchors a wait for downloads at this moment.
	DownloadCursor() string
	// DownloadsSince lists the downloads that have begun after a cursor.
	DownloadsSince(cursor string) []id.Download
}

// Transfers are the recorded operations that move data without pointer or keyboard. sending is called right
// before the first command leaves.
type Transfers interface {
	SetCookies(ctx context.Context, s *page.Session, r *core.SetCookiesRequest, sending func()) (core.CookieCount, error)
	ClearCookies(ctx context.Context, s *page.Session, r *core.ClearCookiesRequest, sending func()) (core.CookieCount, error)
	WriteClipboard(ctx context.Context, s *page.Session, r *core.WriteClipboardRequest, sending func()) (core.WriteClipboardResult, error)
	CancelDownload(ctx context.Context, r *core.CancelDownloadRequest, sending func()) (core.CancelDownloadResult, error)
}

// Deps are what the driver works with.
type Deps struct {
	Pages     observe.Pages
	Tabs      Tabs
	Downloads Downloads
	Transfers Transfers
	Snapshots *snapshot.Registry
	Observer  *observe.Observer
}

// Driver implements control.Driver. Safe for concurrent use on different pages.
type Driver struct {
	Deps
	table map[string]prepare
	loose looseDrags
}

// prepare resolves an operation's request: it sets what the call is about and how it runs.
type prepare func(ctx context.Context, d *Driver, c *call) error

// NewDriver returns the driver of interactions.
func NewDriver(deps Deps) *Driver { return &Driver{Deps: deps, table: operations()} }

var _ control.Driver = (*Driver)(nil)

func operations() map[string]prepare {
	return map[string]prepare{
		"click": prepareClick, "hover": prepareHover, "drag": prepareDrag, "scroll": prepareScroll,
		"fill": prepareFill, "clear": prepareClear, "type_text": prepareType, "press_keys": preparePress,
		"select_option": prepareSelect, "toggle": prepareToggle, "upload_files": prepareUpload,
		"handle_dialog": prepareDialog, "evaluate": prepareEvaluate,
		"set_cookies": prepareSetCookies, "clear_cookies": prepareClearCookies,
		"write_clipboard": prepareWriteClipboard, "cancel_download": prepareCancelDownload,
	}
}

// call is one action under way. It implements control.Prepared.
type call struct {
	action     control.Action
	session    *page.Session
	parameters map[string]any
	// where is the element the action is about, zero when there is none.
	where snapshot.Located
	about bool
	// run sends the input.
	run func(ctx context.Context, sending func()) (any, error)
	// waitNavigation: a navigation that begins is awaited to its end.
	waitNavigation bool
	// opens: the input is expected to open a page.
	opens bool
	// expectation is a note that the operation itself makes.
	expectation string
	clipboard   *bool
	before      before
	// unproven is a failure after which nobody knows how far the input got.
	unproven error
}

// before is the state that postconditions compare with.
type before struct {
	navigation id.Navigation
	loader     string
	pages      string
	downloads  string
	state      *elementState
}

// Parameters implements control.Prepared.
func (c *call) Parameters() json.RawMessage { return control.Parameters(c.parameters) }

// TargetRef is the reference of the element that the action is about, "" when there is none.
func (c *call) TargetRef() string {
	if !c.about {
		return ""
	}
	return c.where.Ref()
}

// Resolve implements control.Driver. Operations that are not in the table are those of other drivers: only
// the state before them is noted.
func (d *Driver) Resolve(ctx context.Context, a control.Action) (control.Prepared, error) {
	c := &call{action: a, parameters: map[string]any{}}
	if v, ok := a.Request.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	if a.TargetID != "" {
		s, err := d.Pages.Page(a.TargetID)
		if err != nil {
			return nil, err
		}
		c.session = s
	}
	d.note(c)
	prepare, ok := d.table[a.Operation]
	if !ok {
		return c, nil
	}
	if c.session == nil && a.Operation != "cancel_download" {
		return nil, fault.Input("target", "the operation needs a page")
	}
	if err := prepare(ctx, d, c); err != nil {
		return nil, c.translate(err)
	}
	return c, nil
}

func (d *Driver) note(c *call) {
	d.Tabs.MarkAction()
	c.before.pages, c.before.downloads = d.Tabs.PageCursor(), d.Downloads.DownloadCursor()
	if c.session == nil {
		return
	}
	if n, ok := c.session.Navigation(); ok {
		c.before.navigation = n.ID
	}
	doc, _ := c.session.Document("")
	c.before.loader = doc.Loader
}

// translate names a document that was replaced under a reference.
func (c *call) translate(err error) error {
	if c.session != nil && errors.Is(err, snapshot.ErrGone) {
		return snapshot.Stale(c.session.Target()).Because(err)
	}
	return err
}

// Dispatch implements control.Driver.
func (d *Driver) Dispatch(ctx context.Context, a control.Action, p control.Prepared, sending func()) (any, error) {
	c, ok := p.(*call)
	if !ok || c.run == nil {
		return nil, fault.New(fault.Internal, "operation %s was not prepared by this driver", a.Operation)
	}
	sent := false
	result, err := c.run(ctx, func() { sent = true; sending() })
	if err == nil {
		return result, nil
	}
	if !sent {
		return nil, c.translate(err)
	}
	return result, c.afterSending(err)
}

// afterSending sorts failures once input has left. A dialog is an outcome. What nobody answered may have
// happened: the action stands, and its observation is what is incomplete.
func (c *call) afterSending(err error) error {
	switch code := fault.CodeOf(err); {
	case code == fault.DialogOpen:
		return nil
	case code == fault.BrowserDisconnected, code == fault.PageUnresponsive, code == fault.TargetFailed:
		c.unproven = err
		return nil
	case errors.Is(err, snapshot.ErrGone):
		return nil // the document went away under the input: a navigation began
	case code == fault.Internal:
		return fault.New(fault.InteractionFailed, "the browser refused a part of the input").WithRetry(fault.Never).
			WithRecovery("snapshot_page shows what happened").Because(err)
	}
	return err
}

// Observe implements control.Driver.
func (d *Driver) Observe(ctx context.Context, a control.Action, p control.Prepared, s control.Settled) (core.Observation, error) {
	c, ok := p.(*call)
	if !ok || c.session == nil {
		return core.Observation{}, nil
	}
	taking := observe.Taking{Unsettled: !s.Rendezvous, Same: true}
	if a.Screenshot && c.unproven == nil {
		taking.Picture = evidence.RolePostAction
	}
	if live, err := d.Pages.Page(a.TargetID); err == nil {
		c.session = live // a page that was attached again meanwhile
	}
	out := d.Observer.Take(ctx, c.session, taking)
	out.Incomplete = afterInput(out.Incomplete)
	for i, w := range out.Warnings {
		out.Warnings[i] = afterInput(w)
	}
	out.Post = d.postconditions(ctx, c, &out)
	return out, nil
}

// afterInput keeps the failure of an observation from advising to act again.
func afterInput(f *fault.Error) *fault.Error {
	if f == nil {
		return nil
	}
	if f.Retry == fault.Safe || f.Recovery == "" {
		f = f.WithRecovery("the action was carried out; snapshot_page shows the page")
	}
	return f.WithRetry(fault.Never)
}

// Deadlines of completion.
const (
	rendezvousLimit = 250 * time.Millisecond
	// briefNavigation is how long a navigation that an action began may take to show its document before the
	// answer goes out without it.
	briefNavigation = time.Second
	fullNavigation  = 25 * time.Second
	briefPage       = 1000 // milliseconds
)

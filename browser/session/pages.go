package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
)

const (
	// attachLimit bounds the wait for a created page to be attached.
	attachLimit = 5 * time.Second
	// closeLimit bounds the wait for a closed page to go.
	closeLimit = 10 * time.Second
	// pageWait is the default patience of WaitForPage.
	pageWait = 10 * time.Second
)

// List returns the open pages.
func (b *Browser) List(ctx context.Context) (corepage.Pages, error) {
	l, err := b.running()
	if err != nil {
		return corepage.Pages{}, err
	}
	l.refresh(ctx)
	v := l.view()
	list := corepage.Pages{Pages: []corepage.Page{}, Cursor: l.cursor(v.Sequence)}
	for _, p := range v.Pages {
		list.Pages = append(list.Pages, l.row(v, p))
	}
	return list, nil
}

// newCursorKey makes the part of cursors that binds them to one session of this process.
func newCursorKey() string {
	var raw [3]byte
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

func (l *live) cursor(sequence uint64) string {
	return "pages-" + l.cursors + "-" + strconv.FormatUint(sequence, 10)
}

func (l *live) parseCursor(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, "pages-"+l.cursors+"-")
	sequence, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, fault.Input("after", "a cursor from list_pages or a page postcondition of this session")
	}
	return sequence, nil
}

// PageCursor anchors WaitForPage and PagesSince at this moment; "" when no session runs.
func (b *Browser) PageCursor() string {
	l, err := b.running()
	if err != nil {
		return ""
	}
	return l.cursor(l.view().Sequence)
}

// MarkAction notes that an action begins: a WaitForPage without a cursor counts from here.
func (b *Browser) MarkAction() {
	if l, err := b.running(); err == nil {
		sequence := l.view().Sequence
		l.mu.Lock()
		l.mark, l.marked = sequence, true
		l.mu.Unlock()
	}
}

// PagesSince returns the open pages that appeared after the cursor.
func (b *Browser) PagesSince(cursor string) ([]corepage.NewPage, error) {
	l, err := b.running()
	if err != nil {
		return nil, err
	}
	after, err := l.parseCursor(cursor)
	if err != nil {
		return nil, err
	}
	var list []corepage.NewPage
	v := l.view()
	for _, p := range v.Pages {
		if p.Sequence > after {
			list = append(list, corepage.NewPage{TargetID: p.ID, Opener: p.Opener, URL: l.row(v, p).URL})
		}
	}
	return list, nil
}

// WaitForPage waits for a page that appeared after the cursor.
func (b *Browser) WaitForPage(ctx context.Context, r corepage.WaitForPageRequest) (corepage.NewPageResult, error) {
	l, err := b.running()
	if err != nil {
		return corepage.NewPageResult{}, err
	}
	after, err := l.waitFrom(r.After)
	if err != nil {
		return corepage.NewPageResult{}, err
	}
	if r.Opener != "" {
		if _, err := id.Parse[id.Target](string(r.Opener)); err != nil {
			return corepage.NewPageResult{}, fault.Input("opener", "a target such as tgt_...")
		}
	}
	patience := pageWait
	if r.TimeoutMS > 0 {
		patience = time.Duration(r.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := clock.WithTimeout(ctx, b.deps.Clock, patience)
	defer cancel()
	var found target.Page
	_, registry := l.connection()
	v, err := registry.Wait(ctx, func(v *target.View) (ok bool) {
		found, ok = firstAfter(v, after, r.Opener)
		return ok
	})
	if err != nil {
		return corepage.NewPageResult{Cursor: l.cursor(v.Sequence)}, waitFault(err, l)
	}
	return corepage.NewPageResult{Page: l.row(v, found), Cursor: l.cursor(found.Sequence)}, nil
}

func (l *live) waitFrom(cursor string) (uint64, error) {
	if cursor != "" {
		return l.parseCursor(cursor)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.marked {
		return l.mark, nil
	}
	return l.registry.View().Sequence, nil
}

func firstAfter(v *target.View, after uint64, opener id.Target) (target.Page, bool) {
	for _, p := range v.Pages {
		if p.Sequence > after && (opener == "" || p.Opener == opener) && p.Session != nil {
			return p, true
		}
	}
	return target.Page{}, false
}

func waitFault(err error, l *live) error {
	switch {
	case errors.Is(err, cdp.ErrClosed):
		return fault.New(fault.BrowserDisconnected, "the connection to the browser was lost").About(fault.Context{SessionID: l.id})
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.WaitTimedOut, "no such page appeared in time").
			WithRecovery("list_pages shows what is open; an earlier cursor finds pages that had already appeared")
	}
	return fault.New(fault.Cancelled, "the wait was cancelled").Because(err)
}

// Open creates a page, selects it and loads its address. Under the preserve policy it is created in the background.
func (b *Browser) Open(ctx context.Context, r corepage.OpenRequest) (corepage.OpenResult, error) {
	l, err := b.running()
	if err != nil {
		return corepage.OpenResult{}, err
	}
	url := defaultTo(r.URL, "about:blank")
	if err := checkURL("url", url); err != nil {
		return corepage.OpenResult{}, err
	}
	row, err := l.create(ctx)
	if err != nil {
		return corepage.OpenResult{}, err
	}
	result := corepage.OpenResult{Target: row.ID, Selected: row.ID}
	if _, err := l.choose(ctx, row); err != nil {
		return result, sentFault(err)
	}
	if url == "about:blank" {
		return result, nil
	}
	loaded, err := b.Navigate(ctx, &corepage.NavigateRequest{Scope: corepage.Scope{Target: row.ID}, URL: url}, func() {})
	result.Navigation = loaded.Navigation
	if err != nil {
		return result, sentFault(err)
	}
	return result, nil
}

// sentFault marks a failure after something was sent: repeating it would do it twice.
func sentFault(err error) error { return fault.From(err).WithRetry(fault.Never) }

// create makes an empty page and waits until it is attached. Its address is loaded afterwards, so that the first request
// is seen. Foreground pages are activated by the browser.
func (l *live) create(ctx context.Context) (target.Page, error) {
	root, registry := l.connection()
	params := map[string]any{"url": "about:blank"}
	if l.focus == "preserve" {
		params["background"] = true
	}
	var made struct {
		TargetID string `json:"targetId"`
	}
	if err := root.Send(ctx, "Target.createTarget", params, &made); err != nil {
		return target.Page{}, sentFault(err)
	}
	ctx, cancel := clock.WithTimeout(ctx, l.browser.deps.Clock, attachLimit)
	defer cancel()
	v, err := registry.Wait(ctx, func(v *target.View) bool {
		p, ok := v.FindCDP(made.TargetID)
		return ok && p.Session != nil
	})
	if err != nil {
		return target.Page{}, fault.New(fault.TargetFailed, "the page was created but could not be attached").
			WithRetry(fault.Never).WithRecovery("list_pages shows what is open").Because(err)
	}
	row, _ := v.FindCDP(made.TargetID)
	return row, nil
}

// Select makes a page the selected one; under the foreground policy its tab is activated as well.
func (b *Browser) Select(ctx context.Context, r corepage.SelectPageRequest) (corepage.SelectPageResult, error) {
	l, err := b.running()
	if err != nil {
		return corepage.SelectPageResult{}, err
	}
	row, err := l.find(r.Target)
	if err != nil {
		return corepage.SelectPageResult{}, err
	}
	previous, err := l.choose(ctx, row)
	result := corepage.SelectPageResult{Previous: previous, Selected: row.ID}
	if err != nil {
		return result, sentFault(err)
	}
	return result, nil
}

// choose selects a page and, under the foreground policy, activates its tab.
func (l *live) choose(ctx context.Context, row target.Page) (previous id.Target, err error) {
	root, registry := l.connection()
	if previous, err = registry.Select(row.ID); err != nil || l.focus == "preserve" {
		return previous, err
	}
	return previous, root.Send(ctx, "Target.activateTarget", map[string]any{"targetId": row.CDPTarget}, nil)
}

// Activate brings a page to the front once, whatever the policy, and waits until it is visible. The selection stays.
func (b *Browser) Activate(ctx context.Context, r corepage.ActivateRequest) (corepage.ActivateResult, error) {
	l, err := b.running()
	if err != nil {
		return corepage.ActivateResult{}, err
	}
	row, err := l.find(r.Target)
	if err != nil {
		return corepage.ActivateResult{}, err
	}
	result := corepage.ActivateResult{Target: row.ID, Visibility: "visible"}
	if err := l.bringToFront(ctx, row); err != nil {
		result.Visibility = "hidden"
		return result, sentFault(err)
	}
	return result, nil
}

// Close closes a page and says which one is selected afterwards.
func (b *Browser) Close(ctx context.Context, r corepage.CloseRequest) (corepage.CloseResult, error) {
	l, err := b.running()
	if err != nil {
		return corepage.CloseResult{}, err
	}
	row, err := l.find(r.Target)
	if err != nil {
		return corepage.CloseResult{}, err
	}
	root, registry := l.connection()
	if err := root.Send(ctx, "Target.closeTarget", map[string]any{"targetId": row.CDPTarget}, nil); err != nil {
		return corepage.CloseResult{}, sentFault(err)
	}
	ctx, cancel := clock.WithTimeout(ctx, b.deps.Clock, closeLimit)
	defer cancel()
	v, err := registry.Wait(ctx, func(v *target.View) bool {
		_, open := v.Find(row.ID)
		return !open
	})
	if err != nil && !errors.Is(err, cdp.ErrClosed) {
		return corepage.CloseResult{}, l.closeFault(row)
	}
	return corepage.CloseResult{Closed: row.ID, Selected: v.Selected}, nil
}

func (l *live) closeFault(row target.Page) error {
	if dialog, _ := row.Session.Dialog(); dialog != nil {
		return fault.New(fault.DialogOpen, "a dialog (%s) keeps the page open", dialog.Type).WithRetry(fault.Never).
			WithRecovery("handle_dialog first").About(fault.Context{TargetID: row.ID})
	}
	return fault.New(fault.PageUnresponsive, "the page did not close in time").WithRetry(fault.Never).
		WithRecovery("list_pages shows whether it is still open").About(fault.Context{TargetID: row.ID})
}

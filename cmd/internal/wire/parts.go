package wire

import (
	"context"

	"github.com/krometrail/krometrail/browser/input"
	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

// tabs is what input needs to know about the set of pages.
type tabs struct{ browser *session.Browser }

// Cursor implements input.Tabs. Every action begins by asking for it, which is also what a wait for a page
// without a cursor counts from.
func (t tabs) Cursor() string {
	t.browser.MarkAction()
	return t.browser.PageCursor()
}

// Since implements input.Tabs.
func (t tabs) Since(cursor string) []page.NewPage {
	list, err := t.browser.PagesSince(cursor)
	if err != nil {
		return nil
	}
	return list
}

// Await implements input.Tabs.
func (t tabs) Await(ctx context.Context, cursor string) { t.browser.AwaitPage(ctx, cursor) }

// Foreground implements input.Tabs.
func (t tabs) Foreground(ctx context.Context, target id.Target) error {
	return t.browser.EnsureForeground(ctx, target)
}

func newDriver(b *session.Browser, s *snapshot.Registry, o *observe.Observer, started input.Downloads, moves input.Transfers) control.Driver {
	return input.NewDriver(input.Deps{
		Pages: b, Tabs: tabs{b}, Downloads: started, Transfers: moves, Snapshots: s, Observer: o,
	})
}

package session

import (
	"context"
	"time"

	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

const (
	// visibleLimit bounds the wait for a page to become visible after it was brought to the front.
	visibleLimit = 3 * time.Second
	// visiblePoll is the interval of looking.
	visiblePoll = 20 * time.Millisecond
)

// EnsureForeground makes sure that input will reach a visible page. Under the foreground policy a hidden page is brought
// to the front; under preserve nothing is sent and a hidden page is target_hidden. Pointer, drag and scroll
// operations call it before they resolve anything.
func (b *Browser) EnsureForeground(ctx context.Context, t id.Target) error {
	l, err := b.running()
	if err != nil {
		return err
	}
	row, err := l.find(t)
	if err != nil {
		return err
	}
	switch visible, err := l.visible(ctx, row); {
	case err != nil:
		return err
	case visible:
		return nil
	case l.focus == "preserve":
		return hiddenFault(row.ID)
	}
	return l.bringToFront(ctx, row)
}

func hiddenFault(t id.Target) error {
	return fault.New(fault.TargetHidden, "the page is hidden; no input was sent").
		WithRecovery("activate_page, or a new session with focus=foreground").About(fault.Context{TargetID: t})
}

// bringToFront activates the page's tab and waits until its document is visible.
func (l *live) bringToFront(ctx context.Context, row target.Page) error {
	root, _ := l.connection()
	if err := root.Send(ctx, "Target.activateTarget", map[string]any{"targetId": row.CDPTarget}, nil); err != nil {
		return err
	}
	ctx, cancel := clock.WithTimeout(ctx, l.browser.deps.Clock, visibleLimit)
	defer cancel()
	for {
		visible, err := l.visible(ctx, row)
		switch {
		case ctx.Err() != nil:
			return hiddenFault(row.ID)
		case err != nil:
			return err
		case visible:
			return nil
		}
		if clock.Wait(ctx, l.browser.deps.Clock, visiblePoll) != nil {
			return hiddenFault(row.ID)
		}
	}
}

// visible asks the document itself. Its answer is newer than the screencast's, which lags behind a change.
func (l *live) visible(ctx context.Context, row target.Page) (bool, error) {
	world, err := row.Session.World(ctx, "")
	if err != nil {
		return false, err
	}
	var out struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	err = row.Session.Send(ctx, "Runtime.evaluate", map[string]any{
		"expression": "document.visibilityState", "contextId": world, "returnByValue": true,
	}, &out)
	return out.Result.Value == "visible", err
}

package session

import (
	"context"

	"github.com/krometrail/krometrail/browser/target"
)

// keepSpare remembers the empty page of a browser that nobody asked to start: what is opened first is shown in it,
// instead of beside it.
func (l *live) keepSpare() {
	v := l.view()
	if len(v.Pages) != 1 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = v.Pages[0].ID
}

// takeSpare returns that page if it is still as the browser made it. It is given once, and never after a navigation.
func (l *live) takeSpare(ctx context.Context) (row target.Page, ok bool) {
	l.mu.Lock()
	spare := l.spare
	l.spare = ""
	l.mu.Unlock()
	if spare == "" {
		return target.Page{}, false
	}
	row, ok = l.view().Find(spare)
	if !ok || row.Session == nil || row.Opener != "" || row.URL != "about:blank" {
		return target.Page{}, false
	}
	var history struct {
		Entries []struct {
			URL string `json:"url"`
		} `json:"entries"`
	}
	err := row.Session.Send(ctx, "Page.getNavigationHistory", nil, &history)
	return row, err == nil && len(history.Entries) == 1 && history.Entries[0].URL == "about:blank"
}

// dropSpare is called when something else uses a page.
func (l *live) dropSpare() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = ""
}

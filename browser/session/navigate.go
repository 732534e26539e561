package session

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// navigateLimit is the default patience of a navigation.
const navigateLimit = 25 * time.Second

// maxURL bounds an address, in bytes.
const maxURL = 64 << 10

// loadable are the schemes a page may be sent to. Others would start programs of the desktop or run script.
var loadable = map[string]bool{
	"http": true, "https": true, "file": true, "about": true, "data": true, "blob": true, "chrome": true,
	"chrome-extension": true, "view-source": true, "filesystem": true,
}

func checkURL(path, text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fault.Input(path, "at most 64 KiB")
	case err != nil, u.Scheme == "":
		return fault.Input(path, "an absolute address such as http://localhost:3000/")
	case !loadable[strings.ToLower(u.Scheme)]:
		return fault.Input(path, "an address a page can show: http, https, file, about, data, blob or chrome (write http://host:port for a local server)")
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host == "":
		return fault.Input(path, "an address with a host")
	}
	return nil
}

// Navigate loads an address in a page. sending is called right before the command leaves. A download, a load that goes on
// and a dialog are results, not errors.
func (b *Browser) Navigate(ctx context.Context, r *corepage.NavigateRequest, sending func()) (corepage.NavigateResult, error) {
	if err := checkURL("url", r.URL); err != nil {
		return corepage.NavigateResult{}, err
	}
	row, err := b.row(r.Target)
	if err != nil {
		return corepage.NavigateResult{}, err
	}
	limit := navigateLimit
	if r.TimeoutMS > 0 {
		limit = time.Duration(r.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := clock.WithTimeout(ctx, b.deps.Clock, limit)
	defer cancel()
	var reply struct {
		Loader   string `json:"loaderId"`
		Error    string `json:"errorText"`
		Download bool   `json:"isDownload"`
	}
	before := newest(row.Session)
	sending()
	err = row.Session.SendWithin(ctx, limit, "Page.navigate", map[string]any{"url": r.URL}, &reply)
	switch {
	case err != nil:
		return interrupted(row.Session, before, err)
	case reply.Download, reply.Error == "net::ERR_ABORTED":
		result := corepage.NavigateResult{Download: reply.Download}
		result.Navigation = refSince(row.Session, before)
		return result, nil
	case reply.Error != "":
		return corepage.NavigateResult{Navigation: refSince(row.Session, before)}, navigationFault(reply.Error, row.ID)
	}
	if r.Wait == "none" {
		return corepage.NavigateResult{Navigation: refSince(row.Session, before)}, nil
	}
	want := page.NavComplete
	if r.Wait == "dom" {
		want = page.NavDOM
	}
	return awaitLoad(ctx, row.Session, want, func(n page.Navigation) bool {
		// Another loader than the answered one: the page has already sent itself elsewhere.
		return reply.Loader != "" && n.Loader == reply.Loader || n.ID != before && !n.Found
	})
}

func (b *Browser) row(t id.Target) (target.Page, error) {
	l, err := b.running()
	if err != nil {
		return target.Page{}, err
	}
	return l.find(t)
}

// navigationFault names the browser's own error class, which is one of a fixed list.
func navigationFault(text string, t id.Target) error {
	class := "net::ERR_FAILED"
	if strings.HasPrefix(text, "net::ERR_") && len(text) < 64 {
		class = text
	}
	return fault.New(fault.NavigationFailed, "the address could not be loaded (%s)", class).WithRetry(fault.Never).
		WithRecovery("snapshot_page shows what the page displays now; check address and server").About(fault.Context{TargetID: t})
}

// interrupted sorts the ends of a navigation command. A dialog or a slow server after the command was sent leaves a
// navigation that may go on.
func interrupted(s *page.Session, before id.Navigation, err error) (corepage.NavigateResult, error) {
	code := fault.CodeOf(err)
	if errors.Is(err, page.ErrInterrupted) && (code == fault.DialogOpen || code == fault.PageUnresponsive) {
		return corepage.NavigateResult{Incomplete: true, Navigation: refSince(s, before)}, nil
	}
	if errors.Is(err, page.ErrInterrupted) {
		return corepage.NavigateResult{Navigation: refSince(s, before)}, sentFault(err)
	}
	return corepage.NavigateResult{}, err
}

func newest(s *page.Session) id.Navigation {
	n, _ := s.Navigation()
	return n.ID
}

// refSince returns the navigation that began after before, nil when none has.
func refSince(s *page.Session, before id.Navigation) *corepage.NavigationRef {
	if n, ok := s.Navigation(); ok && n.ID != before {
		return navigationRef(n)
	}
	return nil
}

func navigationRef(n page.Navigation) *corepage.NavigationRef {
	if n.ID == "" {
		return nil
	}
	return &corepage.NavigationRef{ID: n.ID, URL: redact.LiveURL(n.Address), State: n.State}
}

// after accepts navigations that began after before.
func after(before id.Navigation) func(page.Navigation) bool {
	return func(n page.Navigation) bool { return n.ID != before && !n.Found }
}

// awaitLoad waits until the navigation that is meant has reached want. The end of the wait is a result: the page goes on
// loading.
func awaitLoad(ctx context.Context, s *page.Session, want string, meant func(page.Navigation) bool) (corepage.NavigateResult, error) {
	nav, err := s.AwaitNavigation(ctx, func(n page.Navigation) bool { return meant(n) && n.Reached(want) })
	result := corepage.NavigateResult{Incomplete: err != nil}
	if meant(nav) {
		result.Navigation = navigationRef(nav)
	}
	switch code := fault.CodeOf(err); {
	case err == nil && nav.State == page.NavFailed:
		return result, navigationFault("", s.Target())
	case code == fault.TargetFailed:
		return result, sentFault(err)
	case errors.Is(err, cdp.ErrClosed):
		return result, sentFault(fault.New(fault.BrowserDisconnected, "the connection to the browser was lost"))
	}
	return result, nil
}

// Reload loads the page again. sending is called right before the command leaves.
func (b *Browser) Reload(ctx context.Context, r *corepage.ReloadRequest, sending func()) (corepage.NavigateResult, error) {
	row, err := b.row(r.Target)
	if err != nil {
		return corepage.NavigateResult{}, err
	}
	ctx, cancel := clock.WithTimeout(ctx, b.deps.Clock, navigateLimit)
	defer cancel()
	before := newest(row.Session)
	sending()
	err = row.Session.SendWithin(ctx, navigateLimit, "Page.reload", map[string]any{"ignoreCache": r.BypassCache}, nil)
	if err != nil {
		return interrupted(row.Session, before, err)
	}
	return awaitLoad(ctx, row.Session, page.NavComplete, after(before))
}

// Back goes back in the page's history; not_found at its beginning.
func (b *Browser) Back(ctx context.Context, r *corepage.BackRequest, sending func()) (corepage.NavigateResult, error) {
	return b.history(ctx, r.Target, -1, sending)
}

// Forward goes forward in the page's history; not_found at its end.
func (b *Browser) Forward(ctx context.Context, r *corepage.ForwardRequest, sending func()) (corepage.NavigateResult, error) {
	return b.history(ctx, r.Target, 1, sending)
}

func (b *Browser) history(ctx context.Context, t id.Target, step int, sending func()) (corepage.NavigateResult, error) {
	row, err := b.row(t)
	if err != nil {
		return corepage.NavigateResult{}, err
	}
	ctx, cancel := clock.WithTimeout(ctx, b.deps.Clock, navigateLimit)
	defer cancel()
	var list struct {
		Current int `json:"currentIndex"`
		Entries []struct {
			ID int64 `json:"id"`
		} `json:"entries"`
	}
	if err := row.Session.Send(ctx, "Page.getNavigationHistory", nil, &list); err != nil {
		return corepage.NavigateResult{}, err
	}
	to := list.Current + step
	if to < 0 || to >= len(list.Entries) {
		return corepage.NavigateResult{}, fault.New(fault.NotFound, "the page's history has no entry in this direction").
			WithRecovery("navigate_to an address instead").About(fault.Context{TargetID: row.ID})
	}
	before := newest(row.Session)
	sending()
	err = row.Session.SendWithin(ctx, navigateLimit, "Page.navigateToHistoryEntry", map[string]any{"entryId": list.Entries[to].ID}, nil)
	if err != nil {
		return interrupted(row.Session, before, err)
	}
	return awaitLoad(ctx, row.Session, page.NavComplete, after(before))
}

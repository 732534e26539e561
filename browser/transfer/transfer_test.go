package transfer_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/browser/transfer"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// single finds the one page of a test.
type single struct{ s *page.Session }

func (p single) Page(id.Target) (*page.Session, error) { return p.s, nil }

func started(t *testing.T, managed bool) (*transfer.Downloads, *browsertest.Browser, id.Session) {
	t.Helper()
	b := browsertest.Start(t)
	d := transfer.NewDownloads(t.TempDir(), slog.New(slog.DiscardHandler))
	name := id.New[id.Session]()
	d.Begin(session.Started{Session: name, Clock: b.Clock, Browser: b.Root, Managed: managed})
	t.Cleanup(func() { d.End(name) })
	return d, b, name
}

func nothing() {}

func TestCookies(t *testing.T) {
	d, _, _ := started(t, true)
	s := browsertest.Page(t, `<title>c</title>`)
	x := transfer.New(single{s}, snapshot.NewRegistry(), d)
	sent := 0
	set := &core.SetCookiesRequest{Cookies: []core.Cookie{{Name: "a", Value: "1", HTTPOnly: true}, {Name: "b", Value: "2", SameSite: "Lax"}}}
	got, err := x.SetCookies(t.Context(), s, set, func() { sent++ })
	require.NoError(t, err)
	assert.Equal(t, 2, got.Count)
	assert.Equal(t, 1, sent)
	list, err := x.Cookies(t.Context(), core.GetCookiesRequest{Names: []string{"a"}})
	require.NoError(t, err)
	require.Len(t, list.Cookies, 1)
	assert.Equal(t, "1", list.Cookies[0].Value)
	assert.True(t, list.Cookies[0].HTTPOnly)
	got, err = x.ClearCookies(t.Context(), s, &core.ClearCookiesRequest{Name: "a"}, nothing)
	require.NoError(t, err)
	assert.Equal(t, 1, got.Count)
	got, err = x.ClearCookies(t.Context(), s, &core.ClearCookiesRequest{Domain: "127.0.0.1"}, nothing)
	require.NoError(t, err)
	assert.Equal(t, 1, got.Count)
	list, err = x.Cookies(t.Context(), core.GetCookiesRequest{})
	require.NoError(t, err)
	assert.Empty(t, list.Cookies)
}

func TestARefusedCookieSendsNoAdviceToRepeat(t *testing.T) {
	d, _, _ := started(t, true)
	s := browsertest.Page(t, `<title>c</title>`)
	x := transfer.New(single{s}, snapshot.NewRegistry(), d)
	_, err := x.SetCookies(t.Context(), s, &core.SetCookiesRequest{Cookies: []core.Cookie{{Name: "__Secure-a", Value: "v"}}}, nothing)
	if assert.Equal(t, fault.InteractionFailed, fault.CodeOf(err)) {
		assert.Equal(t, fault.Never, fault.From(err).Retry)
	}
}

func TestClipboard(t *testing.T) {
	d, _, _ := started(t, true)
	s := browsertest.Page(t, `<title>c</title>`)
	x := transfer.New(single{s}, snapshot.NewRegistry(), d)
	written, err := x.WriteClipboard(t.Context(), s, &core.WriteClipboardRequest{Text: "grüße 🚀"}, nothing)
	require.NoError(t, err)
	assert.True(t, written.Confirmed)
	read, err := x.ReadClipboard(t.Context(), core.ReadClipboardRequest{})
	require.NoError(t, err)
	assert.Equal(t, "grüße 🚀", read.Text)
	require.NoError(t, (&core.WriteClipboardRequest{Text: strings.Repeat("x", core.MaxClipboard)}).Validate())
	err = (&core.WriteClipboardRequest{Text: strings.Repeat("x", core.MaxClipboard+1)}).Validate()
	assert.Equal(t, fault.ResourceLimitExceeded, fault.CodeOf(err))
}

// files serves attachments: /quick at once, /slow never ends before its request does.
func files(t *testing.T) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			_, _ = w.Write([]byte(`<a href="/quick?token=secret" download="../re\u0000port.txt">quick</a><a href="/slow" id=slow>slow</a>`))
			return
		}
		w.Header().Set("Content-Disposition", `attachment; filename="report.txt"`)
		_, _ = w.Write([]byte("first bytes"))
		if r.URL.Path == "/slow" {
			if f, ok := w.(http.Flusher); ok {
				_, _ = w.Write(make([]byte, 1<<16))
				f.Flush()
			}
			<-r.Context().Done()
		}
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	return site
}

func TestDownloads(t *testing.T) {
	d, _, name := started(t, true)
	site := files(t)
	s := browsertest.Page(t, site.URL+"/")
	cursor := d.DownloadCursor()
	assert.NotEmpty(t, cursor, "an empty inventory still anchors a wait")
	evaluate(t, s, "document.querySelector('a').click()")
	out, err := d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor, TimeoutMS: 20000})
	require.NoError(t, err)
	require.Len(t, out.Downloads, 1)
	row := out.Downloads[0]
	assert.Equal(t, []string{"complete", site.URL, "text/plain"}, []string{row.State, row.Source, row.MediaType})
	assert.NotContains(t, row.Name, "/")
	assert.Equal(t, "krometrail://local/"+string(name)+"/downloads/"+string(row.ID), row.Resource)
	raw, err := os.ReadFile(row.Path)
	require.NoError(t, err)
	assert.Equal(t, "first bytes", string(raw))
	assert.Equal(t, []id.Download{row.ID}, d.DownloadsSince(cursor))
	assert.Empty(t, d.DownloadsSince(out.Cursor))
	kept, err := d.File(name, row.ID)
	require.NoError(t, err)
	assert.Equal(t, row.Path, kept.Path)

	d.End(name)
	_, err = os.Stat(row.Path)
	assert.True(t, os.IsNotExist(err), "files go with their session")
	_, err = d.File(name, row.ID)
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))
}

func TestADownloadCanBeCancelled(t *testing.T) {
	d, _, _ := started(t, true)
	s := browsertest.Page(t, files(t).URL+"/")
	begun := false
	cursor := d.DownloadCursor()
	evaluate(t, s, "document.querySelector('#slow').click()")
	out, err := d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor, Terminal: &begun, TimeoutMS: 20000})
	require.NoError(t, err)
	row := out.Downloads[0]
	assert.Equal(t, "in_progress", row.State)
	_, err = d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor, TimeoutMS: 20})
	assert.Equal(t, fault.WaitTimedOut, fault.CodeOf(err))
	stopped, err := d.CancelDownload(t.Context(), &core.CancelDownloadRequest{DownloadID: row.ID}, nothing)
	require.NoError(t, err)
	assert.Equal(t, "cancelled", stopped.State)
	out, err = d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor, DownloadID: row.ID, TimeoutMS: 20000})
	require.NoError(t, err)
	assert.Equal(t, "cancelled", out.Downloads[0].State)
}

func TestAttachedBrowsersAreNotTouched(t *testing.T) {
	d, _, _ := started(t, false)
	_, err := d.Downloads(t.Context())
	assert.Equal(t, fault.Unsupported, fault.CodeOf(err))
	assert.False(t, d.Managed())
	assert.NotEmpty(t, d.DownloadCursor())
}

func TestCursorsOfOtherSessionsAreRefused(t *testing.T) {
	d, _, _ := started(t, true)
	for _, cursor := range []string{"downloads-000000-0", "pages-1", "downloads--1"} {
		_, err := d.WaitForDownload(t.Context(), core.WaitForDownloadRequest{After: cursor})
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), cursor)
	}
}

func evaluate(t *testing.T, s *page.Session, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, s.Send(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "userGesture": true}, nil))
}

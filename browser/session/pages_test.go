package session_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

func nothing() {}

// open opens a page for a case, so that the cases of one browser do not touch each other.
func (b *bench) open(t *testing.T, url string) id.Target {
	t.Helper()
	opened, err := b.Open(t.Context(), page.OpenRequest{URL: url})
	require.NoError(t, err)
	assert.Equal(t, opened.Target, b.Selected())
	return opened.Target
}

// TestPages runs every case that leaves the browser usable in one browser.
func TestPages(t *testing.T) {
	b := newBench(t)
	b.start(t, page.StartRequest{})
	for name, run := range map[string]func(*testing.T, *bench){
		"navigation":          navigation,
		"failed navigation":   failedNavigation,
		"download":            download,
		"hanging load":        hangingLoad,
		"dialog during load":  dialogDuringLoad,
		"beforeunload":        beforeUnload,
		"popup":               popup,
		"popup closes itself": popupClosesItself,
		"chain of popups":     popupChain,
		"cross-site":          crossSite,
		"crash":               crash,
		"hung main thread":    hung,
		"viewport":            viewport,
		"hidden page":         hiddenPage,
		"unknown page":        unknownPage,
	} {
		t.Run(name, func(t *testing.T) { run(t, b) })
	}
}

func navigation(t *testing.T, b *bench) {
	one, two := b.site.page("<title>one</title>"), b.site.page("<title>two</title>")
	target := b.open(t, one)
	sent := 0
	result, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: two}, func() { sent++ })
	require.NoError(t, err)
	require.NotNil(t, result.Navigation)
	assert.Equal(t, "complete", result.Navigation.State)
	assert.Equal(t, two, result.Navigation.URL)
	assert.Equal(t, 1, sent)

	back, err := b.Back(t.Context(), &page.BackRequest{Scope: page.Scope{Target: target}}, nothing)
	require.NoError(t, err)
	assert.Equal(t, one, back.Navigation.URL)
	forward, err := b.Forward(t.Context(), &page.ForwardRequest{Scope: page.Scope{Target: target}}, nothing)
	require.NoError(t, err)
	assert.Equal(t, two, forward.Navigation.URL)
	_, err = b.Forward(t.Context(), &page.ForwardRequest{Scope: page.Scope{Target: target}}, func() { t.Error("nothing may be sent") })
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))
	again, err := b.Reload(t.Context(), &page.ReloadRequest{Scope: page.Scope{Target: target}, BypassCache: true}, nothing)
	require.NoError(t, err)
	assert.Equal(t, "complete", again.Navigation.State)

	within, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: two + "#part"}, nothing)
	require.NoError(t, err)
	assert.Equal(t, two+"#part", within.Navigation.URL)

	require.NoError(t, b.FlushCapture(t.Context()))
	session, _, _ := b.Latest()
	facts, err := b.store.Within(t.Context(), record.Window{SessionID: session, TargetID: target, EndNS: 1 << 62})
	require.NoError(t, err)
	var kinds []string
	for _, n := range facts.Navigations {
		kinds = append(kinds, n.Kind)
		assert.NotContains(t, string(n.URL), "/p", "paths are not stored")
	}
	assert.Equal(t, []string{"document", "document", "history", "history", "reload", "same_document"}, kinds[len(kinds)-6:])
}

func failedNavigation(t *testing.T, b *bench) {
	target := b.open(t, "")
	for _, url := range []string{"localhost:3000", "javascript:alert(1)", "mailto:x@y", "http://", "nonsense"} {
		_, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: url}, func() { t.Error("nothing may be sent") })
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), url)
	}
	gone := b.site.URL[:strings.LastIndex(b.site.URL, ":")] + ":9" // the discard port is closed
	_, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: gone}, nothing)
	require.Equal(t, fault.NavigationFailed, fault.CodeOf(err))
	assert.Equal(t, fault.Never, fault.From(err).Retry)
	assert.Contains(t, err.Error(), "net::ERR_")
}

func download(t *testing.T, b *bench) {
	file := b.site.handle(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
		_, _ = w.Write([]byte("x"))
	})
	target := b.open(t, b.site.page("<title>stays</title>"))
	result, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: file}, nothing)
	require.NoError(t, err)
	assert.True(t, result.Download)
	assert.Equal(t, "stays", b.eval(t, target, "document.title"))
}

func hangingLoad(t *testing.T, b *bench) {
	slow := b.site.handle(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>slow</title>" + strings.Repeat(" ", 4096)))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	target := b.open(t, "")
	result, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: slow, TimeoutMS: 300}, nothing)
	require.NoError(t, err)
	assert.True(t, result.Incomplete)
	_, err = b.Close(t.Context(), page.CloseRequest{Scope: page.Scope{Target: target}})
	require.NoError(t, err)
}

func dialogDuringLoad(t *testing.T, b *bench) {
	target := b.open(t, "")
	result, err := b.Navigate(t.Context(), &page.NavigateRequest{
		Scope: page.Scope{Target: target}, URL: b.site.page("<script>alert('wait')</script><title>after</title>"),
	}, nothing)
	require.NoError(t, err)
	assert.True(t, result.Incomplete, "the dialog is the result, not an error")
	status, err := b.Status(t.Context())
	require.NoError(t, err)
	assert.Contains(t, status.Dialogs, page.PageDialog{TargetID: target, Dialog: "alert"})
	s, err := b.Page(target)
	require.NoError(t, err)
	require.NoError(t, s.Send(t.Context(), "Page.handleJavaScriptDialog", map[string]any{"accept": true}, nil))
	eventually(t, "the load goes on", func() bool { return b.eval(t, target, "document.title") == "after" })
}

func beforeUnload(t *testing.T, b *bench) {
	target := b.open(t, b.site.page("<script>onbeforeunload = e => { e.preventDefault(); e.returnValue = 'x' }</script><title>stay</title><button onclick=1>b</button>"))
	b.eval(t, target, "1") // with a user gesture, without which the browser does not ask
	s, err := b.Page(target)
	require.NoError(t, err)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		require.NoError(t, s.Send(t.Context(), "Input.dispatchMouseEvent", map[string]any{"type": kind, "x": 5, "y": 5, "button": "left", "clickCount": 1}, nil))
	}
	result, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: b.site.page("<title>next</title>")}, nothing)
	require.NoError(t, err)
	assert.True(t, result.Incomplete)
	dialog, _ := s.Dialog()
	require.NotNil(t, dialog)
	assert.Equal(t, "beforeunload", dialog.Type)
	require.NoError(t, s.Send(t.Context(), "Page.handleJavaScriptDialog", map[string]any{"accept": true}, nil))
	eventually(t, "the navigation goes on", func() bool { return b.eval(t, target, "document.title") == "next" })
}

func popup(t *testing.T, b *bench) {
	red := b.site.page("<title>popup</title><body style='background:red'>")
	target := b.open(t, b.site.page("<title>opener</title>"))
	b.MarkAction()
	cursor := b.PageCursor()
	b.eval(t, target, "void window.open('"+red+"')")
	found, err := b.WaitForPage(t.Context(), page.WaitForPageRequest{Opener: target})
	require.NoError(t, err)
	assert.Equal(t, target, found.Page.Opener)
	since, err := b.PagesSince(cursor)
	require.NoError(t, err)
	require.Len(t, since, 1)
	popped := found.Page.TargetID
	assert.Equal(t, popped, since[0].TargetID)
	eventually(t, "the popup is recorded", func() bool { return len(b.frames(t, popped)) > 0 })
	eventually(t, "the opener's pictures pause", func() bool { return len(b.gaps(t, target, record.GapHidden)) == 1 })

	closed, err := b.Close(t.Context(), page.CloseRequest{Scope: page.Scope{Target: popped}})
	require.NoError(t, err)
	assert.Equal(t, target, closed.Selected)
	eventually(t, "the opener is shown again", func() bool { return b.gaps(t, target, record.GapHidden)[0].EndNS != nil })
}

func popupClosesItself(t *testing.T, b *bench) {
	target := b.open(t, b.site.page("<title>opener</title>"))
	cursor := b.PageCursor()
	b.eval(t, target, "void (window.w = window.open('"+b.site.page("<title>brief</title>")+"'))")
	found, err := b.WaitForPage(t.Context(), page.WaitForPageRequest{After: cursor})
	require.NoError(t, err)
	_, err = b.Select(t.Context(), page.SelectPageRequest{Target: found.Page.TargetID})
	require.NoError(t, err)
	b.eval(t, found.Page.TargetID, "setTimeout(() => window.close(), 0)")
	eventually(t, "the selection goes back to the opener", func() bool { return b.Selected() == target })
}

func popupChain(t *testing.T, b *bench) {
	last := b.site.page("<title>last</title>")
	middle := b.site.page("<title>middle</title><script>window.open('" + last + "')</script>")
	target := b.open(t, b.site.page("<title>first</title>"))
	cursor := b.PageCursor()
	b.eval(t, target, "void window.open('"+middle+"')")
	found, err := b.WaitForPage(t.Context(), page.WaitForPageRequest{After: cursor, Opener: target})
	require.NoError(t, err)
	// Without a gesture of its own the second popup may be blocked; with one it appears.
	b.eval(t, found.Page.TargetID, "void window.open('"+last+"')")
	next, err := b.WaitForPage(t.Context(), page.WaitForPageRequest{After: cursor, Opener: found.Page.TargetID})
	require.NoError(t, err)
	assert.Equal(t, found.Page.TargetID, next.Page.Opener)
}

func crossSite(t *testing.T, b *bench) {
	target := b.open(t, b.site.page("<title>one</title><body style='background:red'>"))
	eventually(t, "the first site is recorded", func() bool { return len(b.frames(t, target)) > 0 })
	before := len(b.frames(t, target))
	other := browsertest.CrossSite(b.site.page("<title>other</title><body style='background:blue'>"))
	result, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: other}, nothing)
	require.NoError(t, err)
	assert.Equal(t, "complete", result.Navigation.State)
	eventually(t, "recording goes on in the other process", func() bool { return len(b.frames(t, target)) > before })
	for i, f := range b.frames(t, target) {
		assert.EqualValues(t, 1280, f.Viewport.Width, "frame %d", i)
	}
}

func crash(t *testing.T, b *bench) {
	target := b.open(t, b.site.page("<title>x</title>"))
	s, err := b.Page(target)
	require.NoError(t, err)
	_ = s.Post("Page.crash", nil)
	eventually(t, "the crash is seen", s.Crashed)
	list, err := b.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "crashed", rowOf(list, target).Capture)
	_, err = b.Reload(t.Context(), &page.ReloadRequest{Scope: page.Scope{Target: target}}, nothing)
	require.NoError(t, err)
	eventually(t, "the gap ends with the first new frame", func() bool {
		gaps := b.gaps(t, target, record.GapCrashed)
		return len(gaps) == 1 && gaps[0].EndNS != nil
	})
}

func rowOf(list page.Pages, t id.Target) page.Page {
	for _, row := range list.Pages {
		if row.TargetID == t {
			return row
		}
	}
	return page.Page{}
}

func hung(t *testing.T, b *bench) {
	target := b.open(t, b.site.page("<title>x</title>"))
	s, err := b.Page(target)
	require.NoError(t, err)
	require.NoError(t, s.Post("Runtime.evaluate", map[string]any{"expression": "for(;;);"}))
	err = s.SendWithin(t.Context(), 300e6, "Runtime.evaluate", map[string]any{"expression": "1"}, nil)
	assert.Equal(t, fault.PageUnresponsive, fault.CodeOf(err))
	status, err := b.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, page.StateReady, status.State)
	closed, err := b.Close(t.Context(), page.CloseRequest{Scope: page.Scope{Target: target}})
	require.NoError(t, err)
	assert.Equal(t, target, closed.Closed)
}

func viewport(t *testing.T, b *bench) {
	target := b.open(t, b.site.page("<meta name=viewport content='width=device-width'><title>x</title>"))
	set := func(r page.ViewportRequest) page.ViewportResult {
		t.Helper()
		r.Target = target
		result, err := b.SetViewport(t.Context(), &r, nothing)
		require.NoError(t, err)
		return result
	}
	small := set(page.ViewportRequest{Preset: "responsive_small"})
	assert.Equal(t, "responsive_css", small.Intent)
	assert.Equal(t, page.ViewportSize{Width: 390, Height: 844}, small.Layout)
	assert.Empty(t, small.Guidance)
	phone := set(page.ViewportRequest{Preset: "mobile_phone"})
	assert.Equal(t, page.ViewportSize{Width: 390, Height: 844}, phone.Visual)
	assert.EqualValues(t, 3, phone.DeviceScaleFactor)
	assert.EqualValues(t, 5, b.eval(t, target, "navigator.maxTouchPoints"))

	_, err := b.Navigate(t.Context(), &page.NavigateRequest{Scope: page.Scope{Target: target}, URL: browsertest.CrossSite(b.site.page("<title>y</title><div style='width:980px'>wide"))}, nothing)
	require.NoError(t, err)
	assert.EqualValues(t, 3, b.eval(t, target, "devicePixelRatio"), "the override survives a change of process")
	again := set(page.ViewportRequest{Preset: "mobile_phone"})
	assert.Contains(t, again.Guidance, "meta name=viewport")
	eventually(t, "frames carry the new geometry", func() bool {
		frames := b.frames(t, target)
		if len(frames) == 0 {
			return false // a busy machine paints late
		}
		last := frames[len(frames)-1]
		return last.Viewport.Width == 390 && last.Viewport.DeviceScale == 3 && len(last.Warnings) == 0
	})
	status, err := b.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Viewports, 1)

	clear := set(page.ViewportRequest{Clear: true})
	assert.Equal(t, "browser_default", clear.Intent)
	assert.Equal(t, page.ViewportSize{Width: 1280, Height: 720}, clear.Layout)
	assert.EqualValues(t, 0, b.eval(t, target, "navigator.maxTouchPoints"))
	for name, r := range map[string]page.ViewportRequest{
		"nothing": {}, "two": {Clear: true, Preset: "mobile_phone"}, "half": {Width: 5}, "unknown": {Preset: "x"},
		"mixed": {Preset: "mobile_phone", Width: 5, Height: 5},
	} {
		_, err := b.SetViewport(t.Context(), &r, func() { t.Error("nothing may be sent") })
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), name)
	}
}

func hiddenPage(t *testing.T, b *bench) {
	first := b.open(t, b.site.page("<title>first</title>"))
	b.open(t, b.site.page("<title>second</title>"))
	eventually(t, "the first page is hidden", func() bool { return b.eval(t, first, "document.visibilityState") == "hidden" })
	require.NoError(t, b.EnsureForeground(t.Context(), first))
	assert.Equal(t, "visible", b.eval(t, first, "document.visibilityState"))
}

func unknownPage(t *testing.T, b *bench) {
	unknown := id.New[id.Target]()
	_, err := b.Page(unknown)
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))
	_, err = b.Select(t.Context(), page.SelectPageRequest{Target: unknown})
	assert.NotEqual(t, fault.Never, fault.From(err).Retry, "nothing was sent")
	_, err = b.WaitForPage(t.Context(), page.WaitForPageRequest{After: "pages-other-1"})
	assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
	b.MarkAction()
	_, err = b.WaitForPage(t.Context(), page.WaitForPageRequest{TimeoutMS: 1})
	assert.Equal(t, fault.WaitTimedOut, fault.CodeOf(err))
}

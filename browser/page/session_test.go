package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
)

func TestMain(m *testing.M) {
	code := browsertest.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

type evaluation struct {
	Result struct {
		Value any `json:"value"`
	} `json:"result"`
}

func evaluate(t *testing.T, s *page.Session, expression string) any {
	t.Helper()
	var out evaluation
	require.NoError(t, s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out))
	return out.Result.Value
}

func TestSendReturnsTheResult(t *testing.T) {
	s := browsertest.Page(t, "<title>hello</title>")
	assert.Equal(t, "hello", evaluate(t, s, "document.title"))
	doc, ok := s.Document("")
	require.True(t, ok)
	assert.NotEmpty(t, doc.Loader)
	assert.Equal(t, s.MainFrame(), doc.Frame)
}

func TestAnOpenDialogFailsCallsAtOnce(t *testing.T) {
	s := browsertest.Page(t, "<title>x</title>")
	started := time.Now()
	err := s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": "alert('hi')"}, nil)
	assert.Equal(t, fault.DialogOpen, fault.CodeOf(err))
	require.ErrorIs(t, err, page.ErrInterrupted, "the command had been sent before the dialog opened")

	err = s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": "1"}, nil)
	assert.Equal(t, fault.DialogOpen, fault.CodeOf(err))
	assert.NotErrorIs(t, err, page.ErrInterrupted, "nothing was sent")
	assert.Less(t, time.Since(started), page.DefaultDeadline)

	dialog, known := s.Dialog()
	require.NotNil(t, dialog)
	assert.True(t, known)
	assert.Equal(t, page.Dialog{Type: "alert", Message: "hi"}, *dialog)

	require.NoError(t, s.Send(t.Context(), "Page.handleJavaScriptDialog", map[string]any{"accept": true}, nil))
	assert.EqualValues(t, 2, evaluate(t, s, "1+1"))
}

func TestACrashedPageFailsCallsUntilItIsReloaded(t *testing.T) {
	s := browsertest.Page(t, "<title>x</title>")
	_ = s.Post("Page.crash", nil)
	err := s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": "new Promise(() => {})", "awaitPromise": true}, nil)
	assert.Equal(t, fault.TargetFailed, fault.CodeOf(err))
	assert.True(t, s.Crashed())

	loaded := s.Subscribe("Page.loadEventFired")
	defer loaded.Close()
	require.NoError(t, s.Send(t.Context(), "Page.reload", nil, nil))
	<-loaded.Events()
	assert.Equal(t, "x", evaluate(t, s, "document.title"))
}

func TestAHungPageIsUnresponsive(t *testing.T) {
	s := browsertest.Page(t, "<title>x</title>")
	err := s.SendWithin(t.Context(), 50*time.Millisecond, "Runtime.evaluate", map[string]any{
		"expression": "new Promise(() => {})", "awaitPromise": true,
	}, nil)
	assert.Equal(t, fault.PageUnresponsive, fault.CodeOf(err))
}

func TestCancellationSaysWhetherTheCommandWasSent(t *testing.T) {
	s := browsertest.Page(t, "<title>x</title>")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Send(ctx, "Runtime.evaluate", map[string]any{"expression": "1"}, nil)
	assert.Equal(t, fault.Cancelled, fault.CodeOf(err))
	assert.NotErrorIs(t, err, page.ErrInterrupted)
}

func TestAnUnknownCommandNamesTheVersions(t *testing.T) {
	s := browsertest.Page(t, "<title>x</title>")
	err := s.Send(t.Context(), "Page.noSuchThing", nil, nil)
	assert.Equal(t, fault.Unsupported, fault.CodeOf(err))
	assert.Contains(t, err.Error(), "Page.noSuchThing")
	assert.Contains(t, err.Error(), "Chrome/")
}

func TestWorldsAreSeparateAndFollowTheDocument(t *testing.T) {
	s := browsertest.Page(t, "<script>window.secret = 1</script>")
	world, err := s.World(t.Context(), "")
	require.NoError(t, err)
	var out evaluation
	require.NoError(t, s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": "typeof window.secret", "contextId": world}, &out))
	assert.Equal(t, "undefined", out.Result.Value)
	again, err := s.World(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, world, again)

	loaded := s.Subscribe("Page.loadEventFired")
	defer loaded.Close()
	require.NoError(t, s.Send(t.Context(), "Page.reload", nil, nil))
	<-loaded.Events()
	fresh, err := s.World(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": "1", "contextId": fresh}, nil))
	main, ok := s.MainWorld("")
	assert.True(t, ok)
	assert.NotEqual(t, fresh, main)
}

func TestOutOfProcessFramesHaveSessionsOfTheirOwn(t *testing.T) {
	b := browsertest.Start(t)
	inner := browsertest.CrossSite(b.URL("<title>inner</title>"))
	s := browsertest.Page(t, `<iframe src="`+inner+`"></iframe>`)
	children := s.Children()
	require.Len(t, children, 1)
	assert.Same(t, s, children[0].Page())
	assert.Same(t, children[0], s.Child(children[0].MainFrame()))
	assert.Equal(t, "inner", evaluate(t, children[0], "document.title"))
}

func TestViewport(t *testing.T) {
	s := browsertest.Page(t, `<body style="margin:0"><div style="width:3000px;height:4000px">`)
	v, err := s.Viewport(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1280, v.WindowWidth)
	assert.EqualValues(t, 720, v.WindowHeight)
	assert.EqualValues(t, 3000, v.ContentWidth)
	assert.EqualValues(t, 1, v.DeviceScale)
	assert.False(t, v.Fallback)
}

func TestObservingPutsAnInterval(t *testing.T) {
	s := browsertest.Page(t, "<title>x</title>")
	end := s.Observing("snapshot")
	end()
	var found record.Observer
	for _, fact := range browsertest.Start(t).Facts.All() {
		if o, ok := fact.(record.Observer); ok && o.TargetID == s.Target() {
			found = o
		}
	}
	assert.Equal(t, "snapshot", found.Kind)
	assert.LessOrEqual(t, found.StartNS, found.EndNS)
}

func TestAPendingNavigationIsNamed(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer slow.Close()
	defer slow.CloseClientConnections()
	s := browsertest.Page(t, "<title>x</title>")
	evaluate(t, s, "location.href='"+slow.URL+"'; 1")
	_, err := s.AwaitNavigation(t.Context(), func(n page.Navigation) bool { return n.State == page.NavStarted })
	require.NoError(t, err)
	err = s.SendWithin(t.Context(), 200*time.Millisecond, "Runtime.evaluate", map[string]any{"expression": "1"}, nil)
	require.Equal(t, fault.PageUnresponsive, fault.CodeOf(err))
	assert.Contains(t, fault.From(err).Recovery, "navigation=complete")
}

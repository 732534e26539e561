package target_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// witness notes what observers are told.
type witness struct {
	mu  sync.Mutex
	log []string
}

func (w *witness) PageAttached(p target.Page) { w.note("attached " + p.CDPTarget) }
func (w *witness) PageDetached(p target.Page, closed bool) {
	w.note(fmt.Sprintf("detached %s closed=%v", p.CDPTarget, closed))
}

func (w *witness) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, text)
}

func (w *witness) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.log...)
}

type bench struct {
	peer     *cdptest.Peer
	client   *cdp.Client
	registry *target.Registry
	facts    *browsertest.Facts
	witness  *witness
}

func newBench(t *testing.T) *bench {
	t.Helper()
	peer, transport := cdptest.OverPipe(t)
	b := &bench{peer: peer, client: cdp.NewClient(transport, clock.System()), facts: &browsertest.Facts{}, witness: &witness{}}
	var err error
	b.registry, err = target.Start(t.Context(), target.Config{
		Browser: page.NewBrowser(b.client, clock.System(), page.Versions{}), Session: "ses_x", Clock: clock.Begin(clock.System()),
		Facts: b.facts, URLs: redact.NewKey(), Logger: slog.New(slog.DiscardHandler), Observers: []target.Observer{b.witness},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.client.Close(); <-b.registry.Done() })
	return b
}

func (b *bench) wait(t *testing.T, ok func(*target.View) bool) *target.View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	v, err := b.registry.Wait(ctx, ok)
	require.NoError(t, err)
	return v
}

func (b *bench) attach(t *testing.T, name, opener string) id.Target {
	t.Helper()
	b.peer.AttachPage(name, "http://a.test/", opener)
	v := b.wait(t, func(v *target.View) bool { _, ok := v.FindCDP(name); return ok })
	row, _ := v.FindCDP(name)
	return row.ID
}

func (b *bench) close(t *testing.T, name string) *target.View {
	t.Helper()
	b.peer.ClosePage(name)
	return b.wait(t, func(v *target.View) bool { _, ok := v.FindCDP(name); return !ok })
}

func TestSelectionPassesOn(t *testing.T) {
	b := newBench(t)
	p1 := b.attach(t, "p1", "")
	p2 := b.attach(t, "p2", "")
	p3 := b.attach(t, "p3", "p1")
	p4 := b.attach(t, "p4", "")
	assert.Equal(t, p1, b.registry.View().Selected, "the first page is selected by itself")
	for _, step := range []struct{ choose, previous id.Target }{{p2, p1}, {p4, p2}, {p3, p4}} {
		previous, err := b.registry.Select(step.choose)
		require.NoError(t, err)
		assert.Equal(t, step.previous, previous)
	}
	assert.Equal(t, p1, b.close(t, "p3").Selected, "to the live opener")
	assert.Equal(t, p4, b.close(t, "p1").Selected, "else to the most recently selected page")
	assert.Equal(t, p2, b.close(t, "p4").Selected)
	last := b.close(t, "p2")
	assert.Empty(t, last.Selected)
	assert.Equal(t, p2, last.LastSelected)
	assert.Equal(t, 4, last.Closed)
	_, err := b.registry.Select(p1)
	assert.Equal(t, fault.NotFound, fault.CodeOf(err))
}

func TestPagesAreOnTheTimeline(t *testing.T) {
	b := newBench(t)
	p1 := b.attach(t, "p1", "")
	p2 := b.attach(t, "p2", "p1")
	b.peer.Event("", "Target.targetInfoChanged", map[string]any{"targetInfo": map[string]any{
		"targetId": "p2", "type": "page", "url": "https://b.test/secret/path?q=1", "title": "private",
	}})
	b.wait(t, func(v *target.View) bool { row, _ := v.Find(p2); return row.Title == "private" })
	b.close(t, "p2")
	var latest record.Target
	for _, fact := range b.facts.All() {
		if f, ok := fact.(record.Target); ok && f.ID == p2 {
			latest = f
		}
	}
	assert.Equal(t, p1, latest.Opener)
	assert.Equal(t, "https://b.test", latest.Name, "no path, no title")
	assert.NotNil(t, latest.ClosedNS)
}

func TestOtherTargetsAreLetRunAndLeft(t *testing.T) {
	b := newBench(t)
	b.attach(t, "p1", "")
	for i, kind := range []string{"browser_ui", "service_worker", "page"} {
		url := "x"
		if kind == "page" {
			url = "devtools://devtools/inspector.html"
		}
		b.peer.Event("", "Target.attachedToTarget", map[string]any{
			"sessionId": fmt.Sprintf("other%d", i), "waitingForDebugger": true,
			"targetInfo": map[string]any{"targetId": fmt.Sprintf("t%d", i), "type": kind, "url": url},
		})
		b.peer.Await(i+1, "Target.detachFromTarget")
	}
	assert.Len(t, b.peer.Commands("Runtime.runIfWaitingForDebugger"), 4)
	assert.Len(t, b.registry.View().Pages, 1)
}

func TestAFrameOfAnotherProcessBelongsToItsPage(t *testing.T) {
	b := newBench(t)
	p1 := b.attach(t, "p1", "")
	frame := func(on, session, name string) {
		b.peer.Event(on, "Target.attachedToTarget", map[string]any{
			"sessionId": session, "waitingForDebugger": true, "targetInfo": map[string]any{"targetId": name, "type": "iframe", "url": ""},
		})
	}
	frame(cdptest.SessionOf("p1"), "f1", "frame1")
	b.peer.Await(2, "Runtime.runIfWaitingForDebugger")
	frame("f1", "f2", "frame2") // a frame in the frame
	b.peer.Await(3, "Runtime.runIfWaitingForDebugger")
	row, _ := b.registry.View().Find(p1)
	require.NotNil(t, row.Session.Child("frame1"))
	require.NotNil(t, row.Session.Child("frame2"))
	assert.Same(t, row.Session, row.Session.Child("frame2").Page())
	b.peer.Event(cdptest.SessionOf("p1"), "Target.detachedFromTarget", map[string]any{"sessionId": "f1"})
	b.attach(t, "p2", "") // after the detachment
	assert.Nil(t, row.Session.Child("frame1"))
	assert.Len(t, b.registry.View().Pages, 2, "the page itself stays")
}

func TestObserversAreToldWhyAPageWent(t *testing.T) {
	b := newBench(t)
	b.attach(t, "p1", "")
	b.attach(t, "p2", "")
	b.close(t, "p1")
	b.peer.Drop()
	<-b.registry.Done()
	assert.Equal(t, []string{"attached p1", "attached p2", "detached p1 closed=true", "detached p2 closed=false"}, b.witness.lines())
	assert.Len(t, b.registry.View().Pages, 1, "after a reconnect it keeps its identity")
	_, err := b.registry.Wait(t.Context(), func(*target.View) bool { return false })
	require.ErrorIs(t, err, cdp.ErrClosed)
}

func TestEventsOutOfOrderDoNoHarm(t *testing.T) {
	b := newBench(t)
	b.peer.Event("", "Target.detachedFromTarget", map[string]any{"sessionId": "never"})
	b.peer.Event("", "Target.targetDestroyed", map[string]any{"targetId": "never"})
	b.peer.Event("", "Target.targetInfoChanged", map[string]any{"targetInfo": map[string]any{"targetId": "never", "type": "page"}})
	b.peer.Event("", "Target.attachedToTarget", map[string]any{"targetInfo": 5})
	b.peer.Event("", "Target.attachedToTarget", map[string]any{"sessionId": "x", "targetInfo": map[string]any{"targetId": "y", "type": "a_new_kind"}})
	p1 := b.attach(t, "p1", "gone")
	b.peer.AttachPage("p1", "http://a.test/", "") // a second session on the same page
	b.peer.Await(2, "Target.detachFromTarget")
	row, ok := b.registry.View().Find(p1)
	require.True(t, ok)
	assert.Empty(t, row.Opener)
	assert.Len(t, b.registry.View().Pages, 1)
}

func TestViewsConcurrentSafe(t *testing.T) {
	b := newBench(t)
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			name := fmt.Sprintf("p%d", i)
			b.peer.AttachPage(name, "", "")
			v, err := b.registry.Wait(t.Context(), func(v *target.View) bool { _, ok := v.FindCDP(name); return ok })
			if assert.NoError(t, err) {
				row, _ := v.FindCDP(name)
				_, err = b.registry.Select(row.ID)
				assert.NoError(t, err)
			}
		})
	}
	wait.Wait()
	assert.Len(t, b.registry.View().Pages, 10)
}

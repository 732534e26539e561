package session_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

// attachScripted attaches to a scripted browser with one page "p1".
func attachScripted(t *testing.T, setup func(*cdptest.Peer)) (*bench, *cdptest.Endpoint, *cdptest.Peer) {
	t.Helper()
	endpoint := cdptest.Serve(t, setup)
	store := coretest.NewStore()
	b := &bench{store: store, deps: newDeps(t, store)}
	b.Browser = session.New(b.deps)
	t.Cleanup(func() { require.NoError(t, b.Shutdown(context.Background())) })
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.NoError(t, err)
	peer := endpoint.Peer()
	peer.AttachPage("p1", "http://a.test/", "")
	eventually(t, "the page is attached", func() bool { return b.Selected() != "" })
	return b, endpoint, peer
}

func withTargets(names ...string) func(*cdptest.Peer) {
	return func(p *cdptest.Peer) {
		p.Handle("Target.getTargets", func(cdptest.Command) cdptest.Reply {
			infos := []map[string]any{}
			for _, n := range names {
				infos = append(infos, map[string]any{"targetId": n, "type": "page", "url": "http://a.test/"})
			}
			return cdptest.Reply{Result: map[string]any{"targetInfos": infos}}
		})
	}
}

func TestAttachRefusesWhatIsNotOnThisMachine(t *testing.T) {
	b := newBench(t)
	for _, endpoint := range []string{
		"http://192.168.1.4:9222", "ws://example.com/devtools/browser/x", "http://127.0.0.1.example.com", "https://localhost:1",
		"http://user@localhost:1", "0", "70000", "ws://127.0.0.1:1/devtools/page/ABC", "", "ftp://localhost",
	} {
		_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint})
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), endpoint)
	}
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: "9"})
	assert.Equal(t, fault.BrowserDisconnected, fault.CodeOf(err), "nobody listens there")
}

func TestABuildThatOffersOnlyItsSocket(t *testing.T) {
	endpoint := cdptest.Serve(t, nil)
	endpoint.OnlySocket = true
	store := coretest.NewStore()
	b := session.New(newDeps(t, store))
	t.Cleanup(func() { require.NoError(t, b.Shutdown(context.Background())) })
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.Error(t, err)
	assert.Contains(t, fault.From(err).Recovery, "ws://")
	status, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.Socket()})
	require.NoError(t, err)
	assert.Equal(t, cdptest.Product, status.Browser.Product)
}

func TestAnIncompatibleBrowserIsNamed(t *testing.T) {
	endpoint := cdptest.Serve(t, func(p *cdptest.Peer) {
		p.Nth(1, "Target.setAutoAttach", cdptest.Fail(cdp.CodeMethodNotFound, "no"))
	})
	store := coretest.NewStore()
	b := session.New(newDeps(t, store))
	t.Cleanup(func() { require.NoError(t, b.Shutdown(context.Background())) })
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.Equal(t, fault.BrowserCompatibilityFailed, fault.CodeOf(err))
	assert.Contains(t, err.Error(), "Target.setAutoAttach")
	assert.Contains(t, err.Error(), cdptest.Product)
	frames, _, _ := store.Frames(t.Context(), record.Window{EndNS: 1 << 62}, 0, 0)
	assert.Empty(t, frames)
}

func TestAPopupIsPreparedBeforeItRuns(t *testing.T) {
	_, _, peer := attachScripted(t, nil)
	popup := peer.AttachPage("p2", "", "p1")
	peer.Await(2, "Runtime.runIfWaitingForDebugger")
	var order []string
	for _, c := range peer.Commands("") {
		if c.Session == popup {
			order = append(order, c.Method)
		}
	}
	assert.Equal(t, "Page.enable", order[0])
	assert.Equal(t, "Runtime.runIfWaitingForDebugger", order[len(order)-1])
	assert.Contains(t, order, "Page.startScreencast")
	assert.Contains(t, order, "Target.setAutoAttach")
}

func TestAReconnectRestoresPagesSelectionAndViewport(t *testing.T) {
	b, endpoint, peer := attachScripted(t, withTargets("p1", "p2"))
	peer.AttachPage("p2", "http://b.test/", "")
	var p2 id.Target
	eventually(t, "both pages are attached", func() bool {
		list, err := b.List(t.Context())
		if err == nil && len(list.Pages) == 2 {
			p2 = list.Pages[1].TargetID
		}
		return p2 != ""
	})
	_, err := b.Select(t.Context(), page.SelectPageRequest{Target: p2})
	require.NoError(t, err)
	_, err = b.SetViewport(t.Context(), &page.ViewportRequest{Scope: page.Scope{Target: p2}, Width: 500, Height: 400}, nothing)
	require.NoError(t, err)
	peer.Frame(cdptest.SessionOf("p2"), 1, 0)
	eventually(t, "a frame is stored", func() bool { return len(b.frames(t, p2)) == 1 })
	peer.Drop()

	again := endpoint.Peer()
	again.Await(2, "Target.setAutoAttach") // the probe's and the registry's
	again.AttachPage("p2", "http://b.test/", "")
	again.AttachPage("p1", "http://a.test/", "")
	again.Await(1, "Emulation.setDeviceMetricsOverride")
	eventually(t, "the session is ready again", func() bool { return state(t, b.Browser) == page.StateReady })
	var order []string
	for _, c := range again.Commands("") {
		if c.Session == cdptest.SessionOf("p2") {
			order = append(order, c.Method)
		}
	}
	assert.Less(t, indexOf(order, "Emulation.setDeviceMetricsOverride"), indexOf(order, "Page.startScreencast"), "restored before capture resumes")
	eventually(t, "both pages are back", func() bool { _, err := b.Page(p2); return err == nil })
	assert.Equal(t, p2, b.Selected())
	again.Frame(cdptest.SessionOf("p2"), 1, 0)
	eventually(t, "recording goes on", func() bool { return len(b.frames(t, p2)) == 2 })
	assert.EqualValues(t, 2, b.frames(t, p2)[1].Ordinal, "ordinals go on over reconnects")
	gaps := b.gaps(t, p2, record.GapDisconnected)
	require.Len(t, gaps, 1)
	assert.NotNil(t, gaps[0].EndNS)
	status, err := b.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, status.Reconnects)
}

func indexOf(list []string, want string) int {
	for i, s := range list {
		if s == want {
			return i
		}
	}
	return -1
}

func TestAnEndpointThatStaysAwayExhaustsTheReconnect(t *testing.T) {
	endpoint := cdptest.Serve(t, nil)
	store := coretest.NewStore()
	deps := newDeps(t, store)
	fake := coretest.NewClock(time.Unix(1_700_000_000, 0))
	deps.Clock = fake
	b := session.New(deps)
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.NoError(t, err)
	peer := endpoint.Peer()
	endpoint.Close()
	peer.Drop()
	eventually(t, "the session ends", func() bool {
		fake.Advance(time.Second)
		return state(t, b) == page.StateEnded
	})
	status, err := b.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, fault.ReconnectExhausted, status.EndCause.Code)
	sessions, err := store.Sessions(t.Context())
	require.NoError(t, err)
	assert.NotNil(t, sessions[0].EndedAt, "its range stays queryable, with an end")
	require.NoError(t, b.Shutdown(t.Context()))
}

func TestAnAttachedBrowserKeepsItsSettings(t *testing.T) {
	b, _, peer := attachScripted(t, nil)
	_, err := b.Stop(t.Context())
	require.NoError(t, err)
	for _, c := range peer.Commands("") {
		switch c.Method {
		case "Browser.close", "Browser.setDownloadBehavior", "Browser.grantPermissions", "Target.closeTarget", "Emulation.setDeviceMetricsOverride":
			t.Errorf("%s was sent to a browser that belongs to somebody else", c.Method)
		}
	}
}

func TestPagesBeyondTheLimitAreListedAndNotCaptured(t *testing.T) {
	b, _, peer := attachScripted(t, nil)
	for i := 2; i <= target.MaxPages+1; i++ {
		peer.AttachPage(fmt.Sprintf("p%d", i), "http://a.test/", "")
	}
	var list page.Pages
	eventually(t, "all pages are listed", func() bool {
		var err error
		list, err = b.List(t.Context())
		return err == nil && len(list.Pages) == target.MaxPages+1
	})
	last := list.Pages[target.MaxPages]
	assert.Equal(t, "limit", last.Capture)
	assert.Len(t, b.gaps(t, last.TargetID, record.GapLimit), 1)
	for _, c := range peer.Commands("Page.startScreencast") {
		assert.NotEqual(t, cdptest.SessionOf(fmt.Sprintf("p%d", target.MaxPages+1)), c.Session)
	}
}

// scriptedProcess is a launched browser whose other end is a script.
type scriptedProcess struct {
	transport cdp.Transport
	exited    chan struct{}
}

func (p scriptedProcess) Transport() cdp.Transport { return p.transport }
func (scriptedProcess) PID() int                   { return 1 << 30 }
func (scriptedProcess) Rendering() string          { return "default" }
func (p scriptedProcess) Exited() <-chan struct{}  { return p.exited }
func (scriptedProcess) Failure() error {
	return fault.New(fault.BrowserLaunchFailed, "it was scripted to fail")
}
func (scriptedProcess) End(bool) chrome.Leftover { return chrome.Leftover{} }

// launchScripted starts a session with a scripted launched browser that has one page.
func launchScripted(t *testing.T, r page.StartRequest, setup func(*cdptest.Peer)) (*bench, *cdptest.Peer, error) {
	t.Helper()
	b := newBench(t) // discovery wants a real executable
	peer, transport := cdptest.OverPipe(t)
	peer.Nth(2, "Target.setAutoAttach", cdptest.Hang()) // the first is the probe's
	if setup != nil {
		setup(peer)
	}
	go func() {
		defer func() { _ = recover() }() // a start that fails earlier never gets here
		c := peer.Await(2, "Target.setAutoAttach")
		peer.AttachPage("p1", "about:blank", "")
		peer.Answer(c, cdptest.Reply{})
	}()
	b.deps.Launch = func(chrome.Config) (session.Process, error) {
		return scriptedProcess{transport: transport, exited: make(chan struct{})}, nil
	}
	b.Browser = session.New(b.deps)
	t.Cleanup(func() { require.NoError(t, b.Shutdown(context.Background())) })
	r.Profile = "temporary"
	_, err := b.Start(t.Context(), r)
	return b, peer, err
}

func TestPreserveNeverTouchesTheForeground(t *testing.T) {
	hidden := func(p *cdptest.Peer) {
		p.Handle("Runtime.evaluate", func(c cdptest.Command) cdptest.Reply {
			return cdptest.Reply{Result: map[string]any{"result": map[string]any{"type": "string", "value": "hidden"}}}
		})
		p.Handle("Target.createTarget", func(cdptest.Command) cdptest.Reply {
			p.AttachPage("p2", "about:blank", "")
			return cdptest.Reply{Result: map[string]any{"targetId": "p2"}}
		})
	}
	b, peer, err := launchScripted(t, page.StartRequest{Focus: "preserve"}, hidden)
	require.NoError(t, err)
	first := b.Selected()
	opened, err := b.Open(t.Context(), page.OpenRequest{})
	require.NoError(t, err)
	assert.JSONEq(t, `{"url":"about:blank","background":true}`, string(peer.Commands("Target.createTarget")[0].Params))
	_, err = b.Select(t.Context(), page.SelectPageRequest{Target: first})
	require.NoError(t, err)
	err = b.EnsureForeground(t.Context(), opened.Target)
	assert.Equal(t, fault.TargetHidden, fault.CodeOf(err))
	for _, method := range []string{"Target.activateTarget", "Page.bringToFront"} {
		assert.Empty(t, peer.Commands(method), method)
	}
	assert.Len(t, peer.Commands("Input.dispatchMouseEvent"), 1, "the probe's refused one, no input")
	peer.Handle("Runtime.evaluate", func(cdptest.Command) cdptest.Reply {
		return cdptest.Reply{Result: map[string]any{"result": map[string]any{"type": "string", "value": "visible"}}}
	})
	activated, err := b.Activate(t.Context(), page.ActivateRequest{Scope: page.Scope{Target: opened.Target}})
	require.NoError(t, err)
	assert.Equal(t, "visible", activated.Visibility)
	assert.Len(t, peer.Commands("Target.activateTarget"), 1, "activate_page is the one exception")
	assert.Equal(t, first, b.Selected())
}

func TestABrowserThatDiesDuringItsStart(t *testing.T) {
	b, _, err := launchScripted(t, page.StartRequest{}, func(p *cdptest.Peer) {
		p.Handle("Browser.getVersion", func(cdptest.Command) cdptest.Reply { go p.Drop(); return cdptest.Hang() })
	})
	assert.Equal(t, fault.BrowserLaunchFailed, fault.CodeOf(err))
	assert.Equal(t, page.StateNone, state(t, b.Browser))
}

func TestForegroundActivatesWhatIsCreatedSelectedAndPointedAt(t *testing.T) {
	b, peer, err := launchScripted(t, page.StartRequest{}, func(p *cdptest.Peer) {
		p.Handle("Target.createTarget", func(cdptest.Command) cdptest.Reply {
			p.AttachPage("p2", "about:blank", "")
			return cdptest.Reply{Result: map[string]any{"targetId": "p2"}}
		})
		p.Handle("Runtime.evaluate", func(c cdptest.Command) cdptest.Reply {
			visible := "hidden"
			if activated := p.Commands("Target.activateTarget"); len(activated) > 2 {
				visible = "visible"
			}
			return cdptest.Reply{Result: map[string]any{"result": map[string]any{"type": "string", "value": visible}}}
		})
	})
	require.NoError(t, err)
	first := b.Selected()
	opened, err := b.Open(t.Context(), page.OpenRequest{})
	require.NoError(t, err)
	_, err = b.Select(t.Context(), page.SelectPageRequest{Target: first})
	require.NoError(t, err)
	require.NoError(t, b.EnsureForeground(t.Context(), opened.Target))
	var order []string
	for _, c := range peer.Commands("Target.activateTarget") {
		var p struct{ TargetID string }
		require.NoError(t, c.Decode(&p))
		order = append(order, p.TargetID)
	}
	assert.Equal(t, []string{"p2", "p1", "p2"}, order)
}

func TestADisconnectionInEachPhaseOfTheStart(t *testing.T) {
	for _, phase := range []struct {
		n      int
		method string
	}{
		{1, "Browser.getVersion"},
		{1, "Target.getTargets"},
		{1, "Target.setAutoAttach"},
		{2, "Target.setDiscoverTargets"},
		{1, "Page.enable"},
		{1, "Runtime.evaluate"},
	} {
		t.Run(fmt.Sprintf("%s %d", phase.method, phase.n), func(t *testing.T) {
			b, _, err := launchScripted(t, page.StartRequest{}, func(p *cdptest.Peer) {
				count := 0
				// Commands are sent without waiting for each other: none that follows the lost one may be answered first.
				if phase.method != "Runtime.evaluate" {
					p.Handle("Runtime.evaluate", func(cdptest.Command) cdptest.Reply { return cdptest.Hang() })
				}
				p.Handle(phase.method, func(cdptest.Command) cdptest.Reply {
					if count++; count == phase.n {
						go p.Drop()
						return cdptest.Hang()
					}
					return cdptest.Reply{Result: map[string]any{"product": "x"}}
				})
			})
			assert.Equal(t, fault.BrowserLaunchFailed, fault.CodeOf(err))
			assert.Equal(t, page.StateNone, state(t, b.Browser))
			profiles, err := b.Profiles(t.Context())
			require.NoError(t, err)
			assert.Empty(t, profiles.Profiles)
		})
	}
}

func TestAPeerThatNeverAnswers(t *testing.T) {
	endpoint := cdptest.Serve(t, func(p *cdptest.Peer) {
		p.Handle("Browser.getVersion", func(cdptest.Command) cdptest.Reply { return cdptest.Hang() })
	})
	deps := newDeps(t, coretest.NewStore())
	fake := coretest.NewClock(time.Unix(1_700_000_000, 0))
	deps.Clock = fake
	b := session.New(deps)
	failed := make(chan error, 1)
	go func() {
		_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
		failed <- err
	}()
	endpoint.Peer().Await(1, "Browser.getVersion")
	fake.BlockUntil(1)
	fake.Advance(time.Minute)
	assert.Equal(t, fault.BrowserDisconnected, fault.CodeOf(<-failed))
	assert.Equal(t, page.StateNone, state(t, b))
}

// admin fails to end sessions.
type admin struct{ record.Admin }

func (admin) Retention(context.Context) (record.RetentionStatus, error) {
	return record.RetentionStatus{BudgetBytes: 7}, nil
}

func (admin) EndSession(context.Context, record.Session) error {
	return fault.New(fault.PersistenceFailed, "the disk is full").WithPersistence("sync", "storage_full", "writer_usable")
}

func TestAStopThatCannotFlushIsDegraded(t *testing.T) {
	endpoint := cdptest.Serve(t, nil)
	deps := newDeps(t, coretest.NewStore())
	deps.Admin = admin{}
	b := session.New(deps)
	status, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.NoError(t, err)
	assert.Equal(t, page.StateReady, status.State)
	status, err = b.Status(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 7, status.Retention.BudgetBytes)
	result, err := b.Stop(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "degraded", result.Quality)
	assert.Equal(t, "flush", result.Stage)
	assert.Equal(t, "storage_full", result.Cause.Persistence.Category)
	assert.Equal(t, page.StateNone, state(t, b))
}

func TestASleepOfTheMachineIsAGap(t *testing.T) {
	endpoint := cdptest.Serve(t, nil)
	store := coretest.NewStore()
	deps := newDeps(t, store)
	fake := coretest.NewClock(time.Unix(1_700_000_000, 0))
	deps.Clock = fake
	b := &bench{Browser: session.New(deps), store: store}
	t.Cleanup(func() { require.NoError(t, b.Shutdown(context.Background())) })
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.NoError(t, err)
	endpoint.Peer().AttachPage("p1", "http://a.test/", "")
	eventually(t, "the page is attached", func() bool { return b.Selected() != "" })
	fake.JumpWall(time.Hour)
	eventually(t, "the gap is recorded", func() bool {
		fake.Advance(10 * time.Second)
		return len(b.gaps(t, b.Selected(), record.GapSystemSuspended)) == 1
	})
}

func TestCaptureOffRecordsNoPictures(t *testing.T) {
	endpoint := cdptest.Serve(t, nil)
	deps := newDeps(t, coretest.NewStore())
	deps.CaptureOff = true
	b := session.New(deps)
	t.Cleanup(func() { require.NoError(t, b.Shutdown(context.Background())) })
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.NoError(t, err)
	peer := endpoint.Peer()
	peer.AttachPage("p1", "http://a.test/", "")
	peer.Await(1, "Runtime.runIfWaitingForDebugger")
	assert.Empty(t, peer.Commands("Page.startScreencast"))
	eventually(t, "the page is driven all the same", func() bool { return b.Selected() != "" })
}

func TestABrowserThatLacksACommandOfPagesIsIncompatible(t *testing.T) {
	for _, method := range []string{"Page.startScreencast", "Page.captureScreenshot", "Runtime.callFunctionOn", "Input.insertText"} {
		lacking := func(p *cdptest.Peer) {
			p.Handle(method, func(cdptest.Command) cdptest.Reply { return cdptest.Fail(cdp.CodeMethodNotFound, "no") })
		}
		_, _, err := launchScripted(t, page.StartRequest{}, lacking)
		require.Equal(t, fault.BrowserCompatibilityFailed, fault.CodeOf(err), method)
		assert.Contains(t, err.Error(), method)
		assert.Contains(t, err.Error(), "protocol")

		endpoint := cdptest.Serve(t, func(p *cdptest.Peer) {
			withTargets("p1")(p)
			lacking(p)
			attachesWithAutoAttach(p)
		})
		b := newBench(t)
		_, err = b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
		require.Equal(t, fault.BrowserCompatibilityFailed, fault.CodeOf(err), method)
		assert.Equal(t, page.StateNone, state(t, b.Browser))
	}
}

// attachesWithAutoAttach announces the page p1 only some time after the answer, as a real browser does.
func attachesWithAutoAttach(p *cdptest.Peer) {
	p.Handle("Target.setAutoAttach", func(c cdptest.Command) cdptest.Reply {
		var on struct{ AutoAttach bool }
		_ = c.Decode(&on)
		if on.AutoAttach && c.Session == "" {
			go p.AttachPage("p1", "http://a.test/", "")
		}
		return cdptest.Reply{}
	})
}

func TestAttachAnswersWithTheFirstPage(t *testing.T) {
	endpoint := cdptest.Serve(t, func(p *cdptest.Peer) {
		withTargets("p1")(p)
		attachesWithAutoAttach(p)
	})
	b := newBench(t)
	status, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.NoError(t, err)
	assert.Equal(t, b.Selected(), status.Selected)
	assert.NotEmpty(t, status.Selected, "what is called next has a page")
}

func TestAPageThatNeverComesDoesNotHoldTheAttachmentUp(t *testing.T) {
	endpoint := cdptest.Serve(t, withTargets("p1"))
	b := newBench(t)
	_, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint.HTTP()})
	require.NoError(t, err)
	assert.Equal(t, page.StateReady, state(t, b.Browser))
}

func TestALostPipeIsTheEnd(t *testing.T) {
	b, peer, err := launchScripted(t, page.StartRequest{}, nil)
	require.NoError(t, err)
	peer.Drop()
	eventually(t, "the session ends", func() bool { return state(t, b.Browser) == page.StateEnded })
	status, err := b.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, fault.BrowserProcessTerminated, status.EndCause.Code)
}

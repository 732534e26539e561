package page_test

import (
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/redact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scripted returns a page whose browser is a script.
func scripted(t *testing.T) (*cdptest.Peer, *page.Session) {
	t.Helper()
	peer, transport := cdptest.OverPipe(t)
	client := cdp.NewClient(transport, clock.System())
	t.Cleanup(func() { _ = client.Close() })
	s := page.New(page.Config{
		Browser: page.NewBrowser(client, clock.System(), page.Versions{Browser: "X/1", Protocol: "1.3"}), CDPSession: "session-p", CDPTarget: "p",
		Target: "tgt_x", Session: "ses_x", Clock: clock.Begin(clock.System()), Facts: &browsertest.Facts{}, URLs: redact.NewKey(),
	})
	require.NoError(t, s.Prepare())
	return peer, s
}

func metrics(width float64) cdptest.Reply {
	box := map[string]any{"clientWidth": width, "clientHeight": width, "scale": 1}
	return cdptest.Reply{Result: map[string]any{"cssLayoutViewport": box, "cssVisualViewport": box}}
}

func observed(values ...float64) cdptest.Reply {
	return cdptest.Reply{Result: map[string]any{"result": map[string]any{"type": "object", "value": values}}}
}

func TestUnusableMetricsFallBackToWhatScriptsObserve(t *testing.T) {
	cases := map[string]struct {
		metrics, script cdptest.Reply
		code            fault.Code
		fallback        bool
		width           float64
	}{
		"both":        {metrics: metrics(800), script: observed(820, 600, 2, 0, 0, 1, 1), width: 820},
		"zero":        {metrics: metrics(0), script: observed(820, 600, 2, 0, 0, 1, 1), fallback: true, width: 820},
		"refused":     {metrics: cdptest.Fail(-32000, "no"), script: observed(820, 600, 2, 0, 0, 1, 1), fallback: true, width: 820},
		"no script":   {metrics: metrics(800), script: cdptest.Fail(-32000, "no"), width: 800},
		"neither":     {metrics: metrics(0), script: observed(0, 0, 1, 0, 0, 0, 0), code: fault.PageObservationFailed},
		"unsupported": {metrics: cdptest.Fail(cdp.CodeMethodNotFound, "no"), script: cdptest.Fail(-32000, "no"), code: fault.Unsupported},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			peer, s := scripted(t)
			peer.Handle("Page.getLayoutMetrics", func(cdptest.Command) cdptest.Reply { return c.metrics })
			peer.Handle("Runtime.evaluate", func(cdptest.Command) cdptest.Reply { return c.script })
			v, err := s.Viewport(t.Context())
			require.Equal(t, c.code, fault.CodeOf(err))
			if c.code != "" {
				assert.NotEmpty(t, fault.From(err).Recovery)
				return
			}
			assert.Equal(t, c.fallback, v.Fallback)
			assert.InDelta(t, c.width, v.WindowWidth, 0)
		})
	}
}

func TestPipelinedCommandsKeepTheirOrder(t *testing.T) {
	peer, s := scripted(t)
	var pending []*page.Pending
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		p, err := s.Start(t.Context(), "Input.dispatchMouseEvent", map[string]any{"type": kind})
		require.NoError(t, err)
		pending = append(pending, p)
	}
	for _, p := range pending {
		require.NoError(t, p.Wait(nil))
	}
	var order []string
	for _, c := range peer.Commands("Input.dispatchMouseEvent") {
		var params struct{ Type string }
		require.NoError(t, c.Decode(&params))
		order = append(order, params.Type)
	}
	assert.Equal(t, []string{"mouseMoved", "mousePressed", "mouseReleased"}, order)
}

func TestAClosedPageAndALostBrowserAreTold(t *testing.T) {
	peer, s := scripted(t)
	peer.Handle("Runtime.evaluate", func(cdptest.Command) cdptest.Reply {
		peer.Event("", "Target.detachedFromTarget", map[string]any{"sessionId": "session-p"})
		return cdptest.Hang()
	})
	err := s.Send(t.Context(), "Runtime.evaluate", nil, nil)
	assert.Equal(t, fault.TargetFailed, fault.CodeOf(err))
	require.ErrorIs(t, err, page.ErrInterrupted)

	peer, s = scripted(t)
	peer.Handle("Runtime.evaluate", func(cdptest.Command) cdptest.Reply { go peer.Drop(); return cdptest.Hang() })
	err = s.Send(t.Context(), "Runtime.evaluate", nil, nil)
	assert.Equal(t, fault.BrowserDisconnected, fault.CodeOf(err))
	assert.Equal(t, fault.BrowserDisconnected, fault.CodeOf(s.Send(t.Context(), "Runtime.evaluate", nil, nil)))
}

func TestARefusalIsTheCommandsOwn(t *testing.T) {
	peer, s := scripted(t)
	peer.Handle("DOM.resolveNode", func(cdptest.Command) cdptest.Reply { return cdptest.Fail(-32000, "No node") })
	var refusal *cdp.Error
	require.ErrorAs(t, s.Send(t.Context(), "DOM.resolveNode", nil, nil), &refusal)
	assert.Equal(t, -32000, refusal.Code)
}

package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/cmd/harness"
	"github.com/krometrail/krometrail/core/coretest"
)

// How another project uses the harness: the whole program with a scripted browser and a clock that only moves when
// told to. Here the page sends two frames whose arrival the test decides, and the program's own status counts them.
func TestAScriptedBrowserAndAFakeClock(t *testing.T) {
	peer, transport := cdptest.OverPipe(t)
	clk := coretest.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	// Discovery still wants something that answers like a browser; it is never run as one.
	executable := filepath.Join(t.TempDir(), "chromium")
	require.NoError(t, os.WriteFile(executable, []byte("#!/bin/sh\necho Chromium 1.2.3.4\n"), 0o700))
	program, err := harness.Start(t.Context(), harness.Options{DataDir: t.TempDir(), Transport: transport, Clock: clk, Settings: map[string]string{"chrome": executable}})
	require.NoError(t, err)
	peer.Handle("Target.setAutoAttach", func(c cdptest.Command) cdptest.Reply {
		if c.Session == "" {
			peer.AttachPage("p1", "about:blank", "")
		}
		return cdptest.Reply{Result: map[string]any{}}
	})
	started, err := program.Client.CallTool(t.Context(), "start_browser", map[string]any{"profile": "temporary"})
	require.NoError(t, err)
	require.False(t, started.Failed, started.Text)
	assert.Contains(t, started.Text, cdptest.Product)
	assert.Contains(t, started.Text, "2026-01-02T03:04:05", "the session began on the test's clock")

	peer.Await(1, "Page.startScreencast")
	peer.Frame(cdptest.SessionOf("p1"), 1, 1)
	peer.Await(1, "Page.screencastFrameAck")
	peer.Frame(cdptest.SessionOf("p1"), 2, 2)
	peer.Await(2, "Page.screencastFrameAck")
	status, err := program.Client.CallTool(t.Context(), "browser_status", map[string]any{})
	require.NoError(t, err)
	assert.Contains(t, status.Text, "received 2")
	_ = program.Stop(context.WithoutCancel(t.Context()))
}

package session_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

func TestBeforeTheFirstStart(t *testing.T) {
	b := newBench(t)
	assert.Equal(t, page.StateNone, state(t, b.Browser))
	_, err := b.Stop(t.Context())
	assert.Equal(t, fault.InvalidLifecycleTransition, fault.CodeOf(err))
	_, err = b.List(t.Context())
	assert.Equal(t, fault.InvalidLifecycleTransition, fault.CodeOf(err))
	assert.Equal(t, fault.AfterRecovery, fault.From(err).Retry)
	for name, r := range map[string]page.StartRequest{
		"stride": {EveryNthFrame: 61}, "profile": {Profile: "../x"}, "viewport": {Viewport: &page.Size{Width: 0, Height: 5}}, "url": {URL: "nonsense"},
	} {
		_, err := b.Start(t.Context(), r)
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err), name)
	}
	_, err = b.Start(t.Context(), page.StartRequest{Executable: filepath.Join(t.TempDir(), "none")})
	assert.Equal(t, fault.BrowserNotFound, fault.CodeOf(err))
	assert.Equal(t, page.StateNone, state(t, b.Browser))
}

func TestTwoProgramsStartWithDefaultsAndTheLastPageEndsASession(t *testing.T) {
	one := newBench(t)
	starts := make(chan bool, 3)
	for range cap(starts) {
		go func() {
			started, err := one.EnsureStarted(t.Context())
			assert.NoError(t, err)
			starts <- started
		}()
	}
	count := 0
	for range cap(starts) {
		if <-starts {
			count++
		}
	}
	assert.Equal(t, 1, count, "requests at once start one browser")
	var started bool
	var err error
	started, err = one.EnsureStarted(t.Context())
	require.NoError(t, err)
	assert.False(t, started)
	_, err = one.Start(t.Context(), page.StartRequest{})
	assert.Equal(t, fault.InvalidLifecycleTransition, fault.CodeOf(err))

	other := session.New(one.deps)
	t.Cleanup(func() { require.NoError(t, other.Shutdown(context.Background())) })
	_, err = other.Start(t.Context(), page.StartRequest{Profile: "default"})
	assert.Equal(t, fault.ProfileInUse, fault.CodeOf(err))
	status, err := other.Start(t.Context(), page.StartRequest{})
	require.NoError(t, err)
	assert.Equal(t, "default-2", status.Profile)
	require.Len(t, status.Warnings, 1)
	assert.Equal(t, fault.ProfileSubstituted, status.Warnings[0].Code)
	profiles, err := other.Profiles(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []page.Profile{{Name: "default", InUse: true}, {Name: "default-2", InUse: true}}, profiles.Profiles)

	closed, err := one.Close(t.Context(), page.CloseRequest{})
	require.NoError(t, err)
	assert.Empty(t, closed.Selected)
	eventually(t, "the session ends by itself", func() bool { return state(t, one.Browser) == page.StateEnded })
	_, err = one.EnsureStarted(t.Context())
	assert.Equal(t, fault.SessionEnded, fault.CodeOf(err), "an ended session is not replaced silently")
	_, selected, ok := one.Latest()
	assert.True(t, ok)
	assert.Equal(t, closed.Closed, selected)
	status, err = one.Start(t.Context(), page.StartRequest{})
	require.NoError(t, err, "the ended slot is reaped by the next start")
	assert.Equal(t, "default", status.Profile)
}

// browserPID finds the browser process that uses the bench's profiles.
func browserPID(t *testing.T, root string) int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		raw, _ := os.ReadFile(path)
		line := strings.ReplaceAll(string(raw), "\x00", " ")
		if strings.Contains(line, "--user-data-dir="+root) && !strings.Contains(line, "--type=") && strings.Contains(line, "--remote-debugging-pipe") {
			pid, err := strconv.Atoi(strings.Split(path, "/")[2])
			require.NoError(t, err)
			return pid
		}
	}
	t.Fatal("the browser process was not found")
	return 0
}

func TestAKilledBrowserEndsTheSessionAndKeepsItsEvidence(t *testing.T) {
	b := newBench(t)
	status := b.start(t, page.StartRequest{Profile: "kept", URL: b.site.page("<body style='background:red'>")})
	target := status.Selected
	eventually(t, "frames are stored", func() bool { return len(b.frames(t, target)) > 0 })
	require.NoError(t, syscall.Kill(browserPID(t, b.deps.ProfileRoot), syscall.SIGKILL))
	eventually(t, "the session ends", func() bool { return state(t, b.Browser) == page.StateEnded })
	_, err := b.List(t.Context())
	assert.Equal(t, fault.SessionEnded, fault.CodeOf(err))
	frames, _, err := b.store.Frames(t.Context(), record.Window{SessionID: status.SessionID, TargetID: target, EndNS: 1 << 62}, 0, 0)
	require.NoError(t, err)
	assert.NotEmpty(t, frames)
	result, err := b.Stop(t.Context())
	require.NoError(t, err, "stopping an ended session succeeds")
	assert.True(t, result.AlreadyEnded)

	again := b.start(t, page.StartRequest{Profile: "kept"})
	assert.Equal(t, page.StateReady, again.State, "the locks a killed browser leaves do not keep the next one from starting")
	assert.NotEqual(t, status.SessionID, again.SessionID)
	killRenderers(t, b)
}

// killRenderers ends every renderer as the system's memory killer would; control and the session go on.
func killRenderers(t *testing.T, b *bench) {
	t.Helper()
	target := b.open(t, b.site.page("<title>x</title>"))
	s, err := b.Page(target)
	require.NoError(t, err)
	var info struct {
		Processes []struct {
			Type string `json:"type"`
			ID   int    `json:"id"`
		} `json:"processInfo"`
	}
	require.NoError(t, s.Browser().Send(t.Context(), "SystemInfo.getProcessInfo", nil, &info))
	for _, p := range info.Processes {
		if p.Type == "renderer" {
			_ = syscall.Kill(p.ID, syscall.SIGKILL)
		}
	}
	eventually(t, "the crash is seen", s.Crashed)
	err = s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": "1"}, nil)
	assert.Equal(t, fault.TargetFailed, fault.CodeOf(err))
	_, err = b.Reload(t.Context(), &page.ReloadRequest{Scope: page.Scope{Target: target}}, nothing)
	require.NoError(t, err)
	assert.Equal(t, "x", b.eval(t, target, "document.title"))
}

func TestStopWithDialogsAndManyPages(t *testing.T) {
	before := zombieChildren(t) // of browsers that other tests started themselves
	b := newBench(t)
	b.start(t, page.StartRequest{})
	for range 20 {
		s, err := b.Page("")
		require.NoError(t, err)
		go func() {
			_ = s.Browser().Send(t.Context(), "Target.createTarget", map[string]any{"url": "about:blank"}, nil)
		}()
	}
	eventually(t, "all pages are attached", func() bool {
		list, err := b.List(t.Context())
		return err == nil && len(list.Pages) == 21
	})
	asks := b.open(t, b.site.page("<script>onbeforeunload = e => { e.preventDefault(); e.returnValue = 'x' }</script>"))
	s, err := b.Page(asks)
	require.NoError(t, err)
	require.NoError(t, s.Post("Runtime.evaluate", map[string]any{"expression": "alert(1)", "userGesture": true}))
	eventually(t, "the dialog is open", func() bool { dialog, _ := s.Dialog(); return dialog != nil })
	result, err := b.Stop(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "clean", result.Quality, result.Cause)
	assert.Zero(t, result.Zombies)
	assert.Subset(t, before, zombieChildren(t), "nothing of the browser is left, whatever group it had moved to")
}

func zombieChildren(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	var list []string
	for _, path := range paths {
		raw, _ := os.ReadFile(path)
		if _, after, ok := strings.Cut(string(raw), ") Z "); ok && strings.HasPrefix(after, strconv.Itoa(os.Getpid())+" ") {
			pid, _, _ := strings.Cut(string(raw), " ")
			list = append(list, pid)
		}
	}
	return list
}

func TestAttachToARunningBrowser(t *testing.T) {
	b := newBench(t)
	endpoint := foreignBrowser(t)
	status, err := b.Attach(t.Context(), page.AttachRequest{Endpoint: endpoint})
	require.NoError(t, err)
	assert.Equal(t, record.Attached, status.Ownership)
	assert.Empty(t, status.Profile)
	eventually(t, "its page is attached", func() bool { return b.Selected() != "" })
	target := b.open(t, b.site.page("<title>mine</title><body style='background:red'>"))
	eventually(t, "it is recorded", func() bool { return len(b.frames(t, target)) > 0 })
	result, err := b.Stop(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "detached", result.Disposition)

	status, err = b.Attach(t.Context(), page.AttachRequest{Endpoint: "http://localhost:" + endpoint})
	require.NoError(t, err, "the browser still runs")
	eventually(t, "the page is still open", func() bool {
		list, err := b.List(t.Context())
		return err == nil && len(list.Pages) == 2
	})
	assert.NotEqual(t, status.SessionID, result.SessionID)
}

// foreignBrowser starts a browser as somebody else would and returns its debugging port.
func foreignBrowser(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	dir := t.TempDir()
	args := []string{"--headless=new", "--remote-debugging-port=" + port, "--user-data-dir=" + dir, "--no-first-run", "about:blank"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(browsertest.Executable(), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		eventually(t, "the foreign browser's files can be removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	eventually(t, "the foreign browser answers", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return port
}

// TestKillOfTheProgram starts this test binary as the program and kills it while it records.
func TestKillOfTheProgram(t *testing.T) {
	if os.Getenv("SESSION_TEST_ROLE") == "program" {
		program(t)
		return
	}
	b := newBench(t)
	root := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillOfTheProgram$", "-test.v")
	cmd.Env = append(os.Environ(), "SESSION_TEST_ROLE=program", "SESSION_TEST_ROOT="+root)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	buf := make([]byte, 64<<10)
	for text := ""; !strings.Contains(text, "RECORDING"); {
		n, err := out.Read(buf)
		require.NoError(t, err, text)
		text += string(buf[:n])
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	eventually(t, "no browser process is left", func() bool { return processesWith(root) == 0 })

	deps := b.deps
	deps.ProfileRoot = root
	next := session.New(deps)
	defer func() { require.NoError(t, next.Shutdown(context.Background())) }()
	status, err := next.Start(t.Context(), page.StartRequest{})
	require.NoError(t, err)
	assert.Equal(t, "default", status.Profile)
}

func program(t *testing.T) {
	deps := newDeps(t, newBench(t).store)
	deps.ProfileRoot = os.Getenv("SESSION_TEST_ROOT")
	b := session.New(deps)
	_, err := b.Start(t.Context(), page.StartRequest{})
	require.NoError(t, err)
	_, _ = os.Stdout.WriteString("RECORDING\n")
	_ = clock.Wait(t.Context(), clock.System(), chrome.ColdProbe) // the parent kills this process long before
}

func processesWith(text string) int {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	count := 0
	for _, path := range paths {
		raw, _ := os.ReadFile(path)
		if strings.Contains(string(raw), text) {
			count++
		}
	}
	return count
}

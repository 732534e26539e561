package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program is the built binary, made once.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "krometrail")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// browsers lists the processes whose command line names the profile folder.
func browsers(t *testing.T, profile string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(line, []byte(profile)) && !bytes.Contains(line, []byte("krometrail\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	from := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("not within a minute: " + what)
		}
	}
	longest = max(longest, time.Since(from))
}

// longest is the longest time that eventually has waited. Five seconds are promised; a loaded machine is no fault of the
// program, so it is told and not judged.
var longest time.Duration

// A program that is killed while it records leaves no browser behind, and the next start works on the same data.
func TestKilledWhileRecording(t *testing.T) {
	binary, data := program(t), t.TempDir()
	killed := exec.CommandContext(t.Context(), binary, "--data-dir", data, "demo", "--out", t.TempDir(), "--keep")
	progress := &lockedBuffer{}
	killed.Stderr = progress
	require.NoError(t, killed.Start())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(progress.String(), "clicking") {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the demonstration did not come so far: " + progress.String())
		}
	}
	require.NotEmpty(t, browsers(t, data))
	require.NoError(t, killed.Process.Signal(syscall.SIGKILL))
	_ = killed.Wait()
	eventually(t, "no browser is left", func() bool { return len(browsers(t, data)) == 0 })

	out, err := exec.CommandContext(t.Context(), binary, "--data-dir", data, "demo", "--out", t.TempDir()).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "frames recorded")
	assert.Empty(t, browsers(t, data))
}

func TestWhatIsMissingIsSaidPlainly(t *testing.T) {
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := "http://" + closed.Addr().String() + "/"
	require.NoError(t, closed.Close())
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		code string
		exit int
	}{
		"no browser":       {args: []string{"demo", "--out", t.TempDir()}, env: map[string]string{"KROMETRAIL_CHROME": file}, code: "browser_not_found", exit: exitFailure},
		"unreachable page": {args: []string{"demo", "--url", nobody, "--out", t.TempDir()}, code: "navigation_failed", exit: exitFailure},
		"unwritable data":  {args: []string{"--data-dir", filepath.Join(file, "data"), "demo"}, code: "persistence_failed", exit: exitFailure},
		"unwritable out":   {args: []string{"demo", "--out", filepath.Join(file, "out")}, code: "persistence_failed", exit: exitFailure},
		"unknown option":   {args: []string{"demo", "--nonsense=hunter2"}, code: "invalid_input", exit: exitUsage},
		"bad setting":      {args: []string{"--tools=hunter2", "version"}, code: "invalid_input", exit: exitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			env := func(key string) (string, bool) {
				if value, ok := c.env[key]; ok {
					return value, true
				}
				if key == "KROMETRAIL_DATA_DIR" {
					return data, true
				}
				return os.LookupEnv(key)
			}
			var out, errs bytes.Buffer
			exit := run(t.Context(), c.args, strings.NewReader(""), &out, &errs, env)
			assert.Equal(t, c.exit, exit)
			assert.Contains(t, errs.String(), "error["+c.code+"]")
			assert.Contains(t, errs.String(), "recovery: ")
			assert.NotContains(t, errs.String(), "hunter2")
			assert.NotContains(t, errs.String(), data)
			assert.Empty(t, browsers(t, data))
		})
	}
}

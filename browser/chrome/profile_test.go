package chrome_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProfilesSubstituteInOrder(t *testing.T) {
	profiles := chrome.NewProfiles(t.TempDir())
	want := []string{"default"}
	for i := 2; i <= chrome.DefaultProfiles; i++ {
		want = append(want, fmt.Sprintf("default-%d", i))
	}
	want = append(want, chrome.Temporary)
	var held []*chrome.Profile
	for i, name := range want {
		p, err := profiles.Acquire("")
		require.NoError(t, err)
		assert.Equal(t, name, p.Name)
		assert.Equal(t, i > 0, p.Substituted)
		info, err := os.Stat(p.Dir)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		held = append(held, p)
	}
	_, err := profiles.Acquire("default-3")
	assert.Equal(t, fault.ProfileInUse, fault.CodeOf(err))
	held[2].Release()
	p, err := profiles.Acquire("")
	require.NoError(t, err)
	assert.Equal(t, "default-3", p.Name)
	held[2] = p
	for _, p := range held {
		p.Release()
	}
	assert.NoDirExists(t, held[len(held)-1].Dir, "a temporary profile goes with its session")
	assert.DirExists(t, held[0].Dir)
	list, err := profiles.List()
	require.NoError(t, err)
	assert.Len(t, list.Profiles, chrome.DefaultProfiles)
	for _, row := range list.Profiles {
		assert.False(t, row.InUse, row.Name)
	}
}

func TestProfileNames(t *testing.T) {
	for _, name := range []string{"a", "work-2", "x_y", chrome.Temporary} {
		assert.NoError(t, chrome.CheckProfileName(name), name)
	}
	for _, name := range []string{"", ".", "..", "../x", "A", "a/b", "-a", ".locks", "a b", string(make([]byte, 65))} {
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(chrome.CheckProfileName(name)), name)
	}
}

func TestLocksOfADeadBrowserAreRemoved(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "mine")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	lock := filepath.Join(dir, "SingletonLock")
	require.NoError(t, os.Symlink("another-host-4711", lock))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), nil, 0o600))
	p, err := chrome.NewProfiles(root).Acquire("mine")
	require.NoError(t, err)
	defer p.Release()
	assert.NoFileExists(t, filepath.Join(dir, "DevToolsActivePort"))
	_, err = os.Lstat(lock)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestTemporaryProfilesOfDeadProgramsAreSwept(t *testing.T) {
	root := t.TempDir()
	profiles := chrome.NewProfiles(root)
	alive, err := profiles.Acquire(chrome.Temporary)
	require.NoError(t, err)
	defer alive.Release()
	left := filepath.Join(root, ".temporary", "left")
	require.NoError(t, os.MkdirAll(left, 0o700))
	require.NoError(t, os.WriteFile(left+".lock", nil, 0o600)) // its program died: nobody holds the lock
	p, err := profiles.Acquire(chrome.Temporary)
	require.NoError(t, err)
	defer p.Release()
	assert.NoDirExists(t, left)
	assert.DirExists(t, alive.Dir)
}

func TestAnUnwritableRootIsAFaultWithoutPaths(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := chrome.NewProfiles(file).Acquire("")
	assert.Equal(t, fault.BrowserLaunchFailed, fault.CodeOf(err))
	assert.NotContains(t, err.Error(), file)
}

func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return path
}

func TestDiscovery(t *testing.T) {
	dir := t.TempDir()
	good := script(t, dir, "good", "echo Chromium 999.0")
	bad := script(t, dir, "bad", "echo nothing; exit 1")
	snap := script(t, dir, "snap", "# /snap/bin/chromium\necho Chromium 999.0 snap")
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	cases := map[string]struct {
		search  chrome.Search
		source  string
		outcome string
		found   string
		snap    bool
	}{
		"explicit":       {search: chrome.Search{Explicit: good, Environment: bad}, source: "explicit", outcome: "selected", found: good},
		"environment":    {search: chrome.Search{Environment: good}, source: "environment", outcome: "selected", found: good},
		"not a browser":  {search: chrome.Search{Explicit: bad, Environment: good}, source: "explicit", outcome: "failed"},
		"absent":         {search: chrome.Search{Explicit: filepath.Join(dir, "none")}, source: "explicit", outcome: "absent"},
		"not executable": {search: chrome.Search{Explicit: plain}, source: "explicit", outcome: "not_executable"},
		"a snap":         {search: chrome.Search{Explicit: snap}, source: "explicit", outcome: "selected", found: snap, snap: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.search.Clock, c.search.Getenv = clock.System(), func(string) string { return "" }
			found, rows, err := chrome.Discover(t.Context(), c.search)
			require.Len(t, rows, 1)
			assert.Equal(t, c.source, rows[0].Source)
			assert.Equal(t, 1, rows[0].Ordinal)
			assert.Equal(t, c.outcome, rows[0].Outcome)
			assert.Equal(t, c.found, found.Path)
			assert.Equal(t, c.snap, found.Snap)
			if c.found == "" {
				require.Equal(t, fault.BrowserNotFound, fault.CodeOf(err))
				assert.NotEmpty(t, fault.From(err).Recovery)
				assert.NotContains(t, err.Error(), dir)
			}
		})
	}
}

func TestDiscoveryGoesFromPathToTestingCaches(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, "chromium-browser", "exit 1")
	cache := filepath.Join(dir, "cache", "chromium-100", "chrome-linux")
	require.NoError(t, os.MkdirAll(cache, 0o700))
	script(t, cache, "chrome", "echo Chromium 1")
	env := map[string]string{"PATH": dir, "PLAYWRIGHT_BROWSERS_PATH": filepath.Join(dir, "cache")}
	_, rows, err := chrome.Discover(t.Context(), chrome.Search{Clock: clock.System(), Getenv: func(name string) string { return env[name] }})
	require.NoError(t, err)
	var sources []string
	for _, row := range rows {
		if len(sources) == 0 || sources[len(sources)-1] != row.Source {
			sources = append(sources, row.Source)
		}
	}
	if rows[len(rows)-1].Source == "platform" {
		t.Skip("this machine has a browser in a usual place")
	}
	assert.Equal(t, []string{"platform", "path", "testing_cache"}, sources)
}

func TestSandboxModes(t *testing.T) {
	off, reason := chrome.SandboxOff.Resolve()
	assert.True(t, off)
	assert.Equal(t, "configured", reason)
	off, _ = chrome.SandboxOn.Resolve()
	assert.False(t, off)
	off, _ = chrome.SandboxAuto.Resolve()
	assert.Equal(t, os.Geteuid() == 0, off)
}

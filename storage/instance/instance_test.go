//go:build unix

package instance_test

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/storage/instance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func create(t testing.TB, dir string) *instance.Instance {
	t.Helper()
	in, err := instance.Create(dir, quiet)
	require.NoError(t, err)
	t.Cleanup(func() { _ = in.Close() })
	return in
}

func entries(t testing.TB, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, instance.DirName))
	require.NoError(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestARootIsPrivateAndCounted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	a := create(t, dir)
	require.Equal(t, instance.Count{Live: 1, Source: instance.Proved}, a.Live())
	info, err := os.Stat(a.Root())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	info, err = os.Stat(filepath.Join(a.Root(), instance.LockName))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, []string{a.Name()}, entries(t, dir))

	b := create(t, dir)
	c := create(t, dir)
	for _, in := range []*instance.Instance{a, b, c} {
		require.Equal(t, 3, in.Live().Live)
	}
	require.NoError(t, b.Close())
	require.Equal(t, instance.Count{Live: 2, Source: instance.Proved, Abandoned: 1}, a.Live())
	require.NoError(t, b.Close(), "closing twice is fine")
}

func TestOnlyAbandonedRootsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	a, b, c := create(t, dir), create(t, dir), create(t, dir)
	outside := filepath.Join(dir, "precious")
	require.NoError(t, os.WriteFile(outside, []byte("x"), 0o600))
	for _, in := range []*instance.Instance{b, c} {
		require.NoError(t, os.MkdirAll(filepath.Join(in.Root(), "segments"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(in.Root(), "segments", "s"), []byte("data"), 0o600))
		require.NoError(t, os.Symlink(outside, filepath.Join(in.Root(), "link")))
	}
	for _, name := range []string{"config", "not-a-uuid", ".hidden"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, instance.DirName, name), 0o700))
	}
	require.NoError(t, b.Close())
	require.Equal(t, 1, a.Reap(t.Context()))
	require.NoDirExists(t, b.Root())
	require.FileExists(t, filepath.Join(c.Root(), "segments", "s"))
	require.FileExists(t, outside)
	require.ElementsMatch(t, []string{a.Name(), c.Name(), "config", "not-a-uuid", ".hidden"}, entries(t, dir))
	require.Zero(t, a.Reap(t.Context()))
}

func TestWhatCannotBeExaminedIsLive(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, instance.DirName)
	a := create(t, dir)
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, instance.LockName), nil, 0o600))
	uuid := func(c string) string { return filepath.Join(base, strings.Repeat(c, 8)+"-0000-4000-8000-000000000000") }
	require.NoError(t, os.Symlink(elsewhere, uuid("1")))                                               // a root that is a link
	require.NoError(t, os.Mkdir(uuid("2"), 0o700))                                                     // without a lock file
	require.NoError(t, os.WriteFile(uuid("3"), nil, 0o600))                                            // no directory
	require.NoError(t, os.Mkdir(uuid("4"), 0o700))                                                     //
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "lock"), filepath.Join(uuid("4"), "lock"))) // a lock that is a link
	require.Equal(t, instance.Count{Live: 5, Source: instance.Proved}, a.Live())
	require.Zero(t, a.Reap(t.Context()))
	require.FileExists(t, filepath.Join(elsewhere, instance.LockName))
	require.Len(t, entries(t, dir), 5)
}

func TestHalfMadeAndHalfRemovedRootsAreFinished(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, instance.DirName)
	a := create(t, dir)
	name := "00000000-0000-4000-8000-000000000000"
	empty := filepath.Join(base, ".new-"+name)
	require.NoError(t, os.Mkdir(empty, 0o700)) // its maker died before it made the lock
	locked := filepath.Join(base, ".new-1"+name[1:])
	require.NoError(t, os.Mkdir(locked, 0o700)) // its maker died before the rename
	require.NoError(t, os.WriteFile(filepath.Join(locked, "lock"), nil, 0o600))
	dead := filepath.Join(base, ".dead-2"+name[1:])
	require.NoError(t, os.Mkdir(dead, 0o700)) // its remover died after the lock
	used := filepath.Join(base, ".new-3"+name[1:])
	require.NoError(t, os.Mkdir(used, 0o700)) // without a lock and not empty: nobody's that we know
	require.NoError(t, os.WriteFile(filepath.Join(used, "x"), nil, 0o600))
	require.Equal(t, 1, a.Live().Live, "none of them divides the budget")
	require.Equal(t, 3, a.Reap(t.Context()))
	require.ElementsMatch(t, []string{a.Name(), filepath.Base(used)}, entries(t, dir))
}

func TestAFallbackCountIsNeverOptimistic(t *testing.T) {
	dir := t.TempDir()
	a, b := create(t, dir), create(t, dir)
	require.Equal(t, instance.Count{Live: 2, Source: instance.Proved}, a.Live())
	require.NoError(t, b.Close())
	require.NoError(t, a.Close()) // its directory handle is gone now: reading fails
	require.Equal(t, instance.Count{Live: 2, Source: instance.LastProved}, a.Live())
	c := create(t, dir)
	require.NoError(t, c.Close())
	require.Equal(t, instance.Count{Live: instance.AssumedPeers, Source: instance.Assumed}, c.Live())
}

func TestAnUnusableDataDirectoryIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := instance.Create(file, quiet)
	require.Equal(t, fault.PersistenceFailed, fault.CodeOf(err))
	f := fault.From(err)
	require.Equal(t, "create", f.Persistence.Operation)
	require.NotContains(t, f.Message+f.Recovery, file)
}

package crashtest

import (
	"crypto/sha256"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/instance"
)

// grave is the root of a process that is going to be killed. It waits for the root's lock, so that no peer removes the
// root before it was examined.
type grave struct {
	root string
	lock *os.File
	held chan error
}

// liveRoot returns the root of the only process that runs.
func (p *place) liveRoot(t *testing.T) string {
	t.Helper()
	for _, name := range p.roots(t) {
		root := filepath.Join(p.data, instance.DirName, name)
		lock, err := os.Open(filepath.Join(root, instance.LockName))
		if err != nil {
			continue // being removed
		}
		err = unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		require.NoError(t, lock.Close())
		if err != nil {
			return root
		}
	}
	t.Fatal("no process holds a root")
	return ""
}

// dig waits for the lock of root; nil when the root is gone already.
func dig(t *testing.T, root string) *grave {
	t.Helper()
	lock, err := os.Open(filepath.Join(root, instance.LockName))
	if err != nil {
		return nil
	}
	g := &grave{root: root, lock: lock, held: make(chan error, 1)}
	go func() { g.held <- unix.Flock(int(lock.Fd()), unix.LOCK_SH) }()
	return g
}

// examine copies what the killed process left and reports whether it could: a peer may have been faster.
func (g *grave) examine(t *testing.T) bool {
	t.Helper()
	require.NoError(t, <-g.held)
	defer g.lock.Close() // from now on the root may go
	var held, named unix.Stat_t
	require.NoError(t, unix.Fstat(int(g.lock.Fd()), &held))
	if unix.Lstat(filepath.Join(g.root, instance.LockName), &named) != nil || named.Ino != held.Ino {
		return false
	}
	dir, err := os.MkdirTemp("/dev/shm", "krometrail-grave-") //nolint:usetesting // in memory where there is some
	if err != nil {
		dir = t.TempDir()
	}
	defer os.RemoveAll(dir)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "root"), os.DirFS(g.root)))
	verifyRecovery(t, filepath.Join(dir, "root"))
	return true
}

// verifyRecovery opens what a killed process left: nothing that was accepted is lost, every frame can be read, the
// books agree with the disk, and the second opening finds nothing to do.
func verifyRecovery(t *testing.T, root string) {
	t.Helper()
	open := func() (*storage.Store, storage.RecoveryReport) {
		store, report, err := storage.Open(root, storage.Options{Clock: clock.System(), Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		return store, report
	}
	store, report := open()
	require.False(t, report.Cleared)
	require.Zero(t, report.LostFrames+report.LostSegments+report.LostArtifacts, "%+v", report)
	sessions, err := store.Sessions(t.Context())
	require.NoError(t, err)
	for _, s := range sessions {
		readSession(t, store, s)
	}
	status, err := store.Retention(t.Context())
	require.NoError(t, err)
	require.Equal(t, diskBytes(t, root), status.UsedBytes, "%+v", report)
	require.NoError(t, store.Close(t.Context()))
	store, report = open()
	require.True(t, report.Empty(), "%+v", report)
	require.NoError(t, store.Close(t.Context()))
}

func readSession(t *testing.T, store *storage.Store, s record.Session) {
	t.Helper()
	targets, err := store.Targets(t.Context(), s.ID)
	require.NoError(t, err)
	for _, target := range targets {
		w := record.Window{SessionID: s.ID, TargetID: target.ID, EndNS: clock.SessionTime(1<<63 - 1)}
		frames, _, err := store.Frames(t.Context(), w, 0, 0)
		require.NoError(t, err)
		for _, f := range frames {
			_, err := store.Pixels(t.Context(), f)
			require.NoError(t, err, "frame %d", f.Ordinal)
		}
	}
}

func diskBytes(t *testing.T, root string) int64 {
	t.Helper()
	var sum int64
	walk(t, root, func(path string, d fs.DirEntry) {
		info, err := d.Info()
		require.NoError(t, err)
		sum += info.Size()
	})
	return sum
}

// contents are the digests of all files of a root at rest.
func contents(t *testing.T, root string) map[string][sha256.Size]byte {
	t.Helper()
	files := map[string][sha256.Size]byte{}
	walk(t, root, func(path string, _ fs.DirEntry) {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		files[path] = sha256.Sum256(content)
	})
	return files
}

func walk(t *testing.T, root string, file func(path string, d fs.DirEntry)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			file(path, d)
		}
		return err
	}))
}

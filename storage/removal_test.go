package storage_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/faultfs"
)

// Each row makes one operation fail while evidence is removed: by eviction under pressure, and by deleting a session
// that has an artifact. The removal is decided in the index, so it holds; what still lies on the disk counts until it
// is gone, recording goes on, and the next opening finishes what is left.
func TestRemovalThatFailsIsFinishedLater(t *testing.T) {
	for _, c := range []struct {
		name  string
		match func(faultfs.Call) bool
		err   error
	}{
		{"remove a segment", is(faultfs.Remove, "segments"), syscall.EIO},
		{"remove a segment, permission", is(faultfs.Remove, "segments"), fs.ErrPermission},
		{"sync the segments", is(faultfs.SyncDir, "segments"), syscall.EIO},
		{"list an artifact", is(faultfs.List, "artifacts"), syscall.EIO},
		{"remove a file of an artifact", is(faultfs.Remove, "artifacts"), syscall.EIO},
		{"sync the artifacts", is(faultfs.SyncDir, "artifacts"), syscall.EIO},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, tree := faulty(t)
			b.fill(6)
			f := b.append(time.Hour, 1000)
			_, _, err := b.store.PublishArtifact(t.Context(), record.Artifact{SessionID: b.session, CacheKey: "k", Sources: []id.Frame{f.ID}}, strings.NewReader("bytes"), []byte("{}"))
			require.NoError(t, err)
			require.NoError(t, end(b))
			gone := b.session
			b.session, b.target = id.New[id.Session](), id.New[id.Target]()
			b.begin(b.session, b.target)
			kept := b.append(2*time.Hour, 1000)
			tree.SetHook(faultfs.FailNth(1, c.match, c.err))
			_, err = b.store.DeleteSession(t.Context(), gone)
			require.NoError(t, err)
			_, err = b.store.Frame(t.Context(), f.ID)
			require.Equal(t, fault.EvidenceInvalidated, code(err))
			b.requireAccounting()
			b.append(3*time.Hour, 1000)
			b.requireReadable(kept)

			tree.SetHook(nil)
			require.NoError(t, b.store.Close(t.Context()))
			report := b.open()
			require.Zero(t, report.LostFrames+report.LostSegments+report.LostArtifacts)
			_, err = b.store.Session(t.Context(), gone)
			require.Equal(t, fault.NotFound, code(err))
			b.requireReadable(kept)
			b.requireAccounting()
			require.True(t, b.reopen().Empty())
		})
	}
}

// Evicting under pressure while nothing can be unlinked never takes the store above its share and does not give all
// evidence up for nothing: recording pauses, says so, and goes on as soon as the disk does.
func TestEvictionThatCannotUnlinkPausesRecording(t *testing.T) {
	b, tree := faulty(t, budget(storage.MinBudget))
	kept := b.fill(8)
	tree.SetHook(faultfs.FailNth(1, is(faultfs.Remove, "segments"), syscall.EIO))
	var err error
	for n := 0; err == nil && n < 500; n++ {
		b.clock.Advance(time.Second)
		_, err = b.store.AppendFrame(t.Context(), b.frame(time.Duration(b.ordinal)*time.Second), payload(mib/4))
		require.LessOrEqual(t, diskBytes(t, b.root), int64(storage.MinBudget))
	}
	require.Equal(t, fault.BudgetExhausted, code(err))
	require.True(t, b.status().RecordingBlocked)
	for range 100 {
		_, err := b.store.AppendFrame(t.Context(), b.frame(time.Duration(b.ordinal)*time.Second), payload(mib/4))
		require.Equal(t, fault.BudgetExhausted, code(err))
	}
	b.requireAccounting()
	oldest := b.retained()
	require.Greater(t, oldest.Frames, 20, "what could not make room was kept")
	tree.SetHook(nil)
	b.fill(4)
	require.False(t, b.status().RecordingBlocked)
	b.requireAccounting()
	_, err = b.store.Frame(t.Context(), kept[0].ID)
	require.Equal(t, fault.RangeNotRetained, code(err))
	require.NoError(t, end(b))
	require.True(t, b.reopen().Empty())
}

// What Open removes may fail too: it says so, and the next one goes on.
func TestSweepingThatFailsIsRepeated(t *testing.T) {
	for _, c := range []struct {
		name  string
		match func(faultfs.Call) bool
	}{
		{"list the scratch folder", is(faultfs.List, storage.ScratchDir)},
		{"remove from the scratch folder", is(faultfs.Remove, storage.ScratchDir)},
		{"remove a stray", is(faultfs.Remove, "segments")},
		{"remove what was listed", is(faultfs.Remove, "artifacts")},
		{"sync of the directory", is(faultfs.SyncDir, "artifacts")},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, tree := faulty(t)
			kept := b.append(0, 1500)
			a, _, err := b.store.PublishArtifact(t.Context(), record.Artifact{SessionID: b.session, CacheKey: "k", Sources: []id.Frame{kept.ID}}, strings.NewReader("bytes"), []byte("{}"))
			require.NoError(t, err)
			b.barrier()
			other := id.New[id.Session]()
			b.begin(other, id.New[id.Target]())
			tree.SetHook(faultfs.FailNth(1, is(faultfs.Remove, "artifacts"), syscall.EIO))
			_, err = b.store.DeleteSession(t.Context(), b.session) // stays listed
			require.NoError(t, err)
			require.NoError(t, b.store.Close(t.Context()))
			for _, name := range []string{storage.ScratchDir + "/.clip-1.mp4", "segments/stray"} {
				require.NoError(t, os.WriteFile(filepath.Join(b.root, name), []byte("left"), 0o600))
			}

			b.options.FS.(*reopening).attach(t, b.root)
			tree.SetHook(faultfs.FailNth(1, c.match, syscall.EIO))
			_, _, err = storage.Open(b.root, b.options)
			require.Equal(t, fault.PersistenceFailed, code(err), "%v", err)
			tree.SetHook(nil)
			report := b.open()
			require.False(t, report.Cleared)
			require.Positive(t, report.RemovedFiles)
			_, err = b.store.Artifact(t.Context(), a.ID)
			require.Error(t, err)
			b.requireAccounting()
			require.True(t, b.reopen().Empty())
		})
	}
}

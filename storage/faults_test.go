//go:build unix

package storage_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/faultfs"
)

// faulty gives the bench a faulting file system on its root.
func faulty(t *testing.T, change ...func(*storage.Options)) (*bench, *faultfs.FS) {
	t.Helper()
	tree := &reopening{FS: faultfs.New(nil)}
	return newBench(t, append(change, func(o *storage.Options) { o.FS = tree })...), tree.FS
}

// reopening gives one faulting file system a fresh tree for each opening of the store, which closes it.
type reopening struct{ *faultfs.FS }

func (r *reopening) attach(t testing.TB, root string) {
	tree, err := disk.OpenDir(root)
	require.NoError(t, err)
	r.FS.FS = tree
}

func is(op faultfs.Op, folder string) func(faultfs.Call) bool {
	return func(c faultfs.Call) bool { return c.Op == op && c.In(folder) }
}

func end(b *bench) error {
	return b.store.EndSession(b.t.Context(), record.Session{ID: b.session, StartedAt: startWall, EndedAt: new(b.clock.Wall())})
}

func appendOne(b *bench) error {
	_, err := b.store.AppendFrame(b.t.Context(), b.frame(time.Second), text(picture(8, 8, 2000)))
	return err
}

// fiveMiB makes the store flush.
func fiveMiB(b *bench) error {
	for range 5 {
		if _, err := b.store.AppendFrame(b.t.Context(), b.frame(time.Second), payload(1<<20)); err != nil {
			return err
		}
	}
	if err := end(b); err != nil {
		return err
	}
	return errors.New("no failure was reported")
}

// Each row makes one operation of the file system fail while the store does something, after one frame was
// stored and (where kept says so) its session ended.
func TestEveryOperationThatCanFail(t *testing.T) {
	const usable, terminal = "writer_usable", "writer_terminal"
	for _, c := range []struct {
		name           string
		before         func(*bench) error // brings the store into the state in which the operation happens
		match          func(faultfs.Call) bool
		fault          faultfs.Fault
		do             func(*bench) error
		op, category   string
		recoverability string
		truncated      int64 // bytes that recovery cuts
	}{
		{name: "create, disk full", before: end, match: is(faultfs.Create, "segments"), fault: faultfs.Fault{Err: syscall.ENOSPC}, do: appendOne, op: "create", category: "storage_full", recoverability: usable},
		{name: "create, permission", before: end, match: is(faultfs.Create, "segments"), fault: faultfs.Fault{Err: fs.ErrPermission}, do: appendOne, op: "create", category: "permission", recoverability: usable},
		{name: "create, too many files", before: end, match: is(faultfs.Create, "segments"), fault: faultfs.Fault{Err: syscall.EMFILE}, do: appendOne, op: "create", category: "limit", recoverability: usable},
		{name: "write of the header", before: end, match: is(faultfs.Write, "segments"), fault: faultfs.Fault{Err: syscall.EIO, Short: 10}, do: appendOne, op: "write", category: "io", recoverability: terminal},
		{name: "write, disk full", match: is(faultfs.Write, "segments"), fault: faultfs.Fault{Err: syscall.ENOSPC}, do: appendOne, op: "write", category: "storage_full", recoverability: terminal},
		{name: "write, quota", match: is(faultfs.Write, "segments"), fault: faultfs.Fault{Err: syscall.EDQUOT}, do: appendOne, op: "write", category: "storage_full", recoverability: terminal},
		{name: "short write in a header", match: is(faultfs.Write, "segments"), fault: faultfs.Fault{Err: syscall.EIO, Short: 7}, do: appendOne, op: "write", category: "io", recoverability: terminal, truncated: 7},
		{name: "short write in a payload", match: is(faultfs.Write, "segments"), fault: faultfs.Fault{Err: syscall.EIO, Short: 777}, do: appendOne, op: "write", category: "io", recoverability: terminal, truncated: 777},
		{name: "flush", match: is(faultfs.Datasync, "segments"), fault: faultfs.Fault{Err: syscall.EIO}, do: fiveMiB, op: "flush", category: "io", recoverability: terminal},
		{name: "seal record", match: is(faultfs.Write, "segments"), fault: faultfs.Fault{Err: syscall.ENOSPC, Short: 5}, do: end, op: "write", category: "storage_full", recoverability: terminal, truncated: 5},
		{name: "sync of the sealed file", match: is(faultfs.Sync, "segments"), fault: faultfs.Fault{Err: syscall.EIO}, do: end, op: "sync", category: "io", recoverability: terminal},
		{name: "rename to the sealed name", match: is(faultfs.Rename, "segments"), fault: faultfs.Fault{Err: syscall.EIO}, do: end, op: "rename", category: "io", recoverability: terminal},
		{name: "sync of the directory", match: is(faultfs.SyncDir, "segments"), fault: faultfs.Fault{Err: syscall.EIO}, do: end, op: "sync_directory", category: "io", recoverability: usable},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, tree := faulty(t)
			kept := b.append(0, 1500)
			if c.before != nil {
				require.NoError(t, c.before(b))
			}
			tree.SetHook(func(call faultfs.Call) faultfs.Fault {
				if c.match(call) {
					return c.fault
				}
				return faultfs.Fault{}
			})
			requirePersistence(t, c.do(b), c.op, c.category, c.recoverability)
			requirePersistence(t, b.status().Failure, c.op, c.category, c.recoverability)
			tree.SetHook(nil)

			// What was stored stays readable in every case, and the writer says what it can still do.
			b.barrier()
			b.requireReadable(kept)
			err := appendOne(b)
			if c.recoverability == usable {
				require.NoError(t, err)
			} else {
				requirePersistence(t, err, c.op, c.category, terminal)
				requirePersistence(t, b.store.Put(t.Context(), record.Marker{ID: id.New[id.Marker](), SessionID: b.session}), c.op, c.category, terminal)
				requirePersistence(t, end(b), c.op, c.category, terminal)
			}

			// The next opening keeps it too.
			closing := b.store.Close(t.Context())
			require.Equal(t, c.recoverability == terminal, closing != nil, "%v", closing)
			report := b.open()
			require.Equal(t, c.truncated, report.TruncatedBytes)
			require.Zero(t, report.LostFrames+report.LostSegments)
			b.requireReadable(kept)
			require.NoError(t, appendOne(b))
			b.requireAccounting()
			require.True(t, b.reopen().Empty(), "the second opening repairs nothing")
			b.requireReadable(kept)
		})
	}
}

func requirePersistence(t *testing.T, err error, op, category, recoverability string) {
	t.Helper()
	f := fault.From(err)
	require.NotNil(t, f)
	require.Equal(t, fault.PersistenceFailed, f.Code, "%v", err)
	require.Equal(t, fault.Persistence{Operation: op, Category: category, Recoverability: recoverability}, *f.Persistence)
	for _, leak := range []string{"segments", "seg_", "/", "injected", "input/output", "no space"} {
		require.NotContains(t, strings.ToLower(f.Message+f.Recovery), leak)
	}
}

func (b *bench) requireReadable(f record.Frame) {
	b.t.Helper()
	read, err := b.store.Frame(b.t.Context(), f.ID)
	require.NoError(b.t, err)
	pixels, err := b.store.Pixels(b.t.Context(), read)
	require.NoError(b.t, err)
	require.Len(b.t, pixels, int(f.Bytes))
}

// requireAccounting compares the store's idea of its size with the files' sizes, at rest.
func (b *bench) requireAccounting() {
	b.t.Helper()
	b.barrier()
	require.EventuallyWithT(b.t, func(c *assert.CollectT) { // a segment may be on its way to being sealed
		assert.Equal(c, diskBytes(b.t, b.root), b.status().UsedBytes)
	}, patience, time.Millisecond)
}

func TestDirectorySyncRejectsOneAppendAndTheNextMakesANewSegment(t *testing.T) {
	b, tree := faulty(t)
	first := b.append(0, 1000)
	tree.SetHook(faultfs.FailNth(1, is(faultfs.SyncDir, "segments"), syscall.EIO))
	b.clock.Advance(time.Minute) // due for rotation
	second := b.append(time.Minute, 1000)
	require.NotEqual(t, first.SegmentID, second.SegmentID)
	require.Eventually(t, func() bool { return b.status().Failure != nil }, patience, time.Millisecond)
	tree.SetHook(nil)
	requirePersistence(t, appendOne(b), "sync_directory", "io", "writer_usable")
	third := b.append(2*time.Minute, 1000)
	b.barrier()
	for _, f := range []record.Frame{first, second, third} {
		b.requireReadable(f)
	}
	require.NoError(t, end(b))
	require.True(t, b.reopen().Empty(), "the sealed file was authoritative all along")
}

func TestArtifactFailuresLeaveTheWriterUsableAndNothingBehind(t *testing.T) {
	for _, c := range []struct {
		name  string
		match func(faultfs.Call) bool
		op    string
	}{
		{"folder", is(faultfs.Mkdir, "artifacts"), "create"},
		{"file", is(faultfs.Create, "artifacts"), "create"},
		{"write", is(faultfs.Write, "artifacts"), "write"},
		{"sync", is(faultfs.Sync, "artifacts"), "sync"},
		{"sync of the folder", is(faultfs.SyncDir, "artifacts"), "sync_directory"},
		{"rename", is(faultfs.Rename, "artifacts"), "rename"},
		{"sync of the directory", func(c faultfs.Call) bool { return c.Op == faultfs.SyncDir && c.Name == "artifacts" }, "sync_directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, tree := faulty(t)
			f := b.append(0, 1000)
			publish := func() error {
				_, _, err := b.store.PublishArtifact(t.Context(), record.Artifact{SessionID: b.session, CacheKey: "k", Sources: []id.Frame{f.ID}}, strings.NewReader("bytes"), []byte("{}"))
				return err
			}
			tree.SetHook(faultfs.FailNth(1, c.match, syscall.ENOSPC))
			requirePersistence(t, publish(), c.op, "storage_full", "writer_usable")
			tree.SetHook(nil)
			_, ok, err := b.store.FindArtifact(t.Context(), "k")
			require.NoError(t, err)
			require.False(t, ok)
			b.requireAccounting()
			require.NoError(t, publish())
			b.requireAccounting()
			require.True(t, b.reopen().Empty())
		})
	}
}

func TestOpenThatFailsLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		match func(faultfs.Call) bool
	}{
		{"list segments", is(faultfs.List, "segments")},
		{"list artifacts", is(faultfs.List, "artifacts")},
		{"open a segment", is(faultfs.Open, "segments")},
		{"read a segment", is(faultfs.Read, "segments")},
		{"size of a segment", is(faultfs.Size, "segments")},
		{"truncate", is(faultfs.Truncate, "segments")},
		{"seal record", is(faultfs.Write, "segments")},
		{"sync", is(faultfs.Sync, "segments")},
		{"rename", is(faultfs.Rename, "segments")},
		{"sync of the directory", is(faultfs.SyncDir, "segments")},
		{"read the index header", is(faultfs.Open, "index.db")},
		{"size of the index", is(faultfs.Size, "index.db")},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, tree := faulty(t)
			kept := b.append(0, 1500)
			tree.SetHook(func(call faultfs.Call) faultfs.Fault {
				if call.Op == faultfs.Write && call.In("segments") {
					return faultfs.Fault{Err: syscall.EIO, Short: 100}
				}
				return faultfs.Fault{}
			})
			require.Error(t, appendOne(b)) // leaves an open segment with a torn record
			require.Error(t, b.store.Close(t.Context()))

			tree.SetHook(faultfs.FailNth(1, c.match, syscall.EIO))
			b.options.FS.(*reopening).attach(t, b.root)
			_, _, err := storage.Open(b.root, b.options)
			require.Equal(t, fault.PersistenceFailed, code(err), "%v", err)
			tree.SetHook(nil)
			report := b.open()
			require.False(t, report.Cleared)
			b.requireReadable(kept)
			b.requireAccounting()
		})
	}
}

func TestAFailedReadCanBeRepeated(t *testing.T) {
	b, tree := faulty(t)
	f := b.append(0, 1500)
	b.barrier()
	tree.SetHook(faultfs.FailNth(1, is(faultfs.Read, "segments"), syscall.EIO))
	_, err := b.store.Pixels(t.Context(), f)
	require.Equal(t, fault.PersistenceFailed, code(err))
	tree.SetHook(nil)
	b.requireReadable(f)
}

// Appends at 30 frames a second never meet a device that takes 200 ms for each sync: the hook blocks every sync
// until the frames are stored, so an append that waited for one would never return.
func TestAppendsDoNotWaitForTheDevice(t *testing.T) {
	b, tree := faulty(t)
	release := make(chan struct{})
	tree.SetHook(func(c faultfs.Call) faultfs.Fault {
		if c.Op == faultfs.Sync || c.Op == faultfs.Datasync || c.Op == faultfs.SyncDir {
			<-release
		}
		return faultfs.Fault{}
	})
	var frames []record.Frame
	segments := map[id.Segment]bool{}
	for i := range 300 {
		f := b.append(time.Duration(i)*time.Second/30, 50_000)
		frames, segments[f.SegmentID] = append(frames, f), true
		b.clock.Advance(time.Second / 3) // ten times as fast as real, to see a rotation
	}
	require.Len(t, segments, 2)
	close(release)
	b.barrier()
	facts, err := b.store.Within(t.Context(), b.window(0, time.Hour))
	require.NoError(t, err)
	require.Empty(t, facts.Gaps)
	for _, f := range frames {
		b.requireReadable(f)
	}
}

//go:build unix

package storage_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
)

func TestMain(m *testing.M) {
	if runCrashChild() || runMemberChild() || runHostileChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait for what has to happen; nothing is measured by it.
const patience = time.Minute

// bench is a store in a directory of its own with one session and one target.
type bench struct {
	t       testing.TB
	root    string
	clock   *coretest.Clock
	store   *storage.Store
	session id.Session
	target  id.Target
	ordinal uint64
	options storage.Options
}

func quietLogger() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func newBenchClock() *coretest.Clock { return coretest.NewClock(startWall) }

var startWall = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newBench(t testing.TB, change ...func(*storage.Options)) *bench {
	t.Helper()
	b := &bench{t: t, root: rootFor(t), clock: coretest.NewClock(startWall), session: id.New[id.Session](), target: id.New[id.Target]()}
	b.options = storage.Options{Clock: b.clock, Logger: quietLogger(), BudgetBytes: 1 << 30}
	for _, c := range change {
		c(&b.options)
	}
	report := b.open()
	require.True(t, report.Empty())
	t.Cleanup(func() { _ = b.store.Close(context.WithoutCancel(t.Context())) })
	b.begin(b.session, b.target)
	return b
}

// rootFor is a directory in memory for tests, which prove nothing about devices, and on the disk for benchmarks.
func rootFor(t testing.TB) string {
	if _, measuring := t.(*testing.B); measuring {
		return t.TempDir()
	}
	return memoryDir(t)
}

func (b *bench) open() storage.RecoveryReport {
	b.t.Helper()
	if late, ok := b.options.FS.(interface{ attach(testing.TB, string) }); ok {
		late.attach(b.t, b.root)
	}
	store, report, err := storage.Open(b.root, b.options)
	require.NoError(b.t, err)
	b.store = store
	return report
}

func (b *bench) reopen() storage.RecoveryReport {
	b.t.Helper()
	require.NoError(b.t, b.store.Close(b.t.Context()))
	return b.open()
}

func (b *bench) begin(s id.Session, target id.Target) {
	b.t.Helper()
	require.NoError(b.t, b.store.Put(b.t.Context(), record.Session{ID: s, StartedAt: b.clock.Wall()}, record.Target{ID: target, SessionID: s}))
}

// picture is a small JPEG followed by padding, so that frames of any size are cheap to make.
func picture(w, h, size int) []byte {
	img := image.NewGray(image.Rect(0, 0, w, h))
	img.SetGray(0, 0, color.Gray{Y: 200})
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		panic(err)
	}
	if out.Len() < size {
		out.Write(make([]byte, size-out.Len()))
	}
	return out.Bytes()
}

func text(encoded []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(encoded)) }

func (b *bench) frame(at time.Duration) record.Frame {
	b.ordinal++
	presented := clock.SessionTime(at)
	return record.Frame{
		ID: id.New[id.Frame](), SessionID: b.session, TargetID: b.target, Ordinal: b.ordinal,
		ReceivedNS: clock.SessionTime(at + 20*time.Millisecond), PresentedNS: &presented,
		Viewport: record.Viewport{Width: 1280, Height: 720, DeviceScale: 1},
	}
}

// payloads remembers encoded pictures by size: making them costs more than storing them.
var payloads sync.Map

func payload(size int) []byte {
	if v, ok := payloads.Load(size); ok {
		return v.([]byte)
	}
	v, _ := payloads.LoadOrStore(size, text(picture(16, 9, size)))
	return v.([]byte)
}

func (b *bench) append(at time.Duration, size int) record.Frame {
	b.t.Helper()
	f, err := b.store.AppendFrame(b.t.Context(), b.frame(at), payload(size))
	require.NoError(b.t, err)
	return f
}

func (b *bench) window(from, to time.Duration) record.Window {
	return record.Window{SessionID: b.session, TargetID: b.target, StartNS: clock.SessionTime(from), EndNS: clock.SessionTime(to)}
}

func (b *bench) barrier() {
	b.t.Helper()
	require.NoError(b.t, b.store.Barrier(b.t.Context()))
}

// diskBytes sums the sizes of all files of the root.
func diskBytes(t testing.TB, root string) int64 {
	t.Helper()
	var sum int64
	require.NoError(t, filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // being sealed or removed at this moment
			return nil
		}
		sum += info.Size()
		return err
	}))
	return sum
}

func (b *bench) status() record.RetentionStatus {
	b.t.Helper()
	status, err := b.store.Retention(b.t.Context())
	require.NoError(b.t, err)
	return status
}

func code(err error) fault.Code { return fault.CodeOf(err) }

func TestFrameRoundTrip(t *testing.T) {
	b := newBench(t)
	encoded := picture(32, 18, 3000)
	want := b.frame(time.Second)
	want.ChromeTimestamp, want.Warnings = 1764500000.25, []string{record.WarnViewportPending}
	got, err := b.store.AppendFrame(t.Context(), want, text(encoded))
	require.NoError(t, err)
	require.Equal(t, "jpeg", got.Format)
	require.Equal(t, [2]int{32, 18}, [2]int{got.Width, got.Height})
	require.NotEmpty(t, got.SegmentID)
	b.barrier()

	read, err := b.store.Frame(t.Context(), got.ID)
	require.NoError(t, err)
	require.Equal(t, got, read)
	for _, state := range []string{"open", "sealed", "reopened"} {
		pixels, err := b.store.Pixels(t.Context(), read)
		require.NoError(t, err, state)
		require.Equal(t, encoded, pixels, state)
		switch state {
		case "open":
			require.NoError(t, b.store.EndSession(t.Context(), record.Session{ID: b.session, StartedAt: startWall, EndedAt: &startWall}))
		case "sealed":
			require.True(t, b.reopen().Empty())
		}
	}
	require.Equal(t, diskBytes(t, b.root), b.status().UsedBytes)
}

func TestRangeUsesPresentedTimeAndOrdinalOrder(t *testing.T) {
	b := newBench(t)
	early := b.append(100*time.Millisecond, 0)
	late := b.append(300*time.Millisecond, 0)
	between := b.append(200*time.Millisecond, 0) // delivered after, presented before
	b.barrier()
	frames, total, err := b.store.Frames(t.Context(), b.window(150*time.Millisecond, 400*time.Millisecond), 0, 0)
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, []id.Frame{late.ID, between.ID}, []id.Frame{frames[0].ID, frames[1].ID})
	frames, total, err = b.store.Frames(t.Context(), b.window(0, time.Second), 1, 1)
	require.NoError(t, err)
	require.Equal(t, 3, total)
	require.Equal(t, late.ID, frames[0].ID)

	baseline, ok, err := b.store.CarryIn(t.Context(), b.session, b.target, clock.SessionTime(150*time.Millisecond))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, early.ID, baseline.ID)
	_, ok, err = b.store.CarryIn(t.Context(), b.session, b.target, clock.SessionTime(100*time.Millisecond))
	require.NoError(t, err)
	require.False(t, ok, "a frame at the time itself is not before it")
	kept, err := b.store.Retained(t.Context(), b.session, b.target)
	require.NoError(t, err)
	require.Equal(t, record.Retained{Frames: 3, OldestNS: clock.SessionTime(100 * time.Millisecond), NewestNS: clock.SessionTime(300 * time.Millisecond)}, kept)
}

func TestAppendRefusesWhatItCannotStore(t *testing.T) {
	b := newBench(t)
	good := text(picture(4, 4, 0))
	for name, c := range map[string]struct {
		change  func(*record.Frame)
		payload []byte
		code    fault.Code
	}{
		"not base64":       {payload: []byte("%%%"), code: fault.InvalidInput},
		"not an image":     {payload: text([]byte("hello hello hello hello hello")), code: fault.InvalidInput},
		"empty":            {payload: nil, code: fault.InvalidInput},
		"too large":        {payload: text(picture(4, 4, storage.MaxFrame+1)), code: fault.ResourceLimitExceeded},
		"bad frame id":     {change: func(f *record.Frame) { f.ID = "frm_1" }, payload: good, code: fault.InvalidInput},
		"bad session id":   {change: func(f *record.Frame) { f.SessionID = "x" }, payload: good, code: fault.InvalidInput},
		"bad target id":    {change: func(f *record.Frame) { f.TargetID = "" }, payload: good, code: fault.InvalidInput},
		"ordinal zero":     {change: func(f *record.Frame) { f.Ordinal = 0 }, payload: good, code: fault.InvalidInput},
		"ordinal twice":    {change: func(f *record.Frame) { f.Ordinal = 1 }, payload: good, code: fault.InvalidInput},
		"metadata too big": {change: func(f *record.Frame) { f.Warnings = []string{strings.Repeat("w", 70_000)} }, payload: good, code: fault.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			if b.ordinal == 0 {
				b.append(0, 0)
			}
			f := b.frame(time.Second)
			if c.change != nil {
				c.change(&f)
			}
			_, err := b.store.AppendFrame(t.Context(), f, c.payload)
			require.Equal(t, c.code, code(err), "%v", err)
		})
	}
	b.barrier()
	_, total, err := b.store.Frames(t.Context(), b.window(0, time.Hour), 0, 0)
	require.NoError(t, err)
	require.Equal(t, 1, total)
}

func TestTheLargestFrameFits(t *testing.T) {
	b := newBench(t)
	f := b.append(0, storage.MaxFrame)
	pixels, err := b.store.Pixels(t.Context(), f)
	require.NoError(t, err)
	require.Len(t, pixels, storage.MaxFrame)
}

func TestArtifactRoundTrip(t *testing.T) {
	b := newBench(t)
	f := b.append(0, 1000)
	a := record.Artifact{
		ID: id.New[id.Artifact](), SessionID: b.session, TargetID: b.target, Kind: "storyboard", MediaType: "image/png",
		Width: 10, Height: 20, CacheKey: "key", Sources: []id.Frame{f.ID},
	}
	_, ok, err := b.store.FindArtifact(t.Context(), "key")
	require.NoError(t, err)
	require.False(t, ok)
	published, warnings, err := b.store.PublishArtifact(t.Context(), a, strings.NewReader("picture"), []byte(`{"m":1}`))
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.EqualValues(t, 7, published.Bytes)
	found, ok, err := b.store.FindArtifact(t.Context(), "key")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, published.ID, found.ID)
	require.Equal(t, a.Sources, found.Sources)
	require.True(t, published.CreatedAt.Equal(found.CreatedAt))
	file, err := b.store.ReadArtifact(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, "picture", string(file))
	manifest, err := b.store.ReadManifest(t.Context(), a.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"m":1}`, string(manifest))
	again, _, err := b.store.PublishArtifact(t.Context(), a, strings.NewReader("picture"), nil)
	require.NoError(t, err)
	require.Equal(t, published.ID, again.ID, "equal keys share one artifact")
	_, err = b.store.Artifact(t.Context(), id.New[id.Artifact]())
	require.Equal(t, fault.NotFound, code(err))
	b.reopen()
	require.Equal(t, diskBytes(t, b.root), b.status().UsedBytes)
	file, err = b.store.ReadArtifact(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, "picture", string(file))
}

func TestArtifactWithoutEvidenceLeavesNothing(t *testing.T) {
	b := newBench(t)
	b.append(0, 1000)
	a := record.Artifact{SessionID: b.session, CacheKey: "key", Sources: []id.Frame{id.New[id.Frame]()}}
	_, _, err := b.store.PublishArtifact(t.Context(), a, strings.NewReader("picture"), nil)
	require.Equal(t, fault.EvidenceInvalidated, code(err))
	entries, err := os.ReadDir(filepath.Join(b.root, "artifacts"))
	require.NoError(t, err)
	require.Empty(t, entries)
	b.barrier()
	require.Equal(t, diskBytes(t, b.root), b.status().UsedBytes)
}

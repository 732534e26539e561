//go:build linux

package storage_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
)

// A real device runs full under a budget that is larger than it: what was stored stays, the failure is named, and
// with room again the next opening goes on. Mounting needs root; elsewhere the injected failures have to do.
func TestARealDiskRunsFull(t *testing.T) {
	mount := filepath.Join(t.TempDir(), "small")
	require.NoError(t, os.Mkdir(mount, 0o700))
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=12m"); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(mount, syscall.MNT_DETACH) })
	b := &bench{t: t, root: filepath.Join(mount, "root"), clock: newBenchClock(), session: "ses_000000000001", target: "tgt_000000000001"}
	require.NoError(t, os.Mkdir(b.root, 0o700))
	b.options.Clock, b.options.Logger, b.options.BudgetBytes = b.clock, quietLogger(), 1<<30
	b.open()
	b.begin(b.session, b.target)
	// Something else takes the room while we record.
	ballast := filepath.Join(mount, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 4*mib), 0o600))
	var stored []record.Frame
	var failure error
	for failure == nil {
		b.clock.Advance(time.Second)
		var f record.Frame
		if f, failure = b.store.AppendFrame(t.Context(), b.frame(time.Duration(b.ordinal)*time.Second), payload(mib/4)); failure == nil {
			stored = append(stored, f)
		}
		require.Less(t, len(stored), 48)
	}
	require.Equal(t, fault.PersistenceFailed, code(failure))
	require.Equal(t, "storage_full", fault.From(failure).Persistence.Category)
	require.NotEmpty(t, stored)
	for _, f := range stored {
		pixels, err := b.store.Pixels(t.Context(), f)
		require.NoError(t, err)
		require.Len(t, pixels, mib/4)
	}
	_ = b.store.Close(t.Context()) // may fail as the disk is full
	require.NoError(t, os.Remove(ballast))
	report := b.open()
	defer func() { require.NoError(t, b.store.Close(t.Context())) }()
	require.False(t, report.Cleared)
	require.Zero(t, report.LostFrames)
	for _, f := range stored {
		b.requireReadable(f)
	}
	b.append(time.Hour, 1000)
	b.requireAccounting()
}

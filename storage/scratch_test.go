package storage_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/storage"
)

// What a process left in the scratch folder when it was killed goes with the next opening, and never counts.
func TestUnpublishedFilesGoWithTheNextOpening(t *testing.T) {
	b := newBench(t)
	b.append(time.Second, 1000)
	require.Equal(t, filepath.Join(b.root, storage.ScratchDir), b.store.Scratch())
	for _, name := range []string{".clip-123.mp4", "other"} {
		require.NoError(t, os.WriteFile(filepath.Join(b.store.Scratch(), name), make([]byte, 5000), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(b.store.Scratch(), "folder"), 0o700))
	report := b.reopen()
	assert.Equal(t, storage.RecoveryReport{RemovedFiles: 3}, report)
	left, err := os.ReadDir(b.store.Scratch())
	require.NoError(t, err)
	assert.Empty(t, left)
	b.barrier()
	b.requireAccounting()
	require.True(t, b.reopen().Empty())
}

// A file that grows outside the store is admitted whole before it begins and counts until it is gone.
func TestAReservationCountsUntilItIsReleased(t *testing.T) {
	b := newBench(t, func(o *storage.Options) { o.BudgetBytes = 64 << 20 })
	b.barrier()
	before := b.status().UsedBytes
	granted, release, warnings, err := b.store.Reserve(1 << 20)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, int64(1<<20), granted)
	assert.Equal(t, before+granted, b.status().UsedBytes)
	release()
	release()
	assert.Equal(t, before, b.status().UsedBytes)

	granted, release, _, err = b.store.Reserve(1 << 30)
	require.NoError(t, err)
	assert.Equal(t, int64(56<<20)/8, granted, "an eighth of what evidence may use")
	release()
}

// A reservation makes room as a publication does: old evidence goes, pinned evidence does not.
func TestAReservationMakesRoomAndStopsAtPins(t *testing.T) {
	b := newBench(t, func(o *storage.Options) { o.BudgetBytes = storage.MinBudget })
	frames := b.fill(54)
	b.barrier()
	granted, release, _, err := b.store.Reserve(64 << 20)
	require.NoError(t, err)
	assert.LessOrEqual(t, b.status().UsedBytes, int64(storage.MinBudget))
	assert.Equal(t, int64(storage.MinBudget-storage.MinBudget/8)/8, granted)
	release()

	_, err = b.store.Pin(t.Context(), b.window(0, time.Duration(frames[len(frames)-1].Time())))
	require.NoError(t, err)
	_, release, _, err = b.store.Reserve(64 << 20)
	require.NoError(t, err, "what the first one held is free")
	_, _, _, err = b.store.Reserve(64 << 20)
	assert.Equal(t, fault.BudgetExhausted, code(err))
	release()
}

//go:build unix

package storage_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/index"
)

// A commit that fails ends writing. What was committed stays readable; frames whose rows were lost with it are in
// their segments, and the next opening finds them.
func TestAFailedCommitLosesNoFrame(t *testing.T) {
	b := newBench(t)
	committed := b.append(0, 1000)
	b.barrier()
	var statement string
	db, err := sql.Open("sqlite3", filepath.Join(b.root, index.Name))
	require.NoError(t, err)
	require.NoError(t, db.QueryRow(`SELECT sql FROM sqlite_schema WHERE name = 'samples'`).Scan(&statement))
	require.NoError(t, db.Close())
	sqlite(t, b.root, `DROP TABLE samples`) // any statement on it fails from now on

	require.NoError(t, b.store.Put(t.Context(), record.ClockSample{SessionID: b.session, AtNS: 1, WallNS: 2}))
	pending := b.append(1, 1000)
	requirePersistence(t, b.store.Barrier(t.Context()), "index", "unknown", "writer_terminal")
	requirePersistence(t, appendOne(b), "index", "unknown", "writer_terminal")
	requirePersistence(t, b.store.AppendEvents(t.Context(), []record.Event{{Payload: []byte("{}")}}), "index", "unknown", "writer_terminal")
	_, err = b.store.Pin(t.Context(), b.window(0, 1))
	requirePersistence(t, err, "index", "unknown", "writer_terminal")
	_, err = b.store.DeleteSession(t.Context(), b.session)
	requirePersistence(t, err, "index", "unknown", "writer_terminal")
	requirePersistence(t, b.status().Failure, "index", "unknown", "writer_terminal")
	b.requireReadable(committed)
	requirePersistence(t, b.store.Close(t.Context()), "index", "unknown", "writer_terminal")

	sqlite(t, b.root, statement)
	report := b.open()
	require.False(t, report.Cleared)
	require.Equal(t, 1, report.IndexedFrames)
	b.requireReadable(committed)
	b.requireReadable(pending)
	b.requireAccounting()
	require.True(t, b.reopen().Empty())
}

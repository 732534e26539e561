//go:build unix

package storage_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
)

// sqlite runs statements on the closed store's index.
func sqlite(t *testing.T, root string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(root, index.Name))
	require.NoError(t, err)
	defer db.Close()
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err)
	}
}

// neighbours are members of a data root that are no recording cache.
func neighbours(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	for _, name := range []string{"config.toml", "profiles/default/Cookies", "diagnostics/a.log"} {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("keep me"), 0o600))
		names = append(names, name)
	}
	return names
}

func TestAForeignIndexClearsTheCacheAndNothingElse(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, root string){
		"unversioned":     func(t *testing.T, root string) { sqlite(t, root, `PRAGMA user_version = 0`) },
		"older":           func(t *testing.T, root string) { sqlite(t, root, `PRAGMA user_version = -1`) },
		"newer":           func(t *testing.T, root string) { sqlite(t, root, `PRAGMA user_version = 2`) },
		"another program": func(t *testing.T, root string) { sqlite(t, root, `PRAGMA application_id = 7`) },
		"another schema":  func(t *testing.T, root string) { sqlite(t, root, `CREATE TABLE extra(x)`) },
		"a missing index": func(t *testing.T, root string) { sqlite(t, root, `DROP INDEX frames_by_time`) },
		"not a database":  func(t *testing.T, root string) { write(t, root, "hello") },
		"cut": func(t *testing.T, root string) {
			require.NoError(t, os.Truncate(filepath.Join(root, index.Name), 3000))
		},
		"damaged inside": damage,
		"only the log left": func(t *testing.T, root string) {
			require.NoError(t, os.Rename(filepath.Join(root, index.Name), filepath.Join(root, index.Name+"-wal")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			f := b.append(0, 1000)
			b.publish("k", 100, f)
			kept := neighbours(t, b.root)
			require.NoError(t, b.store.Close(t.Context()))
			spoil(t, b.root)

			report := b.open()
			require.Equal(t, storage.RecoveryReport{Cleared: true}, report)
			sessions, err := b.store.Sessions(t.Context())
			require.NoError(t, err)
			require.Empty(t, sessions)
			for _, dir := range []string{"segments", "artifacts"} {
				entries, err := os.ReadDir(filepath.Join(b.root, dir))
				require.NoError(t, err)
				require.Empty(t, entries)
			}
			for _, name := range kept {
				require.FileExists(t, name)
			}
			b.begin(b.session, b.target)
			b.requireReadableAfterBarrier(0)
			require.True(t, b.reopen().Empty())
		})
	}
}

func (b *bench) requireReadableAfterBarrier(size int) {
	b.t.Helper()
	f := b.append(0, size)
	b.barrier()
	b.requireReadable(f)
}

func write(t *testing.T, root, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(root, index.Name), []byte(content), 0o600))
}

// damage overwrites the page that holds the schema, behind the header.
func damage(t *testing.T, root string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(root, index.Name), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteAt(make([]byte, 3000), 100)
	require.NoError(t, err)
}

func TestACurrentIndexIsOpenedWithoutRewriting(t *testing.T) {
	b := newBench(t)
	b.append(0, 1000)
	require.NoError(t, b.store.Close(t.Context()))
	before, err := os.ReadFile(filepath.Join(b.root, index.Name))
	require.NoError(t, err)
	require.True(t, b.open().Empty())
	require.NoError(t, b.store.Close(t.Context()))
	after, err := os.ReadFile(filepath.Join(b.root, index.Name))
	require.NoError(t, err)
	require.Len(t, after, len(before))
	require.Equal(t, string(before), string(after))
}

func TestClassificationWritesNothing(t *testing.T) {
	for i, content := range []string{"", "hello", "SQLite format 3\x00"} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			root := t.TempDir()
			write(t, root, content)
			tree, err := disk.OpenDir(root)
			require.NoError(t, err)
			defer tree.Close()
			_, err = index.Classify(tree)
			require.NoError(t, err)
			entries, err := os.ReadDir(root)
			require.NoError(t, err)
			require.Len(t, entries, 1)
			after, err := os.ReadFile(filepath.Join(root, index.Name))
			require.NoError(t, err)
			require.Equal(t, content, string(after))
		})
	}
}

// Whatever the index file holds, the store opens: with what is in it, or empty.
func FuzzOpenIndex(f *testing.F) {
	root := f.TempDir()
	b := &bench{t: f, root: root, options: storage.Options{Clock: newBenchClock(), Logger: quietLogger()}}
	b.open()
	if err := b.store.Close(f.Context()); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(root, index.Name))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, 0, byte(0))
	f.Add(good[:4096], 2000, byte(1))
	f.Add([]byte("hello"), 0, byte(0))
	f.Fuzz(func(t *testing.T, content []byte, at int, value byte) {
		if len(content) > 0 {
			content[uint(at)%uint(len(content))] ^= value
		}
		root := memoryDir(t)
		write(t, root, string(content))
		store, _, err := storage.Open(root, storage.Options{Clock: newBenchClock(), Logger: quietLogger()})
		if err != nil {
			t.Fatalf("the store does not open: %v", err)
		}
		_ = store.Close(t.Context())
	})
}

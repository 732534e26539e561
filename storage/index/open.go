package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the SQLite driver; without cgo a stub that refuses to open

	"github.com/krometrail/krometrail/core/clock"
)

const (
	// BatchRows bounds how many accepted rows stay invisible without a barrier.
	BatchRows = 64
	// BatchDelay bounds how long.
	BatchDelay = 50 * time.Millisecond
	// queueLength bounds the requests between the callers and the writer; callers wait beyond it.
	queueLength = 64
	readers     = 4
	// The write-ahead log is folded back when it reaches between walMin and walMax pages.
	walMin   = 64
	walMax   = 1024
	pageSize = 4096
	cacheKiB = 16 << 10
)

// ErrSchema says that an existing database has the current version in its header and another schema inside,
// or cannot be read as a database at all.
var ErrSchema = errors.New("index: not a current database")

// ErrClosed says that the index no longer takes or gives anything.
var ErrClosed = errors.New("index: closed")

// Options are the index's dependencies.
type Options struct {
	Clock  clock.Clock
	Logger *slog.Logger
	// LogBytes is how large the write-ahead log may grow before it is folded back; it is kept within limits.
	LogBytes int64
	// Failed is called once, from the writer, when a write failed for good. It must not call the index.
	Failed func(error)
	// Step, when set, is called by the writer before and after each commit with the step's name.
	Step func(name string)
}

// Open opens the database in dir, making it when it is absent, and starts the writer. ErrSchema means that the
// caller has to clear the root first.
func Open(dir string, o Options) (*Index, error) {
	path := filepath.Join(dir, Name)
	write, err := connect(path, "_query_only=0")
	if err != nil {
		return nil, err
	}
	x := &Index{
		options: o, write: write, queue: make(chan request, queueLength), tick: make(chan struct{}, 1),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if err := x.prepare(path); err != nil {
		return nil, errors.Join(err, x.closeHandles())
	}
	go x.run()
	return x, nil
}

func connect(path, extra string) (*sql.DB, error) {
	escaped := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	db, err := sql.Open("sqlite3", "file:"+escaped+"?_busy_timeout=5000&_synchronous=NORMAL&_foreign_keys=0&"+extra)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// prepare sets the write connection up, makes or checks the schema and opens the readers. All connections are
// opened here and kept, so that nothing later depends on the path.
func (x *Index) prepare(path string) error {
	x.write.SetMaxOpenConns(1)
	x.write.SetConnMaxLifetime(0)
	conn, err := x.write.Conn(context.Background())
	if err != nil {
		return asSchemaError(err)
	}
	x.conn = conn
	x.tx = &Tx{conn: conn, statements: map[string]*sql.Stmt{}, streams: map[streamName]int64{}}
	if err := x.ensureSchema(); err != nil {
		return asSchemaError(err)
	}
	return x.openReaders(path)
}

func (x *Index) ensureSchema() error {
	if err := x.pragmas("secure_delete=ON", "temp_store=MEMORY", fmt.Sprintf("cache_size=-%d", cacheKiB)); err != nil {
		return err
	}
	found, err := x.tx.schemaText()
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return compareSchema(found)
	}
	// On a database that has content even setting this to what it is would be a write.
	if err := x.pragmas("auto_vacuum=INCREMENTAL", "journal_mode=WAL"); err != nil {
		return err
	}
	if err := x.create(); err != nil {
		return err
	}
	return x.pragmas("wal_checkpoint(TRUNCATE)")
}

// create makes the schema and the version marks in one transaction, so that a crash leaves nothing or all.
func (x *Index) create() error {
	tx, err := x.conn.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	marks := []string{fmt.Sprintf("PRAGMA application_id=%d", applicationID), fmt.Sprintf("PRAGMA user_version=%d", schemaVersion)}
	for _, statement := range append(marks, schema...) {
		if _, err := tx.ExecContext(context.Background(), statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (x *Index) pragmas(list ...string) error {
	for _, p := range list {
		rows, err := x.conn.QueryContext(context.Background(), "PRAGMA "+p)
		if err != nil {
			return err
		}
		// Some pragmas act only while their result is read.
		if _, err := collect(rows, func(*sql.Rows) (struct{}, error) { return struct{}{}, nil }); err != nil {
			return err
		}
	}
	return nil
}

func compareSchema(found []string) error {
	want := map[string]bool{}
	for _, s := range schema {
		want[s] = true
	}
	for _, s := range found {
		if !want[s] {
			return fmt.Errorf("%w: unexpected %.40q", ErrSchema, s)
		}
	}
	if len(found) != len(schema) {
		return fmt.Errorf("%w: %d of %d tables and indexes", ErrSchema, len(found), len(schema))
	}
	return nil
}

// asSchemaError marks the failures that mean "this file is no database of ours" rather than "the disk failed".
func asSchemaError(err error) error {
	for _, sign := range []string{"malformed", "not a database", "unsupported file format", "corrupt"} {
		if strings.Contains(err.Error(), sign) {
			return fmt.Errorf("%w: %w", ErrSchema, err)
		}
	}
	return err
}

func (x *Index) openReaders(path string) error {
	pages := max(walMin, min(walMax, x.options.LogBytes/pageSize))
	if err := x.pragmas(fmt.Sprintf("wal_autocheckpoint=%d", pages), fmt.Sprintf("journal_size_limit=%d", pages*pageSize)); err != nil {
		return asSchemaError(err)
	}
	read, err := connect(path, "_query_only=1")
	if err != nil {
		return err
	}
	x.read = read
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	conns := make([]*sql.Conn, 0, readers)
	for range readers {
		c, err := read.Conn(context.Background())
		if err != nil {
			return err
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		if err := c.Close(); err != nil { // back to the pool
			return err
		}
	}
	return nil
}

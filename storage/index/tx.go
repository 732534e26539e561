package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
)

// streamName is one target's stream in a session; an empty target stands for the session itself.
type streamName struct{ session, target string }

// Tx is the writer's side of one transaction. It is valid only inside the function it was given to.
type Tx struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	streams    map[streamName]int64
	checkpoint bool
	vacuum     int
}

// Checkpoint folds the log into the database and cuts it, after the transaction.
func (t *Tx) Checkpoint() { t.checkpoint = true }

// Vacuum gives up to n free pages back to the file system, after the transaction.
func (t *Tx) Vacuum(n int) { t.vacuum = n }

// run executes work between begin and commit; any error rolls back. beforeCommit marks the step.
func (t *Tx) run(work func(*Tx) error, beforeCommit func()) error {
	if _, err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err := work(t)
	if err == nil {
		beforeCommit()
		_, err = t.exec(`COMMIT`)
	}
	if err != nil {
		// Keys of streams that this transaction made are gone with it.
		clear(t.streams)
		_, rollback := t.exec(`ROLLBACK`)
		if rollback != nil && !isDatabase(rollback) {
			return errors.Join(err, rollback)
		}
	}
	return err
}

// stmt returns the prepared form of query. Queries are constants, so their number is bounded by the code.
func (t *Tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.statements[query]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.statements[query] = s
	return s, nil
}

func (t *Tx) exec(query string, args ...any) (int64, error) {
	s, err := t.stmt(query) //nolint:sqlclosecheck // kept for the next call; close closes all
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *Tx) query(query string, args ...any) (*sql.Rows, error) {
	s, err := t.stmt(query) //nolint:sqlclosecheck // kept for the next call; close closes all
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), args...)
}

// one scans a single row; ok is false when there is none.
func (t *Tx) one(query string, args []any, into ...any) (ok bool, err error) {
	s, err := t.stmt(query) //nolint:sqlclosecheck // kept for the next call; close closes all
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(context.Background(), args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// stream returns the key of a stream, making its row when it is new.
func (t *Tx) stream(session, target string) (int64, error) {
	name := streamName{session, target}
	if key, ok := t.streams[name]; ok {
		return key, nil
	}
	if _, err := t.exec(`INSERT INTO streams(session, target) VALUES(?, ?) ON CONFLICT DO NOTHING`, session, target); err != nil {
		return 0, err
	}
	var key int64
	if _, err := t.one(`SELECT key FROM streams WHERE session = ? AND target = ?`, []any{session, target}, &key); err != nil {
		return 0, err
	}
	t.streams[name] = key
	return key, nil
}

func (t *Tx) schemaText() ([]string, error) {
	rows, err := t.query(`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	return collect(rows, scanOne[string])
}

func (t *Tx) close() error {
	var errs []error
	for _, s := range t.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// collect reads all rows and closes them.
func collect[T any](rows *sql.Rows, scan func(*sql.Rows) (T, error)) ([]T, error) {
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

func scanBody[T any](r *sql.Rows) (v T, err error) {
	var body []byte
	if err := r.Scan(&body); err != nil {
		return v, err
	}
	return decode[T](body)
}

// encode renders a value of the recording vocabulary, which always has a JSON form.
func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

func decode[T any](text []byte) (v T, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}

// scanOne reads the only column of a row.
func scanOne[T any](r *sql.Rows) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

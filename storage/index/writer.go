package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/krometrail/krometrail/core/clock"
)

// Index is an open database with its writer. All methods may be called concurrently.
type Index struct {
	options Options
	write   *sql.DB
	conn    *sql.Conn
	read    *sql.DB
	tx      *Tx // used by the writer goroutine only, after Open

	queue   chan request
	tick    chan struct{}
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once

	mu      sync.Mutex // guards failure
	failure error
}

// Row is one accepted change that may wait for its batch.
type Row interface {
	apply(tx *Tx) error
}

// request is either rows for the batch or work that runs alone and is answered.
type request struct {
	rows   []Row
	work   func(*Tx) error
	answer chan error
}

// Enqueue accepts rows in order. It waits while the queue is full and returns the writer's terminal failure
// once there is one.
func (x *Index) Enqueue(ctx context.Context, rows ...Row) error {
	return x.send(ctx, request{rows: rows})
}

// Do runs work in one transaction of its own, after everything accepted before, and returns its error. An
// error rolls back; it is terminal for the index only when it comes from the database.
func (x *Index) Do(ctx context.Context, work func(*Tx) error) error {
	answer := make(chan error, 1)
	if err := x.send(ctx, request{work: work, answer: answer}); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-x.stopped:
		return errors.Join(ErrClosed, x.Failure())
	}
}

// Barrier returns once everything accepted before is visible to readers.
func (x *Index) Barrier(ctx context.Context) error {
	return x.Do(ctx, func(*Tx) error { return nil })
}

// Checkpoint makes everything accepted before durable in the database file and cuts the log.
func (x *Index) Checkpoint(ctx context.Context) error {
	return x.Do(ctx, func(tx *Tx) error { tx.Checkpoint(); return nil })
}

// Failure is the error that ended writing, nil while all is well.
func (x *Index) Failure() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failure
}

func (x *Index) send(ctx context.Context, r request) error {
	if err := x.Failure(); err != nil {
		return err
	}
	select {
	case <-x.stop:
		return ErrClosed
	default:
	}
	select {
	case x.queue <- r:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-x.stop:
		return ErrClosed
	}
}

// Close commits what was accepted, stops the writer and closes the database. Further calls wait for the first.
func (x *Index) Close() error {
	var err error
	x.once.Do(func() {
		close(x.stop)
		<-x.stopped
		err = errors.Join(x.Failure(), x.closeHandles())
	})
	<-x.stopped
	return err
}

func (x *Index) closeHandles() error {
	var errs []error
	if x.tx != nil {
		errs = append(errs, x.tx.close())
	}
	if x.conn != nil {
		errs = append(errs, x.conn.Close())
	}
	if x.read != nil {
		errs = append(errs, x.read.Close())
	}
	return errors.Join(append(errs, x.write.Close())...)
}

// run is the writer: it owns the write connection and the batch.
func (x *Index) run() {
	defer close(x.stopped)
	var batch []Row
	var timer clock.Timer
	flush := func() {
		if timer != nil {
			timer.Stop()
			timer = nil
		}
		x.commit(batch)
		batch = batch[:0]
	}
	for {
		select {
		case r := <-x.queue:
			batch = append(batch, r.rows...)
			if r.work != nil {
				flush()
				r.answer <- x.alone(r.work)
				continue
			}
			if len(batch) >= BatchRows {
				flush()
			} else if timer == nil {
				timer = x.options.Clock.AfterFunc(BatchDelay, x.wake)
			}
		case <-x.tick:
			flush()
		case <-x.stop:
			x.drain(&batch)
			flush()
			return
		}
	}
}

func (x *Index) wake() {
	select {
	case x.tick <- struct{}{}:
	default:
	}
}

// drain takes what was accepted before the stop.
func (x *Index) drain(batch *[]Row) {
	for {
		select {
		case r := <-x.queue:
			*batch = append(*batch, r.rows...)
			if r.work != nil {
				x.commit(*batch)
				*batch = (*batch)[:0]
				r.answer <- x.alone(r.work)
			}
		default:
			return
		}
	}
}

// commit writes one batch. When it fails, the rows are tried one by one: one that is to blame itself is dropped and
// logged, a database that fails ends writing.
func (x *Index) commit(batch []Row) {
	if len(batch) == 0 || x.Failure() != nil {
		return
	}
	apply := func(rows []Row) func(*Tx) error {
		return func(tx *Tx) error {
			for _, r := range rows {
				if err := r.apply(tx); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if x.transact(apply(batch)) == nil {
		return
	}
	for i := range batch {
		err := x.transact(apply(batch[i : i+1]))
		if err == nil {
			continue
		}
		if isDatabase(err) && !isConstraint(err) {
			x.fail(err)
			return
		}
		x.options.Logger.Error("index refused a row", "cause", err)
	}
}

// alone runs work in its own transaction; only database errors are terminal.
func (x *Index) alone(work func(*Tx) error) error {
	if err := x.Failure(); err != nil {
		return err
	}
	err := x.transact(work)
	if err != nil && isDatabase(err) && !isConstraint(err) {
		x.fail(err)
	}
	var after []string
	if x.tx.vacuum > 0 {
		after = append(after, fmt.Sprintf("incremental_vacuum(%d)", x.tx.vacuum))
	}
	if x.tx.checkpoint {
		after = append(after, "wal_checkpoint(TRUNCATE)")
	}
	x.tx.vacuum, x.tx.checkpoint = 0, false
	if err == nil {
		if err = x.pragmas(after...); err != nil {
			x.fail(err)
		}
	}
	return err
}

func (x *Index) transact(work func(*Tx) error) error {
	x.step("index.begin")
	err := x.tx.run(work, func() { x.step("index.commit") })
	x.step("index.committed")
	return err
}

func (x *Index) step(name string) {
	if x.options.Step != nil {
		x.options.Step(name)
	}
}

func (x *Index) fail(err error) {
	x.mu.Lock()
	first := x.failure == nil
	if first {
		x.failure = err
	}
	x.mu.Unlock()
	if first && x.options.Failed != nil {
		x.options.Failed(err)
	}
}

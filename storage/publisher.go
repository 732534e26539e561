package storage

import (
	"context"
	"sync"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/segment"
)

// publisher does what waits for the device, off the append path: flushing open segments, sealing finished
// ones, and making removals durable. It owns one goroutine.
type publisher struct {
	fs    disk.FS
	ix    *index.Index
	tasks chan task
	done  chan struct{}

	mu      sync.Mutex // guards results
	results []sealed
}

// task is one of: flush writer, seal writer, or forget deletions.
type task struct {
	flush  *segment.Writer
	seal   *segment.Writer
	row    index.Segment
	forget []string      // paths that are unlinked
	after  chan struct{} // closed when the task is done
}

// sealed is the outcome of sealing or flushing.
type sealed struct {
	session id.Session
	key     int64 // 0 for a flush
	bytes   int64
	err     error
}

func startPublisher(fs disk.FS, ix *index.Index) *publisher {
	p := &publisher{fs: fs, ix: ix, tasks: make(chan task, publisherQueue), done: make(chan struct{})}
	go p.run()
	return p
}

// close waits until everything handed over is done. Nothing may be handed over afterwards.
func (p *publisher) close() {
	close(p.tasks)
	<-p.done
}

func (p *publisher) run() {
	defer close(p.done)
	for t := range p.tasks {
		switch {
		case t.flush != nil:
			if err := t.flush.Flush(); err != nil {
				p.post(sealed{session: t.flush.Session(), err: err})
			}
		case t.seal != nil:
			p.seal(t)
		case len(t.forget) > 0:
			p.forget(t.forget)
		}
		if t.after != nil {
			close(t.after)
		}
	}
}

// seal closes a segment and lets its row say so before the outcome is known to the store: a row is never
// written again after the store decided to evict.
func (p *publisher) seal(t task) {
	err := t.seal.Seal()
	t.row.Bytes = t.seal.Size()
	if err == nil || isDirectorySync(err) {
		t.row.Sealed = true
		if rowErr := p.ix.Enqueue(context.Background(), index.SegmentRow{Segment: t.row}); rowErr != nil && err == nil {
			err = &segment.OpError{Op: opIndex, Err: rowErr}
		}
	}
	p.post(sealed{session: t.seal.Session(), key: t.row.Key, bytes: t.row.Bytes, err: err})
}

// forget makes unlinked names durable before the index forgets that they were to be unlinked, so that a power
// failure cannot bring a deleted file back.
func (p *publisher) forget(paths []string) {
	for _, dir := range []string{segment.Dir, index.ArtifactsDir} {
		if p.fs.SyncDir(dir) != nil {
			return // the deletions stay listed and are checked at the next opening
		}
	}
	_ = p.ix.Enqueue(context.Background(), index.DeletedRow{Paths: paths}) // a failed index has reported itself
}

func (p *publisher) post(r sealed) {
	p.mu.Lock()
	p.results = append(p.results, r)
	p.mu.Unlock()
}

// take returns the outcomes since the last call.
func (p *publisher) take() []sealed {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.results
	p.results = nil
	return out
}

// mark returns a channel that is closed once everything handed over before is done.
func (p *publisher) mark() <-chan struct{} {
	after := make(chan struct{})
	p.tasks <- task{after: after}
	return after
}

// wait returns once everything handed over before is done.
func (p *publisher) wait() { <-p.mark() }

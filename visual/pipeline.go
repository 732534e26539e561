package visual

import (
	"bytes"
	"context"
	"errors"
	"image"
	"sync"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

// reading is one frame on its way from the source to the comparison.
type reading struct {
	index  int
	frame  Frame
	same   bool // byte-equal to the frame read before it; nothing else is set
	size   image.Point
	sig    grid.Signature
	pixels *grid.Pixels // only with Noise.Exact
	hash   [32]byte
	err    error
	done   chan struct{}
}

// pipeline opens frames in order, measures them on several goroutines and
// hands them on in order again. No goroutine outlives run.
type pipeline struct {
	seq     *Sequence
	opts    *Options
	measure measurer
	// inFlight bounds the frames between opening and consumption.
	inFlight int
	release chan struct{} // one token per frame between opening and consumption
}

// measurer turns an opened frame into block means. It must be safe for
// concurrent use.
type measurer func(r *reading) error

func (p *pipeline) run(ctx context.Context, indices []int, consume func(*reading) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan *reading)
	ordered := make(chan *reading, p.inFlight)
	p.release = make(chan struct{}, p.inFlight)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(work)
		defer close(ordered)
		p.open(ctx, indices, work, ordered)
	})
	for range p.opts.Workers {
		wg.Go(func() {
			for r := range work {
				r.err = p.measureOne(ctx, r)
				close(r.done)
			}
		})
	}
	err := p.drain(ctx, ordered, consume)
	cancel(err)
	for range ordered { // unblocks the opener; every reading's worker ends by itself
	}
	wg.Wait()
	return err
}

func (p *pipeline) drain(ctx context.Context, ordered <-chan *reading, consume func(*reading) error) error {
	for r := range ordered {
		<-r.done
		if r.err == nil {
			r.err = consume(r)
		}
		if r.err != nil {
			return p.wrap(r)
		}
		r.frame = Frame{}
		<-p.release
	}
	return ctx.Err()
}

func (p *pipeline) wrap(r *reading) error {
	var fe *FrameError
	if errors.As(r.err, &fe) || errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded) || errors.Is(r.err, errRestart) {
		return r.err
	}
	return &FrameError{r.index, p.seq.Source.Meta(r.index).ID, r.err}
}

// open feeds the workers. A frame whose bytes equal the previous one's skips them.
func (p *pipeline) open(ctx context.Context, indices []int, work, ordered chan<- *reading) {
	var last []byte
	for _, i := range indices {
		select {
		case p.release <- struct{}{}:
		case <-ctx.Done():
			return
		}
		r := &reading{index: i, done: make(chan struct{})}
		r.frame, r.err = p.seq.Source.Open(ctx, i)
		r.same = r.err == nil && len(last) > 0 && bytes.Equal(last, r.frame.Data)
		last = r.frame.Data
		settled := r.err != nil || r.same
		if settled {
			close(r.done)
		}
		select {
		case ordered <- r:
		case <-ctx.Done():
			return
		}
		if settled {
			continue
		}
		select {
		case work <- r:
		case <-ctx.Done():
			// The consumer has already left or leaves on the context; a reading
			// it may still wait for must not stay open.
			r.err = ctx.Err()
			close(r.done)
			return
		}
	}
}

func (p *pipeline) measureOne(ctx context.Context, r *reading) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.frame.Data == nil && r.frame.Image == nil || r.frame.Data != nil && r.frame.Image != nil {
		return invalid("exactly one of Data and Image must be set")
	}
	if r.size, err = frameSize(&r.frame, p.opts); err != nil {
		return err
	}
	r.hash = contentHash(&r.frame)
	return p.measure(r)
}

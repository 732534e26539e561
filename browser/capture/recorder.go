package capture

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

// Recorder records all pages of one session, over its reconnects. It follows the pages as a target.Observer.
type Recorder struct {
	config  Config
	waiting atomic.Int64 // bytes in all queues
	buffers sync.Pool

	// sinkContext ends the sink calls that outlive a stop.
	sinkContext context.Context //nolint:containedctx // the recorder's own lifetime, ended by Stop
	cancelSink  context.CancelFunc

	mu      sync.RWMutex
	times   timeMap
	routes  map[string]*stream // by protocol session
	streams map[id.Target]*stream
	past    totals
	stopped bool
	writers sync.WaitGroup
}

// totals are the counts of streams that have ended.
type totals struct{ received, persisted, dropped uint64 }

var _ target.Observer = (*Recorder)(nil)

// New returns a recorder. Stop must be called.
func New(c Config) *Recorder {
	ctx, cancel := context.WithCancel(context.Background())
	return &Recorder{
		config: c, sinkContext: ctx, cancelSink: cancel,
		routes: map[string]*stream{}, streams: map[id.Target]*stream{},
		buffers: sync.Pool{New: func() any { return new([]byte) }},
	}
}

// Bind makes the recorder see the frames of a new connection. Call it before pages are attached.
func (r *Recorder) Bind(client *cdp.Client) {
	times := newTimeMap(r.config.Clock, r.config.Monotonic)
	r.mu.Lock()
	r.times = times
	r.mu.Unlock()
	client.Intercept(func(message []byte, received time.Duration) bool { return r.message(client, message, received) })
}

// message is the reader's way of a frame.
func (r *Recorder) message(client *cdp.Client, message []byte, received time.Duration) bool {
	f, ok := cutFrame(message)
	if !ok {
		return false
	}
	var m metadata
	arrived := func() error { return cdp.Unmarshal(f.metadata, &m) }
	r.frame(client, f, received, func() metadata {
		_ = arrived() // unreadable metadata is incomplete metadata; the picture is still evidence
		return m
	})
	return true
}

// frame acknowledges first and looks at the frame afterwards.
func (r *Recorder) frame(client *cdp.Client, f rawFrame, received time.Duration, read func() metadata) {
	r.mu.RLock()
	s := r.routes[string(f.session)]
	times := r.times
	r.mu.RUnlock()
	failed := ignoreAck
	if s != nil {
		failed = s.ackFailed
	}
	if client.AckFrame(string(f.session), f.token, failed) != nil || s == nil {
		return // the connection has ended, or the page was closed meanwhile
	}
	s.accept(f.data, read(), times, received, r.config.Clock.Clock().Mono()-received)
}

func ignoreAck(error) {}

// PageAttached implements target.Observer.
func (r *Recorder) PageAttached(p target.Page) {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return
	}
	s := r.streams[p.ID]
	if s == nil {
		s = newStream(r, p.ID)
		r.streams[p.ID] = s
		r.writers.Go(s.write)
	}
	r.routes[p.Session.CDPSession()] = s
	r.mu.Unlock()
	s.attach(p)
}

// PageDetached implements target.Observer.
func (r *Recorder) PageDetached(p target.Page, closed bool) {
	r.mu.Lock()
	s := r.streams[p.ID]
	delete(r.routes, p.Session.CDPSession())
	if closed {
		delete(r.streams, p.ID)
	}
	r.mu.Unlock()
	if s == nil {
		return
	}
	s.detach(closed)
	if closed {
		s.close()
		r.mu.Lock()
		r.past.add(s)
		r.mu.Unlock()
	}
}

func (t *totals) add(s *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Frames still waiting are persisted after this; the writer reports them to the recorder itself.
	t.received += s.stats.received
	t.persisted += s.stats.persisted
	t.dropped += s.stats.dropped
	s.counted = true
}

// Suspended records that the machine slept from one moment to another.
func (r *Recorder) Suspended(from, to clock.SessionTime) {
	for _, s := range r.all() {
		s.mu.Lock()
		s.ledger.whole(record.GapSystemSuspended, from, to)
		s.mu.Unlock()
	}
}

// ExpectViewport says that the page's viewport was just set to width x height CSS pixels; frames of another geometry
// carry a warning until one of this geometry arrives, for two seconds at most.
func (r *Recorder) ExpectViewport(t id.Target, width, height float64) {
	if s := r.stream(t); s != nil {
		s.mu.Lock()
		s.expected, s.expires = [2]float64{width, height}, s.now().Add(expectLimit)
		s.mu.Unlock()
	}
}

// expectLimit is how long frames of an older geometry can be on their way.
const expectLimit = 2 * time.Second

// skewShare is one in how many frames may contradict the clock before that is worth a word.
const skewShare = 20

// Skewed reports whether the browser's clock does not fit this program's: its swap times are then taken from its wall
// clock or are missing.
func (r *Recorder) Skewed() bool {
	for _, s := range r.all() {
		s.mu.Lock()
		skewed := s.stats.skewed > 2 && s.stats.skewed*skewShare > s.stats.received
		s.mu.Unlock()
		if skewed {
			return true
		}
	}
	return false
}

// Flush waits until every frame received so far has been given to the sink.
func (r *Recorder) Flush(ctx context.Context) error {
	for _, s := range r.all() {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// GapsSince lists the page's gaps that touch the time since t.
func (r *Recorder) GapsSince(target id.Target, t clock.SessionTime) []id.Gap {
	s := r.stream(target)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.since(t)
}

// Failure is why the page is not being recorded as it should, nil while it is.
func (r *Recorder) Failure(target id.Target) *fault.Error {
	s := r.stream(target)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

// Visible says whether the page's pictures are being shown; known is false before the browser has said so.
func (r *Recorder) Visible(target id.Target) (visible, known bool) {
	s := r.stream(target)
	if s == nil {
		return false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.hidden, s.seen
}

// Status returns the state of each live stream.
func (r *Recorder) Status() []page.CaptureTarget {
	now := r.config.Clock.Now()
	var rows []page.CaptureTarget
	for _, s := range r.all() {
		rows = append(rows, s.status(now))
	}
	return rows
}

// Totals returns the frames of the whole session, closed pages included.
func (r *Recorder) Totals() (received, persisted, dropped uint64) {
	r.mu.RLock()
	t := r.past
	r.mu.RUnlock()
	for _, s := range r.all() {
		s.mu.Lock()
		t.received += s.stats.received
		t.persisted += s.stats.persisted
		t.dropped += s.stats.dropped
		s.mu.Unlock()
	}
	return t.received, t.persisted, t.dropped
}

// ErrUndrained is the outcome of a Stop whose context ended while frames were waiting.
var ErrUndrained = errors.New("accepted frames were not stored in time")

// Stop ends all streams and gives what was accepted to the sink. When ctx ends first, the rest is recorded as a gap
// and the result is ErrUndrained. It returns the first failure of any stream otherwise.
func (r *Recorder) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	streams := r.all()
	for _, s := range streams {
		s.stopCast()
		s.close()
	}
	drained := make(chan struct{})
	go func() { r.writers.Wait(); close(drained) }()
	var result error
	select {
	case <-drained:
	case <-ctx.Done():
		result = ErrUndrained
	}
	r.cancelSink()
	if result != nil {
		r.awaitCancelled(drained)
	}
	now := r.config.Clock.Now()
	for _, s := range streams {
		s.mu.Lock()
		s.ledger.endAll(now)
		if result == nil && s.failure != nil {
			result = s.failure
		}
		s.mu.Unlock()
	}
	return result
}

// cancelLimit is how long a cancelled sink may take to return. A disk that hangs longer keeps its writer.
const cancelLimit = time.Second

func (r *Recorder) awaitCancelled(drained <-chan struct{}) {
	ctx, cancel := clock.WithTimeout(context.Background(), r.config.Clock.Clock(), cancelLimit)
	defer cancel()
	select {
	case <-drained:
	case <-ctx.Done():
	}
}

func (r *Recorder) stream(t id.Target) *stream {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.streams[t]
}

func (r *Recorder) all() []*stream {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := make([]*stream, 0, len(r.streams))
	for _, s := range r.streams {
		list = append(list, s)
	}
	return list
}

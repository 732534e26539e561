package events

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// Config of a recorder.
type Config struct {
	Session id.Session
	Clock   clock.Session
	Sink    record.EventSink
	// Facts takes the gaps.
	Facts record.FactSink
	// Key makes the path hashes of the session's URLs comparable.
	Key *redact.Key
	// Off leaves out everything but targets, navigations and visibility.
	Off    bool
	Logger *slog.Logger
}

// Recorder records the browser events of one session, over reconnects. It follows pages as a target.Observer. Its
// methods are safe for concurrent use.
type Recorder struct {
	config Config
	queue  *queue
	writer *writer
	stop   chan struct{}
	done   chan struct{}
	once   sync.Once

	mu      sync.Mutex
	pages   map[id.Target][]*stream // the page's own stream first
	workers map[string]bool         // followed workers by the browser's name, true while they live
	browser *cdp.Subscription
	// downloads remembers which page began a download, until it ends.
	downloads map[string]*stream
}

const (
	// maxDownloads bounds the downloads whose end is awaited.
	maxDownloads = 256
	// maxWorkers is how many workers are remembered before those that have ended are forgotten.
	maxWorkers = 1024
)

var _ target.ChildObserver = (*Recorder)(nil)

// Start returns a running recorder. Stop must be called.
func Start(c Config) *Recorder {
	q := newQueue()
	r := &Recorder{
		config: c, queue: q, stop: make(chan struct{}), done: make(chan struct{}),
		pages: map[id.Target][]*stream{}, workers: map[string]bool{}, downloads: map[string]*stream{},
	}
	r.writer = &writer{
		session: c.Session, clock: c.Clock, sink: c.Sink, facts: c.Facts, log: c.Logger, queue: q, ledger: newLedger(c.Session),
		times: newTimes(c.Clock), urls: newURLs(c.Key), requests: newRequests(), followed: r.followed, showing: map[*stream]clock.SessionTime{},
	}
	go r.writer.run(r.stop, r.done)
	return r
}

// Stop writes what is queued and ends. Pages may still be attached; what they send is ignored from now on.
func (r *Recorder) Stop(ctx context.Context) error {
	r.once.Do(func() { close(r.stop) })
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Barrier waits until everything that was received before the call has been handed to the sink.
func (r *Recorder) Barrier(ctx context.Context) error {
	return r.visit(ctx, r.writer.flush)
}

// visit lets the writer call f behind everything that was received before, and waits for it. Once the writer has ended
// f may not have been called.
func (r *Recorder) visit(ctx context.Context, f func()) error {
	visited := make(chan struct{})
	if !r.queue.sync(func() { f(); close(visited) }) {
		return nil
	}
	select {
	case <-visited:
		return nil
	case <-r.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// InFlight names the requests of a page and its frames and workers that are under way, by the browser's ids. Sockets, event
// streams and what has been silent for over 30 s are left out: pages hold those open. What was received before the call is
// considered; nil when browser events are not recorded or ctx has ended.
func (r *Recorder) InFlight(ctx context.Context, t id.Target) []string {
	names := make(chan []string, 1)
	if r.visit(ctx, func() { names <- r.writer.requests.of(t, r.config.Clock.Now()) }) != nil {
		return nil
	}
	select {
	case found := <-names:
		return found
	default: // the writer has ended
		return nil
	}
}

// Status says how the recording goes.
type Status struct {
	// Recording is false when only targets, navigations and visibility are recorded.
	Recording bool   `json:"recording"`
	Queued    int    `json:"queued"`
	Recorded  uint64 `json:"recorded"`
	// Dropped events found the queue full, rejected ones the store unwilling, malformed ones had an unknown shape.
	Dropped   uint64 `json:"dropped"`
	Rejected  uint64 `json:"rejected"`
	Malformed uint64 `json:"malformed"`
	Gaps      uint64 `json:"gaps"`
	// Failure is the store's first refusal.
	Failure *fault.Error `json:"failure,omitempty"`
}

// Status returns the present counters.
func (r *Recorder) Status() Status {
	queued, dropped := r.queue.state()
	r.writer.mu.Lock()
	defer r.writer.mu.Unlock()
	c := r.writer.counts
	return Status{
		Recording: !r.config.Off, Queued: queued, Recorded: c.recorded, Dropped: dropped, Rejected: c.rejected,
		Malformed: c.malformed, Gaps: c.gaps, Failure: c.failure,
	}
}

// Connected follows the downloads of a connection. It is called for each new connection of the session.
func (r *Recorder) Connected(b *page.Browser) {
	if r.config.Off {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.browser != nil {
		r.browser.Close()
	}
	r.browser = b.Client().Tap("", r.onDownload, "Browser.downloadWillBegin", "Browser.downloadProgress")
}

// PageAttached implements target.Observer: it asks for the page's events before the page runs.
func (r *Recorder) PageAttached(p target.Page) {
	s := &stream{target: p.ID, session: p.Session.CDPSession(), page: p.Session}
	r.listen(s, p.Session.Browser().Client())
	p.Session.FollowNavigations(func(v page.Navigation) { r.onNavigation(s, v) })
	r.mu.Lock()
	r.pages[p.ID] = append([]*stream{s}, r.pages[p.ID]...)
	r.mu.Unlock()
	r.enable(func(method string, params any) { _ = p.Session.Post(method, params) })
	summary := redact.Summarize(p.URL, r.config.Key)
	r.note(s, record.ClassTarget, &targetPayload{Name: "attached", Opener: p.Opener, URL: &summary})
}

// FrameAttached follows an out-of-process frame of a page.
func (r *Recorder) FrameAttached(p target.Page, frame *page.Session) {
	s := &stream{target: p.ID, session: frame.CDPSession(), context: "frame", page: frame}
	r.listen(s, frame.Browser().Client())
	r.join(s)
	r.enable(func(method string, params any) { _ = frame.Post(method, params) })
}

// WorkerAttached follows a worker of a page and reports whether it does; then the worker must stay attached. A
// worker that serves several pages is recorded with the first one.
func (r *Recorder) WorkerAttached(p target.Page, kind, cdpTarget, session string) (follow bool) {
	if r.config.Off {
		return false
	}
	client := p.Session.Browser().Client()
	r.mu.Lock()
	alive := r.workers[cdpTarget]
	r.rememberWorker(cdpTarget)
	r.mu.Unlock()
	if alive {
		return false
	}
	s := &stream{target: p.ID, session: session, context: kind, worker: cdpTarget}
	r.listen(s, client)
	r.join(s)
	post := func(method string, params any) { _ = client.StartFunc(session, method, params, func([]byte, error) {}) }
	post("Runtime.enable", nil)
	r.enable(post)
	return true
}

// ChildDetached forgets a frame or worker that is gone.
func (r *Recorder) ChildDetached(p target.Page, session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.pages[p.ID][:0:0]
	for _, s := range r.pages[p.ID] {
		if s.session != session || s.context == "" {
			kept = append(kept, s)
			continue
		}
		r.closeLocked(s)
	}
	r.pages[p.ID] = kept
}

func (r *Recorder) closeLocked(s *stream) {
	s.close()
	if s.worker != "" {
		r.workers[s.worker] = false
	}
}

// rememberWorker keeps the workers of the past as well, for messages that are still under way.
func (r *Recorder) rememberWorker(cdpTarget string) {
	if len(r.workers) >= maxWorkers {
		maps.DeleteFunc(r.workers, func(_ string, alive bool) bool { return !alive })
	}
	r.workers[cdpTarget] = true
}

// followed reports whether a worker speaks or has spoken for itself.
func (r *Recorder) followed(cdpTarget string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.workers[cdpTarget]
	return known
}

// PageDetached implements target.Observer.
func (r *Recorder) PageDetached(p target.Page, closed bool) {
	r.mu.Lock()
	streams := r.pages[p.ID]
	delete(r.pages, p.ID)
	for _, s := range streams {
		r.closeLocked(s)
	}
	r.mu.Unlock()
	if len(streams) > 0 {
		r.note(streams[0], record.ClassTarget, &targetPayload{Name: pick(closed, "closed", "connection_lost")})
	}
}

func (r *Recorder) join(s *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pages[s.target] = append(r.pages[s.target], s)
}

// listen taps the messages of a session.
func (r *Recorder) listen(s *stream, client *cdp.Client) {
	s.since = r.config.Clock.Now()
	methods := factMessages
	if !r.config.Off {
		methods = append(append([]string(nil), factMessages...), wordMessages...)
		methods = append(append(methods, loadMessages...), pageMessages...)
	}
	s.taps = append(s.taps, client.Tap(s.session, func(e cdp.Event) {
		r.queue.offer(item{stream: s, message: e}, r.config.Clock.At(e.Received), important(e.Method))
	}, methods...))
}

// enable asks for the messages. No body is buffered and no posted data is sent along.
func (r *Recorder) enable(post func(method string, params any)) {
	if r.config.Off {
		return
	}
	post("Network.enable", map[string]any{"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0})
	post("Log.enable", nil)
}

// note records something this package observed itself.
func (r *Recorder) note(s *stream, class record.EventClass, payload any) {
	at := r.config.Clock.Now()
	r.queue.offer(item{stream: s, made: &made{class: class, severity: record.Info, at: at, payload: payload}}, at, true)
}

// onDownload runs on the reader. Downloads belong to the page whose frame began them; the end of a download does
// not name it, so it is remembered from the beginning.
func (r *Recorder) onDownload(e cdp.Event) {
	var d struct {
		Frame    string  `json:"frameId"`
		GUID     string  `json:"guid"`
		URL      string  `json:"url"`
		State    string  `json:"state"`
		Received float64 `json:"receivedBytes"`
		Total    float64 `json:"totalBytes"`
	}
	if e.Decode(&d) != nil {
		return
	}
	payload := &downloadPayload{State: "started", ReceivedBytes: bytesOf(d.Received), TotalBytes: bytesOf(d.Total)}
	if e.Method == "Browser.downloadProgress" {
		if d.State != "completed" && d.State != "canceled" {
			return
		}
		payload.State = d.State
	} else {
		summary := redact.Summarize(d.URL, r.config.Key)
		payload.URL = &summary
	}
	if s := r.downloader(d.GUID, d.Frame, payload.State != "started"); s != nil {
		at := r.config.Clock.At(e.Received)
		r.queue.offer(item{stream: s, made: &made{class: record.ClassDownload, severity: record.Info, at: at, payload: payload}}, at, true)
	}
}

func (r *Recorder) downloader(guid, frame string, ended bool) *stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended {
		s := r.downloads[guid]
		delete(r.downloads, guid)
		return s
	}
	for _, streams := range r.pages {
		for _, s := range streams {
			if s.page == nil {
				continue
			}
			if _, has := s.page.Document(frame); has || s.page.MainFrame() == frame {
				if len(r.downloads) < maxDownloads {
					r.downloads[guid] = s
				}
				return s
			}
		}
	}
	return nil
}

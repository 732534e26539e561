package capture

import (
	"context"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

// stream records one page. Its ordinal and figures live on over reconnects.
type stream struct {
	recorder *Recorder
	target   id.Target
	queue    chan item
	quit     chan struct{}
	quitOnce sync.Once

	mu       sync.Mutex
	session  *page.Session // nil while detached
	taps     []*cdp.Subscription
	ordinal  uint64
	stats    stats
	ledger   *ledger
	geometry record.Viewport // the last complete one
	expected [2]float64
	expires  clock.SessionTime // end of the expectation
	hidden   bool
	flip     uint64 // counts visibility events
	seen     bool   // the browser has told the visibility
	started  bool
	crashed  bool
	limited  bool
	closed   bool // accepts nothing more
	ended    bool // the stream failed for good; control goes on
	counted  bool // its totals were taken over by the recorder
	failure  *fault.Error
}

func newStream(r *Recorder, t id.Target) *stream {
	s := &stream{recorder: r, target: t, queue: make(chan item, QueueFrames), quit: make(chan struct{})}
	s.ledger = newLedger(r.config.Session, t, s.putGap)
	return s
}

// putGap does not block: the sink of facts queues. Its own failures show in its own status.
func (s *stream) putGap(g record.Gap) { _ = s.recorder.config.Facts.Put(context.Background(), g) }

func (s *stream) now() clock.SessionTime { return s.recorder.config.Clock.Now() }

// attach starts the screencast on a new or restored session.
func (s *stream) attach(p target.Page) {
	s.mu.Lock()
	s.session, s.limited, s.started, s.ended = p.Session, p.Limited, false, false
	if p.Limited {
		s.ledger.begin(record.GapLimit, s.now(), 0)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	taps := []*cdp.Subscription{
		p.Session.Tap(s.onVisibility, "Page.screencastVisibilityChanged"),
		p.Session.Tap(s.onCrash, "Inspector.targetCrashed", "Inspector.targetReloadedAfterCrash"),
		p.Session.Tap(s.onFrame, "Page.screencastFrame"),
	}
	s.mu.Lock()
	s.taps = taps
	s.mu.Unlock()
	_ = p.Session.PostFunc("Page.startScreencast", screencast(s.recorder.config.Capture), s.onStarted)
}

func (s *stream) detach(closed bool) {
	s.mu.Lock()
	taps := s.taps
	s.taps, s.session = nil, nil
	switch {
	case closed:
		s.ledger.endAll(s.now())
	case !s.limited:
		s.ledger.begin(record.GapDisconnected, s.now(), 0)
	}
	s.mu.Unlock()
	for _, tap := range taps {
		tap.Close()
	}
}

func (s *stream) onStarted(_ []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.started = true
		return
	}
	if s.session == nil || s.closed {
		return // closed while it started
	}
	s.endWith(record.GapCaptureNotStarted, captureFault("start", "the browser refused to start the screencast").Because(err))
}

// endWith makes the failure terminal for this stream: one gap, no retry, control goes on.
func (s *stream) endWith(reason record.GapReason, f *fault.Error) {
	s.ended = true
	if s.failure == nil {
		s.failure = f.About(fault.Context{SessionID: s.recorder.config.Session, TargetID: s.target})
	}
	s.ledger.begin(reason, s.now(), 0)
}

func captureFault(stage, cause string) *fault.Error {
	return fault.New(fault.CaptureFailed, "the page is no longer recorded: %s failed (%s)", stage, cause).
		WithRecovery("the page can still be driven; a new browser session records again")
}

// ackFailed is called when the browser refused an acknowledgement or did not answer it. The token is one-shot,
// so there is nothing to repeat.
func (s *stream) ackFailed(err error) {
	s.mu.Lock()
	if s.ended || s.closed {
		s.mu.Unlock()
		return
	}
	s.endWith(record.GapAcknowledgement, captureFault("acknowledge", "a frame could not be acknowledged").Because(err))
	session := s.session
	s.mu.Unlock()
	if session != nil {
		_ = session.Post("Page.stopScreencast", nil)
	}
}

func (s *stream) onVisibility(e cdp.Event) {
	var p struct {
		Visible bool `json:"visible"`
	}
	if e.Decode(&p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.session == nil {
		return
	}
	s.flip++
	if p.Visible && s.hidden && s.session.ScreenshotWithin(flipLimit) {
		// Our own screenshot of a hidden page: not a visibility event unless it lasts.
		flip, at := s.flip, s.now()
		s.recorder.config.Clock.Clock().AfterFunc(flipLimit, func() { s.confirmVisible(flip, at) })
		return
	}
	s.setVisible(p.Visible, s.now())
}

// flipLimit is how long a screenshot of a hidden page can make it look visible.
const flipLimit = 1500 * time.Millisecond

// confirmVisible takes a visibility seriously that has outlived what a screenshot causes.
func (s *stream) confirmVisible(flip uint64, at clock.SessionTime) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flip == flip && !s.closed {
		s.setVisible(true, at)
	}
}

func (s *stream) setVisible(visible bool, at clock.SessionTime) {
	s.seen, s.hidden = true, !visible
	if visible {
		s.ledger.end(record.GapHidden, at)
		return
	}
	s.ledger.begin(record.GapHidden, at, 0)
}

func (s *stream) onCrash(e cdp.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashed = e.Method == "Inspector.targetCrashed"
	if s.crashed && !s.closed {
		s.ledger.begin(record.GapCrashed, s.now(), 0)
	}
}

// onFrame sees only frames in a spelling that cutFrame does not know.
func (s *stream) onFrame(e cdp.Event) {
	f, m, err := decodeFrame(e)
	if err != nil {
		return // without a token nothing can be acknowledged; the window stays smaller by one frame
	}
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session != nil {
		s.recorder.frame(session.Browser().Client(), f, e.Received, func() metadata { return m })
	}
}

func (s *stream) stopCast() {
	s.mu.Lock()
	session := s.session
	running := session != nil && !s.ended && !s.limited
	s.mu.Unlock()
	if running {
		_ = session.Post("Page.stopScreencast", nil)
	}
}

// close ends the intake; the writer drains and ends.
func (s *stream) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.quitOnce.Do(func() { close(s.quit) })
}

func (s *stream) status(now clock.SessionTime) corepage.CaptureTarget {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := corepage.CaptureTarget{TargetID: s.target, State: s.state(), Gaps: s.ledger.total, Failure: s.failure}
	s.stats.fill(&row, now)
	return row
}

func (s *stream) state() string {
	switch {
	case s.closed:
		return "stopped"
	case s.limited:
		return "limited"
	case s.ended:
		return "failed"
	case s.session == nil:
		return "stopped"
	case s.crashed:
		return "crashed"
	case s.hidden:
		return "hidden"
	case !s.started:
		return "starting"
	}
	return "recording"
}

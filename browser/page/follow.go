package page

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/record"
)

// maxDialogText bounds the page text kept of a dialog, in bytes.
const maxDialogText = 2 << 10

// follow keeps dialogs, crashes, documents and worlds current. The taps run on the reader, so whoever sees a
// later event or reply sees this state at least as new.
func (s *Session) follow() {
	s.worlds = newWorlds()
	s.docs = newDocuments(s.cdp)
	s.taps = []*cdp.Subscription{
		s.Tap(s.onDialog, "Page.javascriptDialogOpening", "Page.javascriptDialogClosed"),
		s.Tap(s.onDocument, "Page.frameNavigated", "Page.navigatedWithinDocument", "Page.frameDetached"),
		s.Tap(s.onWorld, "Runtime.executionContextCreated", "Runtime.executionContextDestroyed", "Runtime.executionContextsCleared"),
	}
	if s.parent == nil {
		s.taps = append(s.taps, s.Tap(s.onCrash, "Inspector.targetCrashed", "Inspector.targetReloadedAfterCrash"),
			s.Tap(s.onNavigation, navigationEvents...))
	}
}

// Prepare turns on the events that every page needs. It only sends; the commands are answered in their order.
// It fails only when the connection is gone.
func (s *Session) Prepare() error {
	steps := []struct {
		method string
		params any
	}{
		{"Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}},
		{"Inspector.enable", nil},
		{"Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}},
		{"Runtime.enable", nil},
	}
	if err := s.client.StartFunc(s.id, "Page.enable", nil, s.onPageEnabled); err != nil {
		return err
	}
	for _, step := range steps {
		if err := s.Post(step.method, step.params); err != nil {
			return err
		}
	}
	return s.client.StartFunc(s.id, "Page.getFrameTree", nil, s.onFrameTree)
}

// Post sends a command whose result nobody needs. It fails only when the connection is gone.
func (s *Session) Post(method string, params any) error {
	return s.client.StartFunc(s.id, method, params, func([]byte, error) {})
}

// PostFunc sends a command and gives its outcome to done on the reading goroutine; done must not block.
func (s *Session) PostFunc(method string, params any, done func(result []byte, err error)) error {
	return s.client.StartFunc(s.id, method, params, done)
}

func (s *Session) onPageEnabled(_ []byte, err error) {
	if err == nil {
		s.gate.setKnown()
	}
}

func (s *Session) onDialog(e cdp.Event) {
	if e.Method == "Page.javascriptDialogClosed" {
		s.gate.closeDialog()
		return
	}
	var d struct {
		Type          string `json:"type"`
		Message       string `json:"message"`
		DefaultPrompt string `json:"defaultPrompt"`
	}
	_ = e.Decode(&d) // an open dialog of unknown shape still blocks the page
	s.gate.openDialog(Dialog{Type: d.Type, Message: bound(d.Message), DefaultPrompt: bound(d.DefaultPrompt)})
}

func bound(text string) string {
	if len(text) <= maxDialogText {
		return text
	}
	end := maxDialogText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

func (s *Session) onCrash(e cdp.Event) {
	s.gate.setCrashed(e.Method == "Inspector.targetCrashed")
}

// Observing marks the start of work of this program in the page or its renderer and returns the function that
// marks its end; the interval is then put on the timeline. kind is one of record.Observer's.
func (s *Session) Observing(kind string) (end func()) {
	start := s.clock.Now()
	root := s.root()
	if kind == screenshotKind {
		root.shots.begin(start)
	}
	return func() {
		if kind == screenshotKind {
			root.shots.end(s.clock.Now())
		}
		fact := record.Observer{SessionID: s.record, TargetID: s.target, StartNS: start, EndNS: s.clock.Now(), Kind: kind}
		// A failing store reports itself through its own status; the observation goes on without the interval.
		_ = s.facts.Put(context.Background(), fact)
	}
}

// Pictured is when this program last began to take a screenshot of the page; ok is false when it never has. Taking one of
// a hidden page makes it visible for a moment.
func (s *Session) Pictured() (at clock.SessionTime, ok bool) {
	shots := &s.root().shots
	shots.mu.Lock()
	defer shots.mu.Unlock()
	return shots.begun, shots.running > 0 || shots.any
}

// screenshotKind is the observer interval in which a hidden page is shown for a moment.
const screenshotKind = "screenshot"

// shots follows the screenshots of a page.
type shots struct {
	mu      sync.Mutex
	running int
	begun   clock.SessionTime
	ended   clock.SessionTime
	any     bool
}

func (s *shots) begin(at clock.SessionTime) {
	s.mu.Lock()
	s.running++
	s.begun = at
	s.mu.Unlock()
}

func (s *shots) end(at clock.SessionTime) {
	s.mu.Lock()
	s.running--
	s.ended, s.any = at, true
	s.mu.Unlock()
}

// ScreenshotWithin reports whether a screenshot of the page is being taken or has ended at most d ago. Taking one of a
// hidden page makes the browser call it visible for a moment.
func (s *Session) ScreenshotWithin(d time.Duration) bool {
	now := s.clock.Now()
	shots := &s.root().shots
	shots.mu.Lock()
	defer shots.mu.Unlock()
	return shots.running > 0 || shots.any && now.Sub(shots.ended) <= d
}

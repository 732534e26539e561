package events

import (
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// stream is what comes from one protocol session: a page, an out-of-process frame or a worker of it.
type stream struct {
	target  id.Target
	session string
	since   clock.SessionTime
	// context is "" for a page, else frame, worker, shared_worker or service_worker.
	context string
	page    *page.Session // nil for workers
	worker  string        // the browser's name of a worker
	taps    []*cdp.Subscription
	navs    navigations

	visible *bool // the writer's: the last known visibility
}

// childFrame reports whether a frame is another than the page's main one.
func (s *stream) childFrame(frame string) bool {
	switch {
	case frame == "":
		return false
	case s.context == "frame":
		return true
	case s.page == nil:
		return false
	}
	return frame != s.page.MainFrame()
}

func (s *stream) close() {
	if s.page != nil && s.context == "" {
		s.page.FollowNavigations(nil)
	}
	for _, t := range s.taps {
		t.Close()
	}
}

// The messages that are listened to. Those that carry headers, cookies or bodies are not among them.
var (
	wordMessages = []string{"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
	loadMessages = []string{
		"Network.requestWillBeSent", "Network.requestServedFromCache", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed",
		"Network.webSocketCreated", "Network.webSocketHandshakeResponseReceived", "Network.webSocketClosed", "Network.webSocketFrameError",
	}
	pageMessages = []string{"Page.javascriptDialogOpening", "Page.javascriptDialogClosed", "Page.lifecycleEvent"}
	// factMessages are listened to also while the recording of browser events is off.
	factMessages = []string{"Page.screencastVisibilityChanged", "Inspector.targetCrashed", "Inspector.targetReloadedAfterCrash"}
)

// important messages are few and have room of their own in the queue.
func important(method string) bool {
	switch method {
	case "Page.javascriptDialogOpening", "Page.javascriptDialogClosed", "Page.screencastVisibilityChanged",
		"Inspector.targetCrashed", "Inspector.targetReloadedAfterCrash":
		return true
	}
	return false
}

// handle turns one message into events.
func (w *writer) handle(s *stream, e cdp.Event) {
	switch e.Method {
	case "Runtime.consoleAPICalled":
		w.console(s, e)
	case "Runtime.exceptionThrown":
		w.exception(s, e)
	case "Log.entryAdded":
		w.logEntry(s, e)
	case "Network.requestWillBeSent":
		w.requestWillBeSent(s, e)
	case "Network.requestServedFromCache":
		w.servedFromCache(s, e)
	case "Network.responseReceived":
		w.responseReceived(s, e)
	case "Network.loadingFinished":
		w.loadingFinished(s, e)
	case "Network.loadingFailed":
		w.loadingFailed(s, e)
	default:
		w.handleRare(s, e)
	}
}

// handleRare is the rest of handle.
func (w *writer) handleRare(s *stream, e cdp.Event) {
	switch e.Method {
	case "Network.webSocketCreated":
		w.webSocketCreated(s, e)
	case "Network.webSocketHandshakeResponseReceived":
		w.webSocketHandshake(s, e)
	case "Network.webSocketClosed":
		w.webSocketClosed(s, e)
	case "Network.webSocketFrameError":
		w.webSocketError(s, e)
	case "Page.javascriptDialogOpening":
		w.dialogOpening(s, e)
	case "Page.javascriptDialogClosed":
		w.dialogClosed(s, e)
	case "Page.lifecycleEvent":
		w.lifecycle(s, e)
	case "Page.screencastVisibilityChanged":
		w.visibility(s, e)
	case "Inspector.targetCrashed", "Inspector.targetReloadedAfterCrash":
		w.crashed(s, e)
	}
}

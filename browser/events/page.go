package events

import (
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// dialogPayload is the opening or closing of a JavaScript dialog. What was typed into it is never kept.
type dialogPayload struct {
	State    string `json:"state"` // opened or closed
	Type     string `json:"type,omitzero"`
	Accepted *bool  `json:"accepted,omitempty"`
	text
}

func (w *writer) dialogOpening(s *stream, e cdp.Event) {
	var p struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if !w.decode(e, &p) {
		return
	}
	payload := &dialogPayload{State: "opened", Type: token(p.Type)}
	payload.setText(p.Message)
	w.emit(s, record.ClassDialog, record.Info, w.times.received(e), payload)
}

func (w *writer) dialogClosed(s *stream, e cdp.Event) {
	var p struct {
		Result bool `json:"result"`
	}
	if w.decode(e, &p) {
		w.emit(s, record.ClassDialog, record.Info, w.times.received(e), &dialogPayload{State: "closed", Accepted: &p.Result})
	}
}

// lifecyclePayload is a milestone of the main document.
type lifecyclePayload struct {
	Name  string        `json:"name"`
	NavID id.Navigation `json:"nav_id,omitzero"`
}

func (w *writer) lifecycle(s *stream, e cdp.Event) {
	var p wireLifecycle
	if !w.decode(e, &p) || s.childFrame(p.Frame) {
		return
	}
	if p.Name == "commit" || p.Name == "init" {
		w.requests.leave(s.target, p.Loader)
	}
	name := milestone(p.Name)
	if name == "" {
		return
	}
	w.emit(s, record.ClassLifecycle, record.Debug, w.times.fromMono(p.Timestamp, e, s), &lifecyclePayload{Name: name, NavID: s.navs.of(p.Loader)})
}

type wireLifecycle struct {
	Frame     string  `json:"frameId"`
	Loader    string  `json:"loaderId"`
	Name      string  `json:"name"`
	Timestamp float64 `json:"timestamp"`
}

func milestone(name string) string {
	switch name {
	case "DOMContentLoaded":
		return "dom_content_loaded"
	case "load":
		return "load"
	case "firstPaint":
		return "first_paint"
	case "firstContentfulPaint":
		return "first_contentful_paint"
	case "networkIdle":
		return "network_idle"
	}
	return ""
}

// targetPayload is what happened to a page as a whole.
type targetPayload struct {
	Name   string             `json:"name"` // attached, crashed, revived, closed or connection_lost
	Opener id.Target          `json:"opener,omitzero"`
	URL    *redact.URLSummary `json:"url,omitempty"`
}

type visibilityPayload struct {
	Visible bool `json:"visible"`
}

// flicker is how long a hidden page can show itself because of a screenshot of ours.
const flicker = 3 * time.Second

// visibility records changes. A hidden page that becomes visible right after a screenshot of it began is believed
// only when it stays so: the picture itself causes that, and it is on the timeline as an observer interval.
func (w *writer) visibility(s *stream, e cdp.Event) {
	var p struct {
		Visible bool `json:"visible"`
	}
	if !w.decode(e, &p) {
		return
	}
	at := w.times.received(e)
	if !p.Visible {
		delete(w.showing, s)
	}
	if s.visible != nil && *s.visible == p.Visible {
		return
	}
	if p.Visible && s.visible != nil && s.pictured(at) {
		w.showing[s] = at
		return
	}
	w.visible(s, p.Visible, at)
}

func (w *writer) visible(s *stream, visible bool, at clock.SessionTime) {
	s.visible = &visible
	w.emit(s, record.ClassVisibility, record.Info, at, &visibilityPayload{Visible: visible})
}

// settleVisible believes the pages that have stayed visible.
func (w *writer) settleVisible() {
	for s, at := range w.showing {
		if w.clock.Now().Sub(at) > flicker {
			delete(w.showing, s)
			w.visible(s, true, at)
		}
	}
}

// pictured reports whether a screenshot of ours can have caused what happened at this moment.
func (s *stream) pictured(at clock.SessionTime) bool {
	if s.page == nil {
		return false
	}
	began, ok := s.page.Pictured()
	return ok && at >= began && at.Sub(began) < flicker
}

func (w *writer) crashed(s *stream, e cdp.Event) {
	name, severity := "crashed", record.Error
	if e.Method == "Inspector.targetReloadedAfterCrash" {
		name, severity = "revived", record.Info
	}
	w.emit(s, record.ClassTarget, severity, w.times.received(e), &targetPayload{Name: name})
}

// downloadPayload is the beginning or end of a download. Its file name is the page's and not kept.
type downloadPayload struct {
	State         string             `json:"state"` // started, completed or canceled
	URL           *redact.URLSummary `json:"url,omitempty"`
	ReceivedBytes int64              `json:"received_bytes,omitzero"`
	TotalBytes    int64              `json:"total_bytes,omitzero"`
}

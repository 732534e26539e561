package session

import (
	"context"
	"time"

	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// maxTitle bounds a title in answers, in bytes.
const maxTitle = 512

// Status describes the session; it works in every state and never waits for a page.
func (b *Browser) Status(ctx context.Context) (corepage.Status, error) {
	state, l := b.snapshot()
	if state == corepage.StateReady {
		l.refresh(ctx)
	}
	s := b.status(l)
	if b.deps.Admin != nil {
		if retention, err := b.deps.Admin.Retention(ctx); err == nil {
			s.Retention = &retention
		}
	}
	return s, nil
}

// refreshLimit bounds the question for present titles; without an answer the last known ones are shown.
const refreshLimit = time.Second

func (l *live) refresh(ctx context.Context) {
	ctx, cancel := clock.WithTimeout(ctx, l.browser.deps.Clock, refreshLimit)
	defer cancel()
	_, registry := l.connection()
	if err := registry.Refresh(ctx); err != nil {
		l.browser.deps.Logger.Debug("page titles could not be refreshed", "error", err)
	}
}

func (b *Browser) status(l *live) corepage.Status {
	state, _ := b.snapshot()
	s := corepage.Status{State: state, RecordsEvents: b.deps.RecordsEvents}
	if l == nil || state == corepage.StateNone || state == corepage.StateConnecting {
		return s
	}
	l.mu.Lock()
	info := l.record.Browser
	started := l.record.StartedAt
	s.SessionID, s.StartedAt, s.EndedAt = l.id, &started, l.record.EndedAt
	s.Ownership, s.Profile, s.Browser, s.Focus = l.record.Ownership, l.record.Profile, &info, l.focus
	s.Capture.CaptureConfig, s.EndCause, s.Reconnects = l.record.Capture, l.end, l.reconnects
	l.mu.Unlock()
	s.NowNS = l.clock.Now()
	s.Sandbox, s.SandboxReason, s.Discovery, s.Probe = l.sandbox[0], l.sandbox[1], l.found, l.probe
	if l.process != nil {
		s.Rendering = l.process.Rendering()
	}
	s.Capture.Targets = l.recorder.Status()
	s.Viewports = l.viewport.list()
	if l.recorder.Skewed() {
		s.Warnings = append(s.Warnings, fault.New(fault.ClockSkewDetected, "the browser's clock does not fit this program's; frame times come from its wall clock or from their receipt"))
	}
	if state == corepage.StateEnded {
		return s
	}
	v := l.view()
	s.Selected, s.PageCount = v.Selected, len(v.Pages)
	for _, p := range v.Pages {
		row := l.row(v, p)
		s.Pages = append(s.Pages, row)
		if row.Dialog != "none" {
			s.Dialogs = append(s.Dialogs, corepage.PageDialog{TargetID: p.ID, Dialog: row.Dialog})
		}
	}
	return s
}

// row shows a page as the lists do.
func (l *live) row(v *target.View, p target.Page) corepage.Page {
	row := corepage.Page{
		TargetID: p.ID, URL: redact.LiveURL(p.URL), Title: bounded(p.Title), Visibility: "unknown",
		Selected: p.ID == v.Selected, Opener: p.Opener, Dialog: "unknown",
	}
	if visible, known := l.recorder.Visible(p.ID); known {
		row.Visibility = "hidden"
		if visible {
			row.Visibility = "visible"
		}
	}
	if p.Session != nil {
		switch dialog, known := p.Session.Dialog(); {
		case dialog != nil:
			row.Dialog = dialog.Type
		case known:
			row.Dialog = "none"
		}
	}
	switch {
	case p.Limited:
		row.Capture = "limit"
	case p.Session != nil && p.Session.Crashed():
		row.Capture = "crashed"
	case l.recorder.Failure(p.ID) != nil:
		row.Capture = "failed"
	}
	return row
}

func bounded(title string) string {
	if len(title) <= maxTitle {
		return title
	}
	end := maxTitle
	for end > 0 && title[end]&0xC0 == 0x80 {
		end--
	}
	return title[:end]
}

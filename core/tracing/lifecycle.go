package tracing

import (
	"context"

	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/trace"
)

func (t *Tracing) refuse(asked bool) error {
	if asked && t.config.Off {
		return fault.Input("trace", "needs the capability action-trace, which is disabled in this configuration")
	}
	return nil
}

// Browser returns b with the trace argument of start_browser and attach_browser.
func (t *Tracing) Browser(b control.Browser) control.Browser { return tracedBrowser{b, t} }

type tracedBrowser struct {
	control.Browser
	t *Tracing
}

// Start implements control.Browser.
func (b tracedBrowser) Start(ctx context.Context, r page.StartRequest) (page.Status, error) {
	if err := b.t.refuse(r.Trace); err != nil {
		return page.Status{}, err
	}
	s, err := b.Browser.Start(ctx, r)
	if err == nil {
		b.t.begin(s.SessionID, r.Trace)
	}
	return s, err
}

// Attach implements control.Browser.
func (b tracedBrowser) Attach(ctx context.Context, r page.AttachRequest) (page.Status, error) {
	if err := b.t.refuse(r.Trace); err != nil {
		return page.Status{}, err
	}
	s, err := b.Browser.Attach(ctx, r)
	if err == nil {
		b.t.begin(s.SessionID, r.Trace)
	}
	return s, err
}

// Stop implements control.Browser: the traces go with their session.
func (b tracedBrowser) Stop(ctx context.Context) (page.StopResult, error) {
	r, err := b.Browser.Stop(ctx)
	if err == nil {
		b.t.end()
	}
	return r, err
}

// PageSet returns p with the trace argument of open_page and the final trace of close_page.
func (t *Tracing) PageSet(p control.PageSet) control.PageSet { return tracedPages{p, t} }

type tracedPages struct {
	control.PageSet
	t *Tracing
}

// Open implements control.PageSet. A page that could not be opened has no trace to keep the failure in.
func (p tracedPages) Open(ctx context.Context, r page.OpenRequest) (page.OpenResult, error) {
	if err := p.t.refuse(r.Trace); err != nil {
		return page.OpenResult{}, err
	}
	_, clk, err := p.t.current()
	if err != nil {
		return p.PageSet.Open(ctx, r)
	}
	started := clk.Now()
	result, err := p.PageSet.Open(ctx, r)
	if result.Target == "" {
		return result, err
	}
	took := clk.Now().Sub(started)
	book, clk, bookErr := p.t.current()
	if bookErr != nil {
		return result, err
	}
	recorder := book.Opened(result.Target, r.Trace)
	if recorder == nil {
		return result, err
	}
	p.t.prune(ctx, book, result.Target)
	after, _ := p.t.look(context.WithoutCancel(ctx), clk, result.Target)
	recorder.Record(trace.Entry{Action: trace.OpenPage{URL: r.URL}, After: after.Page, Err: err, Duration: took})
	return result, err
}

// Close implements control.PageSet.
func (p tracedPages) Close(ctx context.Context, r page.CloseRequest) (page.CloseResult, error) {
	recorder, clk := p.t.recorder(ctx, r.Target)
	if recorder == nil {
		return p.PageSet.Close(ctx, r)
	}
	// The session can end with its last page, and its book with it.
	book, _, bookErr := p.t.current()
	before, _ := p.t.look(ctx, clk, r.Target)
	started := clk.Now()
	result, err := p.PageSet.Close(ctx, r)
	entry := trace.Entry{Action: trace.ClosePage{}, Before: before.Page, Err: err, Duration: clk.Now().Sub(started)}
	if err != nil {
		after, _ := p.t.look(context.WithoutCancel(ctx), clk, r.Target)
		entry.After = after.Page
	}
	recorder.Record(entry)
	if err == nil && bookErr == nil {
		if final := book.Closed(r.Target); final != nil {
			result.FinalTrace = final
		}
	}
	return result, err
}

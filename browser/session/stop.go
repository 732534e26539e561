package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/krometrail/krometrail/browser/capture"
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	corepage "github.com/krometrail/krometrail/core/page"
)

// stopLimit bounds the draining and flushing of one stop; ending the browser has its own bounds.
const stopLimit = 10 * time.Second

// politeLimit bounds the request to the browser to close itself.
const politeLimit = time.Second

// Stop ends the session: accepted frames are drained and flushed, then the browser is closed, or left alone when it
// was attached. After a session that ended by itself it confirms the clean-up. Never started is
// invalid_lifecycle_transition.
func (b *Browser) Stop(ctx context.Context) (corepage.StopResult, error) {
	leave, err := b.enter(ctx)
	if err != nil {
		return corepage.StopResult{}, err
	}
	defer leave()
	state, l := b.snapshot()
	switch state {
	case corepage.StateNone:
		return corepage.StopResult{}, fault.New(fault.InvalidLifecycleTransition, "no browser has been started").
			WithRecovery("start_browser first")
	case corepage.StateEnded:
		b.setState(corepage.StateNone)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.outcome.AlreadyEnded = true
		return l.outcome, nil
	}
	b.setState(corepage.StateStopping)
	// The caller's end does not leave a half-stopped session behind.
	result := l.finish()
	l.supervision.Wait()
	l.mu.Lock()
	l.outcome = result
	l.mu.Unlock()
	b.setState(corepage.StateNone)
	return result, nil
}

// Shutdown ends whatever session is alive; the program calls it at its end.
func (b *Browser) Shutdown(ctx context.Context) error {
	if state, _ := b.snapshot(); state != corepage.StateNone {
		if _, err := b.Stop(ctx); err != nil {
			return err
		}
	}
	if _, l := b.snapshot(); l != nil {
		l.supervision.Wait()
	}
	return nil
}

// finish ends the session in the order that loses nothing: first the frames, then the page's other evidence,
// then the browser, last the store. The caller holds the transition.
func (l *live) finish() corepage.StopResult {
	l.stopOnce.Do(func() { close(l.stop) })
	l.noteSelection()
	ctx, cancel := clock.WithTimeout(context.Background(), l.browser.deps.Clock, stopLimit)
	defer cancel()
	result := corepage.StopResult{Quality: "clean", SessionID: l.id, Disposition: "closed"}
	if l.process == nil {
		result.Disposition = "detached"
	}
	l.degrade(&result, l.recorder.Stop(ctx))
	for _, s := range l.browser.deps.Subsystems {
		s.End(l.id)
	}
	l.closeBrowser()
	left := l.endProcess(l.process != nil && !l.lost())
	result.Zombies = left.Zombies
	if left.Alive > 0 {
		l.degradeStage(&result, "process", fault.New(fault.ShutdownIncomplete, "%d browser processes could not be ended", left.Alive))
	}
	l.seal(ctx, &result)
	_, result.RecordedFrames, result.DroppedFrames = l.recorder.Totals()
	return result
}

// noteSelection keeps the page that later questions without a target are about. It is called while the pages are
// still there: a closing browser takes them away one by one, and each hands its selection on.
func (l *live) noteSelection() {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.registry.View()
	l.record.LastSelected = cmp.Or(v.Selected, v.LastSelected)
}

// seal writes the session's end and makes everything durable.
func (l *live) seal(ctx context.Context, result *corepage.StopResult) {
	now, wall := l.clock.Now(), l.browser.deps.Clock.Wall()
	l.mu.Lock()
	l.record.EndedNS, l.record.EndedAt = &now, &wall
	end := l.record
	l.mu.Unlock()
	result.EndNS = now
	_ = l.facts.Put(ctx, end)
	if err := l.facts.stop(ctx); err != nil {
		l.degradeStage(result, "facts", fault.From(err))
	}
	if l.browser.deps.Admin == nil {
		return
	}
	if err := l.browser.deps.Admin.EndSession(ctx, end); err != nil {
		l.degradeStage(result, "flush", fault.From(err))
	}
}

func (l *live) degrade(result *corepage.StopResult, err error) {
	switch {
	case err == nil:
	case errors.Is(err, capture.ErrUndrained):
		l.degradeStage(result, "drain", fault.New(fault.ShutdownIncomplete, "accepted frames could not be stored in time"))
	default:
		l.degradeStage(result, "capture", fault.From(err))
	}
}

// degradeStage keeps the first failure.
func (l *live) degradeStage(result *corepage.StopResult, stage string, cause *fault.Error) {
	if result.Quality == "degraded" {
		return
	}
	result.Quality, result.Stage, result.Cause = "degraded", stage, cause
}

func (l *live) lost() bool { return l.connected().Err() != nil }

func (l *live) connected() *cdp.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

// closeBrowser asks a managed browser to close itself, leaves an attached one, and ends the connection.
func (l *live) closeBrowser() {
	if l.process != nil && !l.lost() {
		ctx, cancel := clock.WithTimeout(context.Background(), l.browser.deps.Clock, politeLimit)
		_ = l.connected().Call(ctx, "", "Browser.close", nil, nil) // End follows in any case
		cancel()
	}
	if l.process == nil {
		l.closeConnection()
	}
}

// closeConnection ends the connection and the map of pages. An attached browser takes back by itself what this
// connection had set up.
func (l *live) closeConnection() {
	l.mu.Lock()
	client, registry := l.client, l.registry
	l.mu.Unlock()
	if client != nil {
		_ = client.Close()
	}
	if registry != nil {
		<-registry.Done()
	}
}

// endProcess ends the launched browser with its whole group and gives its profile back.
func (l *live) endProcess(polite bool) chrome.Leftover {
	var left chrome.Leftover
	if l.process != nil {
		left = l.process.End(polite)
		l.closeConnection()
	}
	if l.profile != nil {
		l.profile.Release()
	}
	return left
}

package session

import (
	"context"
	"errors"
	"time"

	"github.com/krometrail/krometrail/browser/capture"
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

const (
	// answerLimit is how long a launched browser may take to answer its first command. Cold disks are slow.
	answerLimit = 20 * time.Second
	// firstPageLimit bounds the wait for the launched browser's first page.
	firstPageLimit = 10 * time.Second
	// attachedPageLimit bounds the wait for a page of a browser that was already running: its pages may be frozen.
	attachedPageLimit = 2 * time.Second
	// firstLoadLimit bounds the wait for the initial address; the page goes on loading afterwards.
	firstLoadLimit = 10 * time.Second
	// baselineWidth and baselineHeight are the viewport of headless pages that were not asked for another.
	baselineWidth, baselineHeight = 1280, 720
	// jpegQuality is the requested quality of recorded frames.
	jpegQuality = 80
)

// Start launches a browser and begins a session.
func (b *Browser) Start(ctx context.Context, r corepage.StartRequest) (corepage.Status, error) {
	if err := checkStart(r); err != nil {
		return corepage.Status{}, err
	}
	leave, err := b.enter(ctx)
	if err != nil {
		return corepage.Status{}, err
	}
	defer leave()
	if err := b.vacant(); err != nil {
		return corepage.Status{}, err
	}
	l, err := b.become(func() (*live, error) { return b.launch(ctx, r) })
	if err != nil {
		return corepage.Status{}, err
	}
	status := b.status(l)
	if l.profile.Substituted {
		status.Warnings = append(status.Warnings, fault.New(fault.ProfileSubstituted, "the default profile is in use; this session has %s", l.profile.Name))
	}
	if r.URL != "" {
		status = b.openFirst(ctx, l, r.URL, status)
	}
	return status, nil
}

// vacant checks that no session is alive and lets the last one's slot go.
func (b *Browser) vacant() error {
	switch state, _ := b.snapshot(); state {
	case corepage.StateNone, corepage.StateEnded:
		return nil
	default:
		return fault.New(fault.InvalidLifecycleTransition, "a browser session is already running").
			WithRecovery("use it, or stop_browser first")
	}
}

// become makes a session and puts it in place; whatever keeps it from coming about leaves the state as it was.
func (b *Browser) become(create func() (*live, error)) (l *live, err error) {
	previous, _ := b.snapshot()
	b.setState(corepage.StateConnecting)
	defer func() {
		if l == nil {
			b.setState(previous)
		}
	}()
	if l, err = create(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.live, b.state = l, corepage.StateReady
	b.mu.Unlock()
	l.supervision.Go(l.supervise)
	// The first sample is taken before the start answers: a sleep right after it would go unseen otherwise.
	first := l.putSample()
	l.supervision.Go(func() { l.sample(first) })
	return l, nil
}

func checkStart(r corepage.StartRequest) error {
	if r.EveryNthFrame < 0 || r.EveryNthFrame > 60 {
		return fault.Input("every_nth_frame", "between 1 and 60")
	}
	if r.Profile != "" {
		if err := chrome.CheckProfileName(r.Profile); err != nil {
			return err
		}
	}
	if v := r.Viewport; v != nil && (v.Width < 1 || v.Height < 1 || v.Width > maxViewport || v.Height > maxViewport) {
		return fault.Input("viewport", "width and height between 1 and 10000")
	}
	if r.URL != "" {
		return checkURL("url", r.URL)
	}
	return nil
}

func (b *Browser) launch(ctx context.Context, r corepage.StartRequest) (*live, error) {
	found, rows, err := chrome.Discover(ctx, chrome.Search{
		Explicit: r.Executable, Environment: b.deps.Executable, Getenv: b.deps.Getenv, Clock: b.deps.Clock,
	})
	if err != nil {
		b.deps.Logger.Warn("no browser found", "candidates", rows)
		return nil, err
	}
	profiles := b.profiles
	if found.Snap {
		profiles = chrome.NewProfiles(chrome.SnapProfiles(b.deps.Getenv("HOME")))
	}
	profile, err := profiles.Acquire(r.Profile)
	if err != nil {
		return nil, err
	}
	config, sandbox := b.launchConfig(found, profile, r)
	process, err := b.startProcess(config)
	if err != nil {
		profile.Release()
		return nil, err
	}
	profile.Own(process.PID())
	l := b.newLive(captureConfig(r.EveryNthFrame, r.CaptureSize))
	l.profile, l.process, l.found, l.sandbox = profile, process, rows, sandbox
	l.focus = defaultTo(r.Focus, "foreground")
	l.record.Ownership, l.record.Profile, l.record.Focus = record.Managed, profile.Name, l.focus
	if config.Headless {
		l.viewport.baseline = baseline(r.Viewport)
	} else if r.Viewport != nil {
		l.viewport.baseline = baseline(r.Viewport)
	}
	if err := l.establish(ctx, process.Transport(), config.Headless); err != nil {
		l.discard()
		return nil, launchFailure(ctx, process, err)
	}
	return l, nil
}

// launchFailure prefers what the process tells about its end to the broken connection that followed from it.
func launchFailure(ctx context.Context, process Process, err error) error {
	switch code := fault.CodeOf(err); {
	case ctx.Err() != nil:
		return fault.New(fault.Cancelled, "the start was cancelled").Because(context.Cause(ctx))
	case code == fault.BrowserDisconnected, code == fault.PageUnresponsive, errors.Is(err, cdp.ErrClosed),
		errors.Is(err, context.DeadlineExceeded):
		return process.Failure()
	}
	return err
}

func (b *Browser) launchConfig(found chrome.Found, profile *chrome.Profile, r corepage.StartRequest) (chrome.Config, [2]string) {
	off, reason := b.deps.Sandbox.Resolve()
	sandbox := [2]string{"on", ""}
	if off {
		sandbox = [2]string{"off", reason}
	}
	size := baseline(r.Viewport)
	return chrome.Config{
		Executable: found.Path, ProfileDir: profile.Dir, Headless: b.headless(r.Headless), NoSandbox: off,
		SmallSharedMemory: chrome.SmallSharedMemory(), Width: size.Width, Height: size.Height, Clock: b.deps.Clock,
	}, sandbox
}

func (b *Browser) headless(choice string) bool {
	switch choice {
	case "true":
		return true
	case "false":
		return false
	}
	return needsHeadless(b.deps.Getenv)
}

func baseline(v *corepage.Size) *corepage.Size {
	if v != nil {
		return &corepage.Size{Width: v.Width, Height: v.Height}
	}
	return &corepage.Size{Width: baselineWidth, Height: baselineHeight}
}

func defaultTo(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

func captureConfig(stride int, size string) record.CaptureConfig {
	return record.CaptureConfig{EveryNthFrame: max(stride, 1), Size: defaultTo(size, "balanced"), Format: "jpeg", Quality: jpegQuality}
}

// newLive makes the parts of a session that do not depend on its connection.
func (b *Browser) newLive(c record.CaptureConfig) *live {
	l := &live{
		browser: b, id: id.New[id.Session](), clock: clock.Begin(b.deps.Clock), facts: newFacts(b.deps.Facts, b.deps.Logger),
		urls: redact.NewKey(), viewport: newViewports(), cursors: newCursorKey(), stop: make(chan struct{}), sandbox: [2]string{"unknown", ""},
	}
	l.record = record.Session{
		ID: l.id, StartedAt: b.deps.Clock.Wall(), Capture: c, DiskBudget: b.deps.DiskBudget, Capabilities: b.deps.Capabilities,
	}
	l.recorder = capture.New(capture.Config{
		Session: l.id, Clock: l.clock, Frames: b.deps.Frames, Facts: l.facts, Capture: c, Logger: b.deps.Logger,
	})
	l.viewport.recorder = l.recorder
	return l
}

// establish speaks to a fresh browser, checks that it can do what is needed and waits for its first page.
func (l *live) establish(ctx context.Context, transport cdp.Transport, headless bool) error {
	client := l.browser.client(transport)
	l.client = client
	info, rows, err := identify(ctx, l.browser.deps.Clock, client)
	if err != nil {
		return err
	}
	l.probe = rows
	info.Headless = headless
	l.record.Browser = info
	_ = l.facts.Put(ctx, l.record)
	if err := l.connect(ctx, client, versions(info), nil); err != nil {
		return err
	}
	if l.process == nil {
		return l.checkAttached(ctx)
	}
	ctx, cancel := clock.WithTimeout(ctx, l.browser.deps.Clock, firstPageLimit)
	defer cancel()
	row, err := l.firstPage(ctx)
	if err != nil {
		return err
	}
	// Answered after everything that was sent before: from here on the page can be driven.
	err = row.Session.SendWithin(ctx, firstPageLimit, "Runtime.evaluate", map[string]any{"expression": "0"}, nil)
	if err != nil {
		return err
	}
	return l.checkPage(ctx, row)
}

// firstPage waits until the selected page can be spoken to.
func (l *live) firstPage(ctx context.Context) (row target.Page, err error) {
	_, err = l.registry.Wait(ctx, func(v *target.View) bool {
		row, _ = v.Find(v.Selected)
		return row.Session != nil
	})
	return row, err
}

// checkAttached waits for the first page of a browser that has one, so that the answer can name it, and checks it. A
// browser without pages, or with pages that are frozen, is attached all the same.
func (l *live) checkAttached(ctx context.Context) error {
	if n, err := l.registry.Listed(ctx); n == 0 {
		return err
	}
	limited, cancel := clock.WithTimeout(ctx, l.browser.deps.Clock, attachedPageLimit)
	defer cancel()
	row, err := l.firstPage(limited)
	switch {
	case ctx.Err() != nil || ended(l.registry):
		return err
	case err != nil:
		return nil
	}
	return l.checkPage(limited, row)
}

func versions(b record.Browser) page.Versions {
	return page.Versions{Browser: b.Product, Protocol: b.ProtocolVersion}
}

// discard undoes a start that failed before the session could serve anything.
func (l *live) discard() {
	ctx, cancel := clock.WithTimeout(context.Background(), l.browser.deps.Clock, stopLimit)
	defer cancel()
	l.supervision.Wait()
	l.closeConnection()
	_ = l.recorder.Stop(ctx)
	l.endProcess(false)
	_ = l.facts.stop(ctx)
}

// openFirst loads the initial address. Its failure is a warning: the browser runs.
func (b *Browser) openFirst(ctx context.Context, l *live, url string, status corepage.Status) corepage.Status {
	result, err := b.Navigate(ctx, &corepage.NavigateRequest{URL: url, TimeoutMS: int(firstLoadLimit / time.Millisecond)}, func() {})
	fresh := b.status(l)
	fresh.Warnings = status.Warnings
	switch {
	case err != nil:
		fresh.Warnings = append(fresh.Warnings, fault.From(err))
	case result.Incomplete:
		fresh.Notes = append(fresh.Notes, "the first page is still loading")
	}
	return fresh
}

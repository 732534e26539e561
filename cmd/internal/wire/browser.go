package wire

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/events"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/browser/transfer"
	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/storage"
)

// Env looks up an environment variable; only the composition root does.
type Env func(name string) (string, bool)

// Launch replaces the start of a browser; nil means a real one. The harness supplies a scripted one.
type Launch func(chrome.Config) (session.Process, error)

// Browser provides the browser session and what records its events.
var Browser = fx.Module("browser", fx.Provide(newBrowser, newEventRecording))

type browserParams struct {
	fx.In
	Lifecycle fx.Lifecycle
	Config    *config.Config
	Clock     clock.Clock
	Log       *slog.Logger
	Store     *storage.Store
	Env       Env
	Selection capability.Selection
	Events    *eventRecording
	Downloads *transfer.Downloads
	Snapshots *snapshot.Registry
	Launch    Launch `optional:"true"`
}

func newBrowser(p browserParams) *session.Browser {
	var names []string
	for _, s := range p.Selection.Statuses() {
		if s.State == capability.Enabled {
			names = append(names, string(s.Name))
		}
	}
	b := session.New(session.Deps{
		Clock: p.Clock, Frames: p.Store, Facts: p.Store, Admin: p.Store, Logger: p.Log,
		ProfileRoot: p.Config.ProfileRoot, Executable: p.Config.Chrome, Sandbox: chrome.SandboxMode(p.Config.Sandbox),
		Getenv:     func(name string) string { value, _ := p.Env(name); return value },
		DiskBudget: p.Config.DiskBudget, CaptureOff: !p.Selection.Enabled(capability.TemporalVision), Capabilities: names, RecordsEvents: p.Config.RecordBrowserEvents,
		Subsystems: []session.Subsystem{p.Events, p.Downloads, p.Snapshots}, Launch: p.Launch,
	})
	p.Lifecycle.Append(fx.StopHook(func(ctx context.Context) error { return b.Shutdown(ctx) }))
	return b
}

// eventRecording starts a recorder of browser events with each session.
type eventRecording struct {
	off   bool
	store *storage.Store
	log   *slog.Logger

	mu      sync.Mutex
	running *events.Recorder
	session id.Session
}

func newEventRecording(c *config.Config, store *storage.Store, log *slog.Logger) *eventRecording {
	return &eventRecording{off: !c.RecordBrowserEvents, store: store, log: log}
}

// Begin implements session.Subsystem. One recorder serves a session over its reconnects.
func (r *eventRecording) Begin(s session.Started) target.Observer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil || r.session != s.Session {
		r.session = s.Session
		r.running = events.Start(events.Config{
			Session: s.Session, Clock: s.Clock, Sink: r.store, Facts: s.Facts, Key: s.URLs, Off: r.off, Logger: r.log,
		})
	}
	r.running.Connected(s.Browser)
	return r.running
}

// InFlight implements observe.Traffic.
func (r *eventRecording) InFlight(ctx context.Context, t id.Target) []string {
	if running := r.current(); running != nil {
		return running.InFlight(ctx, t)
	}
	return nil
}

// barrier hands over what was received of browser events so far.
func (r *eventRecording) barrier(ctx context.Context) error {
	if running := r.current(); running != nil {
		return running.Barrier(ctx)
	}
	return nil
}

// current is the recorder of the running session, nil when there is none.
func (r *eventRecording) current() *events.Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// eventsEnd bounds the last flush of events.
const eventsEnd = 5 * time.Second

// End implements session.Subsystem.
func (r *eventRecording) End(id.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), eventsEnd)
	defer cancel()
	if err := r.running.Stop(ctx); err != nil {
		r.log.Warn("browser events were not flushed", "error", err)
	}
	r.running = nil
}

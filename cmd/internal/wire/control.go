package wire

import (
	"context"
	"encoding/json"
	"log/slog"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/tracing"
	"github.com/krometrail/krometrail/mcp"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/temporal/eventquery"
	"github.com/krometrail/krometrail/temporal/operations"
)

// Control provides the interaction runner, the registry of operations and their executor.
var Control = fx.Module("control", fx.Provide(
	newSelection, newPages, newDownloads, newTransfers, newMoves, newRunner, newControlOps, newRegistry, newExecutor, newTracing,
	snapshot.NewRegistry, observe.NewRing, newObserver, newLate,
))

func newSelection(c *config.Config, t *trial) (capability.Selection, error) {
	missing := map[capability.Name]string{}
	if v := t.wait(); v.encoder == nil {
		missing[capability.TemporalVideo] = v.reason
	}
	return capability.Select(c.Capabilities, missing)
}

// pages joins what the browser knows of pages with what the snapshots know of references.
type pages struct {
	*session.Browser
	snapshots *snapshot.Registry
}

func newPages(b *session.Browser, s *snapshot.Registry) capability.Pages { return pages{b, s} }

// ResolvePage implements capability.Pages.
func (p pages) ResolvePage(_ context.Context, target id.Target, refs []string) (id.Target, error) {
	for _, ref := range refs {
		if ref == "" {
			continue
		}
		of, err := p.snapshots.TargetOf(ref)
		if err != nil {
			return "", err
		}
		if target != "" && target != of {
			return "", fault.Input("target", "is page "+string(target)+", but the reference belongs to page "+string(of)+"; give one of them")
		}
		target = of
	}
	return p.Browser.ResolvePage(target)
}

// late is filled when the server exists: batch steps run through it.
type late struct{ server *mcp.Server }

func newLate() *late { return &late{} }

// Execute runs a batch step like a call of its own.
func (l *late) Execute(ctx context.Context, name string, arguments json.RawMessage) capability.Outcome {
	return l.server.Execute(ctx, name, arguments)
}

func newObserver(b *session.Browser, s *snapshot.Registry, r *observe.Ring, e *eventRecording) *observe.Observer {
	o := observe.New(b, s, r)
	o.Follow(e)
	return o
}

func newRunner(d control.Driver, b *session.Browser, store *storage.Store, t *tracing.Tracing, log *slog.Logger) *control.Runner {
	return control.NewRunner(control.NewPageDriver(b, d), b, store, t, log)
}

func newTracing(b *session.Browser, o *observe.Observer, s capability.Selection) *tracing.Tracing {
	return tracing.New(tracing.Config{Sessions: b, Inspector: o, Pages: b, Off: !s.Enabled(capability.ActionTrace)})
}

type controlParams struct {
	fx.In
	Browser   *session.Browser
	Observer  *observe.Observer
	Runner    *control.Runner
	Tracing   *tracing.Tracing
	Store     *storage.Store
	Ring      *observe.Ring
	Selection capability.Selection
	Late      *late
	Transfers control.Transfers
}

func newControlOps(p controlParams) control.Operations {
	return control.Operations{
		Browser: p.Tracing.Browser(p.Browser), PageList: p.Browser, PageSet: p.Tracing.PageSet(p.Browser), Inspection: p.Observer, Camera: p.Observer,
		Waiter: p.Observer, Transfers: p.Transfers, Runner: p.Runner,
		Batch:    control.NewBatch(p.Late.Execute, p.Observer, p.Browser),
		Sessions: p.Browser, Timeline: p.Store, Stored: p.Store, Barrier: p.Store, Admin: p.Store, Pictures: p.Ring,
		Finish: finisher(p.Selection, p.Late),
	}
}

// finisher adds capabilities and hidden tools to a status.
func finisher(selection capability.Selection, l *late) control.StatusFinisher {
	return func(_ context.Context, s *page.Status) {
		for _, c := range selection.Statuses() {
			s.Capabilities = append(s.Capabilities, page.CapabilityState{Name: string(c.Name), State: string(c.State), Reason: c.Reason})
		}
		s.HiddenTools = l.server.Hidden()
	}
}

func newRegistry(s capability.Selection, c control.Operations, t operations.Operations, e *eventquery.Service, traces *tracing.Tracing) (*capability.Registry, error) {
	ops := append(c.Ops(), t.Ops()...)
	registry, err := capability.NewRegistry(s, append(append(ops, e.Op()), traces.Ops()...)...)
	if err == nil {
		c.Batch.SetRegistry(registry)
	}
	return registry, err
}

func newExecutor(c clock.Clock, p capability.Pages, log *slog.Logger) *capability.Executor {
	return capability.NewExecutor(c, p, log)
}

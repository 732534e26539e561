package wire

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/bundle"
	"github.com/krometrail/krometrail/temporal/eventquery"
	"github.com/krometrail/krometrail/temporal/operations"
	"github.com/krometrail/krometrail/temporal/resolve"
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/temporal/video"
)

// Temporal provides what answers questions about recorded time.
var Temporal = fx.Module("temporal", fx.Provide(newResolver, newReader, newArtifacts, newEvents, newBundles, newTemporalOps, newLive))

// live is what temporal services ask the running browser.
type live struct {
	fx.Out
	Resolve resolve.Live
	Load    artifact.Load
	Running operations.Running
}

func newLive(b *session.Browser) live { return live{Resolve: b, Load: b, Running: b} }

func newEvents(store *storage.Store, r *resolve.Resolver) *eventquery.Service {
	return eventquery.New(store, store, r)
}

func newResolver(store *storage.Store, events *eventRecording, live resolve.Live) *resolve.Resolver {
	return resolve.New(flushed{store, events}, store, store, live)
}

// flushed is the store with a barrier that browser events pass as well: what a page said before a question was asked
// is part of the answer.
type flushed struct {
	*storage.Store
	events *eventRecording
}

// Barrier implements record.Barrier.
func (f flushed) Barrier(ctx context.Context) error {
	if err := f.events.barrier(ctx); err != nil {
		return err
	}
	return f.Store.Barrier(ctx)
}

func newReader(store *storage.Store) *sequence.Reader { return sequence.NewReader(store, store) }

func newArtifacts(store *storage.Store, load artifact.Load, c clock.Clock, log *slog.Logger) *artifact.Service {
	return artifact.New(store, store, store, load, c, log)
}

func newBundles(r *resolve.Resolver, reader *sequence.Reader, store *storage.Store, a *artifact.Service, events *eventquery.Service, c clock.Clock) *bundle.Service {
	return bundle.New(r, reader, store, a, events, c)
}

func newTemporalOps(r *resolve.Resolver, reader *sequence.Reader, a *artifact.Service, b *bundle.Service, store *storage.Store, running operations.Running, v *video.Service, g *observe.Observer) operations.Operations {
	return operations.Operations{
		Resolver: r, Reader: reader, Artifacts: a, Bundles: b, Frames: store, Store: store, Facts: store, Pins: store, Running: running,
		Video: v, Geometry: g,
	}
}

package wire

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/cmd/internal/version"
	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/mcp"
	"github.com/krometrail/krometrail/mcp/catalogue"
	"github.com/krometrail/krometrail/mcp/resource"
	"github.com/krometrail/krometrail/storage"
)

// Protocol provides the MCP server.
var Protocol = fx.Module("protocol", fx.Provide(newResources, newServer))

// Drain ends the browser and its recording when a connection ends. The command that serves supplies it,
// because it is the whole program that ends then; without one nothing is drained.
type Drain func(ctx context.Context) error

type serverParams struct {
	fx.In
	Config    *config.Config
	Registry  *capability.Registry
	Executor  *capability.Executor
	Resources resource.Reader
	Clock     clock.Clock
	Log       *slog.Logger
	Late      *late
	Drain     Drain `optional:"true"`
}

func newServer(p serverParams) (*mcp.Server, error) {
	s, err := mcp.New(mcp.Config{
		Version: version.String(), Registry: p.Registry, Tools: catalogue.Set(p.Config.Tools), Executor: p.Executor,
		Resources: p.Resources, Clock: p.Clock, Log: p.Log, Drain: p.Drain,
	})
	if err != nil {
		return nil, err
	}
	p.Late.server = s
	return s, nil
}

// resources reads what answers offer by URI.
type resources struct {
	store     *storage.Store
	ring      *observe.Ring
	downloads downloadReader
}

// downloadReader reads completed downloads of a running managed session.
type downloadReader interface {
	ReadDownload(ctx context.Context, s id.Session, d id.Download) (data []byte, mediaType string, err error)
}

func newResources(store *storage.Store, ring *observe.Ring, downloads downloadReader) resource.Reader {
	return &resources{store: store, ring: ring, downloads: downloads}
}

// Read implements resource.Reader.
func (r *resources) Read(ctx context.Context, ref resource.Ref) (resource.Content, error) {
	switch ref.Collection {
	case evidence.Artifacts, evidence.Videos, evidence.Manifests:
		return r.artifact(ctx, ref)
	case evidence.FramesPath:
		return r.frame(ctx, ref)
	case evidence.Observations:
		data, media, err := r.ring.Get(ref.Session, ref.Target, id.Observation(ref.Name))
		return resource.Content{MediaType: media, Data: data}, err
	case resource.Downloads:
		data, media, err := r.downloads.ReadDownload(ctx, ref.Session, id.Download(ref.Name))
		return resource.Content{MediaType: media, Data: data}, err
	}
	return resource.Content{}, missing(ref)
}

// artifact reads a picture, a clip or a manifest. The URI must name the page it belongs to and its own kind.
func (r *resources) artifact(ctx context.Context, ref resource.Ref) (resource.Content, error) {
	if err := r.store.Barrier(ctx); err != nil {
		return resource.Content{}, err
	}
	a, err := r.store.Artifact(ctx, id.Artifact(ref.Name))
	if err != nil {
		return resource.Content{}, err
	}
	video := a.Kind == evidence.Video
	wrong := ref.Collection == evidence.Videos && !video || ref.Collection == evidence.Artifacts && video
	if a.SessionID != ref.Session || a.TargetID != ref.Target || wrong {
		return resource.Content{}, missing(ref)
	}
	if ref.Collection == evidence.Manifests {
		data, err := r.store.ReadManifest(ctx, a.ID)
		return resource.Content{MediaType: "application/json", Data: data}, err
	}
	data, err := r.store.ReadArtifact(ctx, a.ID)
	return resource.Content{MediaType: a.MediaType, Data: data}, err
}

func (r *resources) frame(ctx context.Context, ref resource.Ref) (resource.Content, error) {
	if err := r.store.Barrier(ctx); err != nil {
		return resource.Content{}, err
	}
	var f record.Frame
	f, err := r.store.Frame(ctx, id.Frame(ref.Name))
	if err != nil {
		return resource.Content{}, err
	}
	if f.SessionID != ref.Session || f.TargetID != ref.Target {
		return resource.Content{}, missing(ref)
	}
	data, err := r.store.Pixels(ctx, f)
	return resource.Content{MediaType: "image/" + f.Format, Data: data}, err
}

func missing(ref resource.Ref) error {
	return fault.New(fault.NotFound, "no resource has this URI").About(fault.Context{SessionID: ref.Session, TargetID: ref.Target}).
		WithRecovery("use a URI exactly as a tool result gives it")
}

// Package artifact makes pictures of recorded ranges: it chooses epochs, feeds the frames to the visual
// module, publishes what comes back with a manifest, and finds again what was made before.
package artifact

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/single"
)

const (
	// activeRequests is how many requests generate at the same time; others wait.
	activeRequests = 2
	// deadline bounds one request.
	deadline = 15 * time.Second
	// MaxOutputs bounds the pictures of one request.
	MaxOutputs = 16
	// maxEncoded bounds one encoded picture, in bytes.
	maxEncoded = 16 << 20
)

// Load says how busy capture is; generation steps back while pages record.
type Load interface {
	// Recording reports whether any stream is above ten frames a second.
	Recording() bool
}

// Service generates artifacts. Safe for concurrent use.
type Service struct {
	frames record.FrameReader
	store  record.ArtifactStore
	config func(ctx context.Context, s id.Session) (record.CaptureConfig, error)
	load   Load
	clock  clock.Clock
	log    *slog.Logger
	active *semaphore.Weighted
	jobs   single.Keys
	recent analyses
	made   made
}

// New returns a service. sessions supplies the capture configuration for manifests.
func New(frames record.FrameReader, store record.ArtifactStore, sessions record.SessionReader, load Load, c clock.Clock, log *slog.Logger) *Service {
	return &Service{
		frames: frames, store: store, load: load, clock: c, log: log, active: semaphore.NewWeighted(activeRequests),
		config: func(ctx context.Context, name id.Session) (record.CaptureConfig, error) {
			s, err := sessions.Session(ctx, name)
			return s.Capture, err
		},
	}
}

// workers is the decode pool's size.
func (s *Service) workers() int {
	if s.load.Recording() {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// admit waits for one of the places for generating requests and bounds the time.
func (s *Service) admit(ctx context.Context) (context.Context, func(), error) {
	ctx, cancel := clock.WithTimeout(ctx, s.clock, deadline)
	if err := s.active.Acquire(ctx, 1); err != nil {
		cancel()
		return ctx, nil, overdue(ctx)
	}
	return ctx, func() { s.active.Release(1); cancel() }, nil
}

func overdue(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fault.New(fault.ArtifactGenerationFailed, "the pictures were not finished within %d s", int(deadline/time.Second)).
			WithRecovery("ask for a shorter range, fewer kinds or sampling=bounded")
	}
	return fault.New(fault.Cancelled, "generation was cancelled; nothing was published")
}

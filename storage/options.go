package storage

import (
	"context"
	"log/slog"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/instance"
)

// Limits and defaults of the running system.
const (
	// DefaultBudget is the disk budget shared by all live instances, in bytes.
	DefaultBudget = 10_000_000_000
	// DefaultMaxAge is the age at which evidence expires.
	DefaultMaxAge = 7 * 24 * time.Hour
	// MaxFrame is the largest encoded frame in bytes.
	MaxFrame = 16 << 20
	// MaxArtifact is the largest artifact file in bytes; MaxManifest bounds its manifest.
	MaxArtifact = 64 << 20
	MaxManifest = 4 << 20
	// MaxEventPayload is the largest event payload in bytes.
	MaxEventPayload = 8 << 10
	// MinBudget is the smallest budget that can hold a segment and the index of each assumed instance.
	MinBudget = 16 << 20

	segmentMax      = 64 << 20
	segmentMin      = 1 << 20
	segmentFraction = 16 // of the share
	segmentAge      = 60 * time.Second
	flushBytes      = 4 << 20
	artifactGrace   = 15 * time.Minute
	highWater       = 0.85
	indexReserve    = 8 << 20
	reserveFraction = 8 // the reserve is at most this fraction of the share
	publisherQueue  = 64
)

// Peers is what the store asks about the other instances. *instance.Instance implements it.
type Peers interface {
	// Live counts the live instances, this one included. It is called at every budget decision.
	Live() instance.Count
	// Reap removes abandoned roots, as far as possible, and returns how many.
	Reap(ctx context.Context) int
}

// Options are the store's dependencies and settings. Clock and Logger are required.
type Options struct {
	Clock  clock.Clock
	Logger *slog.Logger
	// BudgetBytes is the total of all live instances; 0 means DefaultBudget. At least MinBudget.
	BudgetBytes int64
	// MaxAge is the age at which evidence expires; 0 means never.
	MaxAge time.Duration
	// Peers divides the budget; nil means that this store is alone.
	Peers Peers
	// FS replaces the file system below the root, for tests; nil means the real one. The index is not behind it.
	FS disk.FS
	// Step, when set, is called before and after each commit of the index with the step's name, for crash tests.
	Step func(name string)
}

// alone is the absence of peers.
type alone struct{}

func (alone) Live() instance.Count     { return instance.Count{Live: 1, Source: instance.Undivided} }
func (alone) Reap(context.Context) int { return 0 }

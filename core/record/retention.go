package record

import (
	"context"
	"io"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Pin protects every segment needed to rebuild a window of a target.
type Pin struct {
	Window
	Segments int   `json:"segments"`
	Bytes    int64 `json:"bytes"`
}

// PinResult is the answer to pinning or unpinning.
type PinResult struct {
	Changed  bool  `json:"changed"`
	Segments int   `json:"protected_segments"`
	Bytes    int64 `json:"pinned_bytes"`
	// UnrecordedFromNS is set when the window reaches beyond what is recorded; that part is not pinned.
	UnrecordedFromNS *clock.SessionTime `json:"unrecorded_from_ns,omitempty"`
	Warnings         []*fault.Error     `json:"-"`
}

// PinStore protects ranges from eviction.
type PinStore interface {
	Pin(ctx context.Context, w Window) (PinResult, error)
	Unpin(ctx context.Context, w Window) (PinResult, error)
	// Pins lists all pins, of one window when w is not nil.
	Pins(ctx context.Context, w *Window) ([]Pin, error)
}

// Artifact is a published derived file and its manifest.
type Artifact struct {
	ID        id.Artifact `json:"artifact_id"`
	SessionID id.Session  `json:"session_id"`
	TargetID  id.Target   `json:"target_id"`
	// Kind is storyboard, difference_map, motion_history, orientation, region_filmstrip or video.
	Kind      string `json:"kind"`
	MediaType string `json:"media_type"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Bytes     int64  `json:"bytes"`
	// SHA256 is the lower-case hex digest of the file.
	SHA256 string `json:"sha256"`
	// CacheKey identifies equal requests; equal keys share one artifact.
	CacheKey string            `json:"-"`
	StartNS  clock.SessionTime `json:"start_ns"`
	EndNS    clock.SessionTime `json:"end_ns"`
	// Sources are the frames it was derived from; it is invalidated when one of them goes.
	Sources []id.Frame `json:"-"`
	// CreatedAt is wall time.
	CreatedAt time.Time `json:"created_at"`
}

// ArtifactStore keeps derived files. Publication is atomic: an artifact is found with its complete file
// and manifest, or not at all.
type ArtifactStore interface {
	// FindArtifact returns the live artifact with this cache key; ok is false when there is none.
	FindArtifact(ctx context.Context, cacheKey string) (a Artifact, ok bool, err error)
	// PublishArtifact writes file and manifest. Evidence that was evicted meanwhile gives
	// evidence_invalidated and leaves nothing behind. Warnings may hold artifact_grace_overridden.
	PublishArtifact(ctx context.Context, a Artifact, file io.Reader, manifest []byte) (Artifact, []*fault.Error, error)
	// Artifact returns the record; evidence_invalidated when it was removed, not_found when never made.
	Artifact(ctx context.Context, a id.Artifact) (Artifact, error)
	// ReadArtifact returns the file's bytes.
	ReadArtifact(ctx context.Context, a id.Artifact) ([]byte, error)
	// ReadManifest returns the manifest's JSON.
	ReadManifest(ctx context.Context, a id.Artifact) ([]byte, error)
}

// RetentionStatus describes the disk budget of this instance.
type RetentionStatus struct {
	BudgetBytes   int64 `json:"budget_bytes"`
	ShareBytes    int64 `json:"share_bytes"`
	LiveInstances int   `json:"live_instances"`
	// CountSource says how LiveInstances is known: proved, last_proved, assumed or undivided.
	CountSource string `json:"count_source"`
	UsedBytes   int64  `json:"used_bytes"`
	PinnedBytes int64  `json:"pinned_bytes"`
	// OldestAt and NewestAt are wall times of retained evidence.
	OldestAt               *time.Time         `json:"oldest_at,omitempty"`
	NewestAt               *time.Time         `json:"newest_at,omitempty"`
	GraceOverriddenThrough *clock.SessionTime `json:"grace_overridden_through,omitempty"`
	MaxAgeSeconds          int64              `json:"max_age_seconds"`
	EvictionBlocked        bool               `json:"eviction_blocked"`
	RecordingBlocked       bool               `json:"recording_blocked"`
	// Failure is what keeps evidence from being stored now, else the first persistence failure of this process, nil while
	// all is well. It says whether trying again is safe and what to do.
	Failure *fault.Error `json:"failure,omitempty"`
}

// SessionUsage is one row of the session list.
type SessionUsage struct {
	Session
	Targets int   `json:"targets"`
	Frames  int   `json:"frames"`
	Events  int   `json:"events"`
	Bytes   int64 `json:"bytes"`
}

// Deletion counts what delete_session removed.
type Deletion struct {
	Frames    int   `json:"frames"`
	Events    int   `json:"events"`
	Artifacts int   `json:"artifacts"`
	Pins      int   `json:"pins"`
	Rows      int   `json:"rows"`
	Bytes     int64 `json:"bytes"`
}

// Admin is the management side of the store.
type Admin interface {
	Retention(ctx context.Context) (RetentionStatus, error)
	Usage(ctx context.Context) ([]SessionUsage, error)
	// DeleteSession removes everything of a session; the running one is refused by the caller.
	DeleteSession(ctx context.Context, s id.Session) (Deletion, error)
	// EndSession seals the session's open segments, writes its end and syncs. It returns when accepted
	// frames and facts are durable.
	EndSession(ctx context.Context, s Session) error
}

// Package video makes clips of recorded ranges: it lays out what is shown when, has it encoded, and publishes the clip
// with a manifest that maps its every moment back to session time and frames.
package video

import (
	"context"
	"errors"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/single"
	"github.com/krometrail/krometrail/visual"
)

// Bounds of a request.
const (
	MaxSource       = 30 * time.Second
	MaxPresentation = 60 * time.Second
	MaxWidth        = 1920
	MaxHeight       = 1080
	// MaxClips bounds the epochs of one request.
	MaxClips = 4
	// deadline bounds one request with all its clips.
	deadline = 90 * time.Second
)

// Service makes clips. Safe for concurrent use.
type Service struct {
	artifacts *artifact.Service
	store     record.ArtifactStore
	encoder   Encoder
	clock     clock.Clock
	jobs      single.Keys
}

// New returns a service that encodes with e.
func New(a *artifact.Service, store record.ArtifactStore, e Encoder, c clock.Clock) *Service {
	return &Service{artifacts: a, store: store, encoder: e, clock: c}
}

// Request says which clips are wanted.
type Request struct {
	artifact.Request
	Policy visual.PlanPolicy
	// Width and Height bound the picture; 0 means MaxWidth and MaxHeight.
	Width, Height int
	MaxBytes      int64
}

// Generate makes or finds one clip for each epoch. Each outcome stands for itself; the error is about the request as a
// whole.
func (s *Service) Generate(ctx context.Context, r Request) ([]evidence.VideoClip, []*fault.Error, error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := clock.WithTimeout(ctx, s.clock, deadline)
	defer cancel()
	var clips []evidence.VideoClip
	var warnings []*fault.Error
	for _, epoch := range r.Epochs {
		clip, warned, err := s.epoch(ctx, r, epoch)
		if err != nil {
			rng := r.Sequence.Range
			clip = evidence.VideoClip{Epoch: epoch, Status: "unavailable", Error: s.explain(ctx, err).
				About(fault.Context{SessionID: rng.SessionID, TargetID: rng.TargetID})}
		}
		clips, warnings = append(clips, clip), append(warnings, warned...)
	}
	return clips, warnings, nil
}

func (s *Service) explain(ctx context.Context, err error) *fault.Error {
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fault.New(fault.ArtifactGenerationFailed, "the video was not finished within %d s", int(deadline/time.Second)).
			WithRecovery("ask for a shorter range or a smaller picture").Because(err)
	case ctx.Err() != nil:
		return fault.New(fault.Cancelled, "the video was cancelled; nothing was published").Because(err)
	}
	return fault.From(err)
}

// check holds what is known before anything is read.
func (r *Request) check() error {
	if r.Width == 0 {
		r.Width = MaxWidth
	}
	if r.Height == 0 {
		r.Height = MaxHeight
	}
	rng := r.Sequence.Range
	if length := rng.EndNS.Sub(rng.StartNS); length > MaxSource {
		return fault.New(fault.ResourceLimitExceeded, "the range lasts %.1f s, a video covers at most %d s", length.Seconds(), int(MaxSource/time.Second)).
			WithLimit("video_source_ms", length.Milliseconds(), MaxSource.Milliseconds(), MaxSource.Milliseconds()).
			WithRecovery("ask for a shorter range")
	}
	if n := len(r.Epochs); n > MaxClips {
		return fault.New(fault.ResourceLimitExceeded, "the range has %d geometry epochs, at most %d clips are made at once", n, MaxClips).
			WithLimit("video_clips", int64(n), MaxClips, MaxClips).WithRecovery("ask for a shorter range")
	}
	return nil
}

// key is everything that decides what a clip looks like.
func (s *Service) key(r Request, analysis string) string {
	return artifact.Digest(struct {
		Analysis, Kind string
		Policy         visual.PlanPolicy
		Width, Height  int
		MaxBytes       int64
		Encoder        Identity
	}{analysis, evidence.Video, r.Policy, r.Width, r.Height, r.MaxBytes, s.encoder.Identity()})
}

// epoch finds or makes the clip of one epoch.
func (s *Service) epoch(ctx context.Context, r Request, epoch int) (evidence.VideoClip, []*fault.Error, error) {
	analysisKey, sources := r.Identity(epoch)
	key := s.key(r, analysisKey)
	leave, err := s.jobs.Enter(ctx, key)
	if err != nil {
		return evidence.VideoClip{}, nil, err
	}
	defer leave()
	if found, ok, err := s.store.FindArtifact(ctx, key); err == nil && ok {
		if raw, err := s.store.ReadManifest(ctx, found.ID); err == nil {
			return describe(found, raw, "hit"), nil, nil
		}
	}
	rng := r.Sequence.Range
	a := record.Artifact{
		ID: id.New[id.Artifact](), SessionID: rng.SessionID, TargetID: rng.TargetID, Kind: evidence.Video, CacheKey: key,
		StartNS: rng.StartNS, EndNS: rng.EndNS, Sources: sources, CreatedAt: s.clock.Wall(),
	}
	return s.make(ctx, r, epoch, a)
}

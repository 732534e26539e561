package artifact

import (
	"context"
	"encoding/json"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/visual"
)

// ManifestSchema names the JSON form of Manifest.
const ManifestSchema = "krometrail.manifest.v1"

// Manifest is the provenance of a picture: the visual module's own manifest with what it cannot know.
type Manifest struct {
	Schema     string      `json:"schema"`
	ArtifactID id.Artifact `json:"artifact_id"`
	Kind       string      `json:"kind"`
	Origin
	// Measure is there on storyboards, so that a repeated question needs no pixels.
	Measure *evidence.Measure `json:"measure,omitempty"`
	Visual  visual.Manifest   `json:"visual"`
}

// Origin is the recorded evidence that something was derived from.
type Origin struct {
	SessionID  id.Session             `json:"session_id"`
	TargetID   id.Target              `json:"target_id"`
	Capture    record.CaptureConfig   `json:"capture"`
	Range      evidence.ResolvedRange `json:"range"`
	TimeSource string                 `json:"time_source"`
	Epoch      int                    `json:"epoch"`
	// SourceFrames are the ordered frames of the epoch in the range; CarryIn the baseline before it.
	SourceFrames []id.Frame   `json:"source_frames"`
	CarryIn      id.Frame     `json:"carry_in,omitempty"`
	Gaps         []record.Gap `json:"gaps"`
}

// Origin describes one epoch of the request.
func (s *Service) Origin(ctx context.Context, r Request, index int) (Origin, error) {
	e, rng := r.epoch(index), r.Sequence.Range
	o := Origin{
		SessionID: rng.SessionID, TargetID: rng.TargetID, Range: rng, TimeSource: rng.TimeSource, Epoch: index,
		SourceFrames: []id.Frame{}, Gaps: []record.Gap{},
	}
	for _, f := range e.frames {
		o.SourceFrames = append(o.SourceFrames, f.ID)
	}
	if e.carryIn != nil {
		o.CarryIn = e.carryIn.ID
	}
	for _, g := range r.Sequence.Facts.Gaps {
		if g.Stream == record.StreamFrames {
			o.Gaps = append(o.Gaps, g)
		}
	}
	var err error
	o.Capture, err = s.config(ctx, rng.SessionID)
	return o, err
}

func (s *Service) manifest(ctx context.Context, r Request, e epochSequence, a record.Artifact, made *drawing) ([]byte, error) {
	origin, err := s.Origin(ctx, r, e.index)
	if err != nil {
		return nil, err
	}
	m := Manifest{Schema: ManifestSchema, ArtifactID: a.ID, Kind: a.Kind, Origin: origin, Visual: made.picture.Manifest}
	if a.Kind == evidence.Storyboard {
		m.Measure = measure(made.analysis, zero(r))
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fault.From(err)
	}
	return raw, nil
}

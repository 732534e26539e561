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
	Schema     string                 `json:"schema"`
	ArtifactID id.Artifact            `json:"artifact_id"`
	Kind       string                 `json:"kind"`
	SessionID  id.Session             `json:"session_id"`
	TargetID   id.Target              `json:"target_id"`
	Capture    record.CaptureConfig   `json:"capture"`
	Range      evidence.ResolvedRange `json:"range"`
	TimeSource string                 `json:"time_source"`
	Epoch      int                    `json:"epoch"`
	// SourceFrames are the ordered frames of the epoch in the range; CarryIn the baseline before it.
	SourceFrames []id.Frame      `json:"source_frames"`
	CarryIn      id.Frame        `json:"carry_in,omitempty"`
	Gaps         []record.Gap    `json:"gaps"`
	Visual       visual.Manifest `json:"visual"`
}

func (s *Service) manifest(ctx context.Context, r Request, e epochSequence, a record.Artifact, v visual.Manifest) ([]byte, error) {
	m := Manifest{
		Schema: ManifestSchema, ArtifactID: a.ID, Kind: a.Kind, SessionID: a.SessionID, TargetID: a.TargetID,
		Range: r.Sequence.Range, TimeSource: r.Sequence.Range.TimeSource, Epoch: e.index,
		SourceFrames: []id.Frame{}, Gaps: []record.Gap{}, Visual: v,
	}
	for _, f := range e.frames {
		m.SourceFrames = append(m.SourceFrames, f.ID)
	}
	if e.carryIn != nil {
		m.CarryIn = e.carryIn.ID
	}
	for _, g := range r.Sequence.Facts.Gaps {
		if g.Stream == record.StreamFrames {
			m.Gaps = append(m.Gaps, g)
		}
	}
	config, err := s.config(ctx, e.all()[0])
	if err != nil {
		return nil, err
	}
	m.Capture = config
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fault.From(err)
	}
	return raw, nil
}

package video

import (
	"encoding/json"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/visual"
)

// ManifestSchema names the JSON form of Manifest.
const ManifestSchema = "krometrail.video.v1"

// Manifest is the provenance of a clip. The clip is a derived presentation: the source frames are the evidence.
type Manifest struct {
	Schema     string      `json:"schema"`
	ArtifactID id.Artifact `json:"artifact_id"`
	Kind       string      `json:"kind"`
	artifact.Origin
	EvidenceClass visual.EvidenceClass `json:"evidence_class"`
	Algorithm     string               `json:"algorithm"`
	// Plan says what is shown when: start_ns and duration_ns of its entries are presentation times exactly as they
	// stand in the file, from_ns and to_ns session times.
	Plan *visual.VideoPlan `json:"plan"`
	// Unshown are frames that were presented at the instant of the next one, for no time.
	Unshown []visual.PlanEntry `json:"unshown,omitempty"`
	Encoder Identity           `json:"ffmpeg"`
	Output  Output             `json:"output"`
}

// Output describes the file.
type Output struct {
	MediaType string `json:"media_type"`
	Codec     string `json:"codec"`
	Audio     bool   `json:"audio"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	// ScaleNum / ScaleDen is video pixels per frame pixel.
	ScaleNum int    `json:"scale_num"`
	ScaleDen int    `json:"scale_den"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
	LengthNS int64  `json:"length_ns"`
}

func newManifest(o artifact.Origin, a record.Artifact, plan *visual.VideoPlan, unshown []visual.PlanEntry, clip Clip, by Identity) Manifest {
	return Manifest{
		Schema: ManifestSchema, ArtifactID: a.ID, Kind: a.Kind, Origin: o, EvidenceClass: visual.SourceDerived,
		Algorithm: "visual.plan." + string(plan.Policy), Plan: plan, Unshown: unshown, Encoder: by,
		Output: Output{
			MediaType: clip.MediaType, Codec: "h264", Width: clip.Width, Height: clip.Height,
			ScaleNum: min(clip.Width, plan.Canvas.X), ScaleDen: plan.Canvas.X, Bytes: clip.Bytes, SHA256: clip.SHA256, LengthNS: int64(clip.Length),
		},
	}
}

// describe makes the outcome from what was published.
func describe(a record.Artifact, manifest []byte, cache string) evidence.VideoClip {
	out := evidence.VideoClip{
		Status: "available", Artifact: &a, Cache: cache, URI: evidence.ArtifactURI(a), ManifestURI: evidence.ManifestURI(a),
	}
	var m Manifest
	if json.Unmarshal(manifest, &m) != nil || m.Plan == nil {
		return out
	}
	out.Epoch, out.Policy, out.Encoder, out.Build = m.Epoch, string(m.Plan.Policy), m.Encoder.Encoder, m.Encoder.Build
	out.LengthMS = float64(m.Output.LengthNS/1000) / 1000
	for _, e := range m.Plan.Entries {
		if e.Kind == visual.EntryFrame {
			out.Frames++
		} else {
			out.Slates++
		}
	}
	out.Skipped = m.Plan.Skipped + len(m.Unshown)
	if s := m.Plan.Sampling; s.Analyzed < s.Source {
		out.Sampling = &evidence.Sampling{Mode: string(s.Mode), Analyzed: s.Analyzed, Source: s.Source}
	}
	return out
}

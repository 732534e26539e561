package operations

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/temporal/artifact"
)

func (o Operations) generate() capability.Op {
	return define[evidence.ArtifactsRequest, evidence.ArtifactsResult](capability.Spec{
		Name: "generate_artifacts", Lean: true, Pictures: true, PicturesByDefault: true, OwnDeadline: true, Title: "Generate pictures",
		Summary: "Pictures of a range; or, with artifact_id alone, one made before.",
	}, func(ctx context.Context, r *evidence.ArtifactsRequest) (capability.Outcome, error) {
		if r.ArtifactID != "" {
			return o.again(ctx, r)
		}
		return o.make(ctx, r)
	})
}

// again shows an artifact that was made before.
func (o Operations) again(ctx context.Context, r *evidence.ArtifactsRequest) (capability.Outcome, error) {
	alone := evidence.ArtifactsRequest{ArtifactID: r.ArtifactID}
	if r.RangeRef != alone.RangeRef || len(r.Kinds) > 0 || r.Tiles != 0 {
		return capability.Outcome{Stage: "decode"}, fault.Input("artifact_id", "stands alone: leave out the range, kinds and options")
	}
	a, err := o.Store.Artifact(ctx, r.ArtifactID)
	if err != nil {
		return capability.Outcome{Stage: "read"}, err
	}
	shown := evidence.ArtifactOutcome{
		Kind: a.Kind, Status: "available", Artifact: &a, Cache: "hit", URI: evidence.ArtifactURI(a), ManifestURI: evidence.ManifestURI(a),
	}
	out := capability.Outcome{Result: evidence.ArtifactsResult{Outcomes: []evidence.ArtifactOutcome{shown}}, Resources: artifact.Resources(shown)}
	if a.Kind != evidence.Video {
		out.Pictures = append(out.Pictures, o.Artifacts.Picture(a))
	}
	return out, nil
}

func (o Operations) make(ctx context.Context, r *evidence.ArtifactsRequest) (capability.Outcome, error) {
	out, seq, err := o.sequence(ctx, r.RangeRef)
	if err != nil {
		return out, err
	}
	request := artifact.Request{
		Sequence: seq, Kinds: r.Kinds, Epochs: allEpochs(seq), Tiles: r.Tiles,
		Exact: r.Noise == "exact", Exhaustive: r.Sampling == "exhaustive", JPEG: r.Format == "jpeg",
	}
	if len(request.Kinds) == 0 {
		request.Kinds = []string{evidence.Storyboard, evidence.DifferenceMap}
	}
	if r.Epochs == "anchor" {
		request.Epochs = []int{anchorEpoch(seq)}
	}
	outcomes, warnings, err := o.Artifacts.Generate(ctx, request)
	out.Warnings = append(out.Warnings, warnings...)
	if err != nil {
		out.Stage = "generate"
		return out, err
	}
	return o.present(out, outcomes, r.Failure == "require_all")
}

// present offers what was made; all must be there when that was required.
func (o Operations) present(out capability.Outcome, outcomes []evidence.ArtifactOutcome, all bool) (capability.Outcome, error) {
	out.Result, out.Stage = evidence.ArtifactsResult{Outcomes: outcomes}, "generate"
	var failed *fault.Error
	made := 0
	for _, one := range outcomes {
		if one.Artifact == nil {
			if failed == nil {
				failed = one.Error
			}
			continue
		}
		made++
		out.Resources = append(out.Resources, artifact.Resources(one)...)
		if len(out.Pictures) == 0 {
			out.Pictures = append(out.Pictures, o.Artifacts.Picture(*one.Artifact))
		}
	}
	switch {
	case failed == nil:
		return out, nil
	case all || made == 0:
		return out, failed
	}
	out.Status, out.Err = capability.Degraded, failed
	return out, nil
}

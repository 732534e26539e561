package operations

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/video"
	"github.com/krometrail/krometrail/visual"
)

func (o Operations) video() capability.Op {
	op := define[evidence.VideoRequest, evidence.VideoResult](capability.Spec{
		Name: "generate_temporal_video", OwnDeadline: true, Title: "Make a video",
		Summary: "MP4 clips of a range of up to 30 s; gaps are slates. For models that take video; others see more in a storyboard.",
	}, o.makeVideo)
	op.Capability = capability.TemporalVideo
	return op
}

func (o Operations) makeVideo(ctx context.Context, r *evidence.VideoRequest) (capability.Outcome, error) {
	out, seq, err := o.sequence(ctx, r.RangeRef)
	if err != nil {
		return out, err
	}
	request := video.Request{
		Request: artifact.Request{Sequence: seq, Epochs: allEpochs(seq)}, Policy: visual.ModelOptimized,
		Width: r.MaxWidth, Height: r.MaxHeight, MaxBytes: r.MaxBytes,
	}
	if r.Policy == string(visual.RealTime) {
		request.Policy = visual.RealTime
	}
	out.Stage = "generate"
	clips, warnings, err := o.Video.Generate(ctx, request)
	out.Warnings = append(out.Warnings, warnings...)
	if err != nil {
		return out, err
	}
	out.Result = evidence.VideoResult{Clips: clips}
	return offer(out, clips)
}

// offer lists the clips as resources; a request without any clip failed.
func offer(out capability.Outcome, clips []evidence.VideoClip) (capability.Outcome, error) {
	var failed *fault.Error
	made := 0
	for _, c := range clips {
		if c.Artifact == nil {
			if failed == nil {
				failed = c.Error
			}
			continue
		}
		made++
		out.Resources = append(out.Resources,
			evidence.Resource{Role: "video", URI: c.URI, Name: "video", MediaType: c.Artifact.MediaType, Bytes: c.Artifact.Bytes},
			evidence.Resource{Role: "manifest", URI: c.ManifestURI, Name: "video manifest", MediaType: "application/json"})
	}
	switch {
	case failed == nil:
		return out, nil
	case made == 0:
		return out, failed
	}
	out.Status, out.Err = capability.Degraded, failed
	return out, nil
}

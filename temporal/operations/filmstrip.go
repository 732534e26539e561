package operations

import (
	"context"
	"math"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
)

func (o Operations) filmstrip() capability.Op {
	return define[evidence.FilmstripRequest, evidence.FilmstripResult](capability.Spec{
		Name: "generate_region_filmstrip", Pictures: true, PicturesByDefault: true, OwnDeadline: true, Title: "Watch one area",
		Summary: "One area of the page over a range, enlarged: rect, ref or mask. The area is fixed; it follows nothing that moves.",
	}, o.makeFilmstrip)
}

func (o Operations) makeFilmstrip(ctx context.Context, r *evidence.FilmstripRequest) (capability.Outcome, error) {
	if err := checkRegion(r); err != nil {
		return capability.Outcome{Stage: "decode"}, err
	}
	box, err := o.box(ctx, r)
	if err != nil {
		return capability.Outcome{Stage: "geometry"}, err
	}
	out, seq, err := o.sequence(ctx, r.RangeRef)
	if err != nil {
		return out, err
	}
	out.Stage = "region"
	if box != nil && box.TargetID != seq.Range.TargetID {
		return out, fault.Input("ref", "belongs to page "+string(box.TargetID)+", the range to page "+string(seq.Range.TargetID))
	}
	p, err := o.locate(r, seq, box)
	if err != nil {
		return out, err
	}
	if box != nil && moved(seq.Frames, box) {
		out.Notes = append(out.Notes, "the page was scrolled elsewhere during the range; the area is where the element is now, not where it was")
	}
	out.Stage = "generate"
	outcomes, warnings, err := o.Artifacts.Generate(ctx, p.request)
	out.Warnings = append(out.Warnings, warnings...)
	if err != nil {
		return out, err
	}
	return o.strip(out, p.region, outcomes[0])
}

// strip offers the picture.
func (o Operations) strip(out capability.Outcome, region evidence.Region, made evidence.ArtifactOutcome) (capability.Outcome, error) {
	out.Result = evidence.FilmstripResult{Region: region, Outcome: made}
	if made.Artifact == nil {
		return out, made.Error
	}
	out.Resources = artifact.Resources(made)
	out.Pictures = []evidence.Picture{o.Artifacts.Picture(*made.Artifact)}
	return out, nil
}

// box measures the element that a request names and makes its page the request's page.
func (o Operations) box(ctx context.Context, r *evidence.FilmstripRequest) (*evidence.Box, error) {
	if r.Ref == "" {
		return nil, nil //nolint:nilnil // no element was named
	}
	b, err := o.Geometry.Box(ctx, r.Ref)
	if err != nil {
		return nil, err
	}
	if r.Target == "" && r.RangeHandle == "" && r.InteractionID == "" {
		r.Target = b.TargetID
	}
	return &b, nil
}

// moved reports whether some frame shows another scroll position than that of the measurement.
func moved(frames []record.Frame, b *evidence.Box) bool {
	for _, f := range frames {
		if math.Abs(f.Viewport.ScrollX-b.ScrollX) > 1 || math.Abs(f.Viewport.ScrollY-b.ScrollY) > 1 {
			return true
		}
	}
	return false
}

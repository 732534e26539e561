// Package operations declares what the temporal-vision capability offers.
package operations

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/bundle"
	"github.com/krometrail/krometrail/temporal/resolve"
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/temporal/video"
)

// Running is what the operations need to know of the running session.
type Running interface {
	// Running returns the running session, its clock and its selected page; ok is false when there is none.
	Running() (s id.Session, c clock.Session, selected id.Target, ok bool)
}

// Operations is everything that temporal operations work on.
type Operations struct {
	Resolver  *resolve.Resolver
	Reader    *sequence.Reader
	Artifacts *artifact.Service
	Bundles   *bundle.Service
	Frames    record.FrameReader
	Store     record.ArtifactStore
	Facts     record.FactSink
	Pins      record.PinStore
	Running   Running
	Geometry  evidence.Geometry
	// Video is nil unless temporal-video is enabled.
	Video *video.Service
}

// Ops lists the operations in no particular order.
func (o Operations) Ops() []capability.Op {
	return []capability.Op{
		o.bundle(), o.resolve(), o.measure(), o.generate(), o.listFrames(), o.fetchFrames(), o.addMarker(),
		o.pin(), o.unpin(), o.queryPins(), o.video(), o.filmstrip(),
	}
}

// define fills in what all temporal operations share.
func define[Req, Res any](spec capability.Spec, run func(ctx context.Context, r *Req) (capability.Outcome, error)) capability.Op {
	spec.Capability, spec.Lane = capability.TemporalVision, capability.Free
	if spec.Kind == "" {
		spec.Kind, spec.Idempotent = capability.Read, true
	}
	return capability.Define[Req, Res](spec, run)
}

// outcome names the range that an answer is about.
func outcome(res resolve.Resolution) capability.Outcome {
	return capability.Outcome{Range: &res.Range, RangeHandle: res.Handle, Warnings: res.Warnings}
}

func (o Operations) bundle() capability.Op {
	return define[evidence.BundleRequest, evidence.Bundle](capability.Spec{
		Name: "temporal_debug_bundle", Lean: true, Tiers: true, Pictures: true, PicturesByDefault: true, OwnDeadline: true, Title: "What happened",
		Summary: "What the page really showed around a moment, by default your last action: storyboard, change map, measures, capture quality, nearest events. Ask this first about flashes, jumps and anything brief. At most one anchor.",
	}, o.Bundles.Bundle)
}

func (o Operations) resolve() capability.Op {
	return define[ResolveRequest, evidence.RangeResult](capability.Spec{
		Name: "resolve_temporal_range", Tiers: true, Title: "Resolve a range",
		Summary: "Turn an anchor into an exact range with handle and capture quality. No pictures.",
	}, func(ctx context.Context, r *ResolveRequest) (capability.Outcome, error) {
		res, err := o.Resolver.Resolve(ctx, r.Anchor)
		if err != nil {
			return capability.Outcome{Stage: "resolve"}, err
		}
		out := outcome(res)
		seq, err := o.Reader.Read(ctx, res.Range)
		if err != nil {
			out.Stage = "read"
			return out, err
		}
		out.Result = evidence.RangeResult{Quality: seq.Quality()}
		return out, nil
	})
}

// ResolveRequest is the request of resolve_temporal_range.
type ResolveRequest struct{ evidence.Anchor }

// sequence resolves a range reference and reads what is recorded of it.
func (o Operations) sequence(ctx context.Context, ref evidence.RangeRef) (capability.Outcome, sequence.Sequence, error) {
	res, err := o.Resolver.ResolveRef(ctx, ref)
	if err != nil {
		return capability.Outcome{Stage: "resolve"}, sequence.Sequence{}, err
	}
	out := outcome(res)
	seq, err := o.Reader.Read(ctx, res.Range)
	if err != nil {
		out.Stage = "read"
	}
	return out, seq, err
}

func (o Operations) measure() capability.Op {
	return define[evidence.MeasureRequest, evidence.Measure](capability.Spec{
		Name: "measure_change", Title: "Measure change",
		Summary: "First change, peak, change series, quiet periods and changed regions of a range. Numbers only.",
	}, func(ctx context.Context, r *evidence.MeasureRequest) (capability.Outcome, error) {
		out, seq, err := o.sequence(ctx, r.RangeRef)
		if err != nil {
			return out, err
		}
		measured, err := o.Artifacts.Measure(ctx, artifact.Request{Sequence: seq, Exhaustive: r.Sampling == "exhaustive"}, anchorEpoch(seq))
		if err != nil {
			out.Stage = "measure"
			return out, err
		}
		out.Result = *measured
		return out, nil
	})
}

// anchorEpoch is the epoch that holds the anchor, else the start.
func anchorEpoch(s sequence.Sequence) int {
	if at := s.Range.AnchorNS; at != nil {
		return s.EpochAt(*at)
	}
	return s.EpochAt(s.Range.StartNS)
}

// allEpochs lists the epochs of a sequence; one that holds only its baseline has one.
func allEpochs(s sequence.Sequence) []int {
	if len(s.Epochs) == 0 {
		return []int{0}
	}
	all := make([]int, len(s.Epochs))
	for i := range all {
		all[i] = i
	}
	return all
}

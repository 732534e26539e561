package artifact

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/visual"
)

// Analyze returns the analysis of one epoch of the request, within the bounds of a request.
func (s *Service) Analyze(ctx context.Context, r Request, epoch int) (*visual.Analysis, error) {
	ctx, leave, err := s.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	e := r.epoch(epoch)
	key := r.analysisKey(e)
	done, err := s.jobs.Enter(ctx, key)
	if err != nil {
		return nil, overdue(ctx)
	}
	defer done()
	return s.analyze(ctx, r, e, key)
}

// analyze returns the epoch's analysis, from the kept ones when it is there.
func (s *Service) analyze(ctx context.Context, r Request, e epochSequence, key string) (*visual.Analysis, error) {
	if kept := s.recent.get(key); kept != nil {
		return kept, nil
	}
	options := visual.Options{
		SourceLabel: string(r.Sequence.Range.TargetID), Workers: s.workers(), Noise: visual.Noise{Exact: r.Exact},
		Sampling: visual.Bounded,
	}
	if r.Exhaustive {
		options.Sampling = visual.Exhaustive
	}
	analysis, err := visual.Analyze(ctx, s.input(r, e), options)
	if err != nil {
		return nil, Translate(ctx, err)
	}
	s.recent.put(key, analysis)
	return analysis, nil
}

// input is the one place where recorded evidence becomes a visual sequence. Times are session times.
func (s *Service) input(r Request, e epochSequence) visual.Sequence {
	frames := e.all()
	metas := make([]visual.FrameMeta, len(frames))
	for i, f := range frames {
		metas[i] = visual.FrameMeta{ID: visual.FrameID(f.ID), Time: f.Time().Duration()}
	}
	rng := r.Sequence.Range
	in := visual.Sequence{
		Source: visual.Lazy(metas, func(ctx context.Context, i int) (visual.Frame, error) {
			data, err := s.frames.Pixels(ctx, frames[i])
			return visual.Frame{FrameMeta: metas[i], Data: data}, err
		}),
		CarryIn: e.carryIn != nil,
		Range:   visual.Range{Start: rng.StartNS.Duration(), End: rng.EndNS.Duration()},
		Gaps:    gaps(r.Sequence), Observers: observers(r.Sequence), Markers: markers(r),
		Region: r.Region, Mask: r.Mask,
	}
	if rng.AnchorNS != nil {
		in.Anchor = visual.At(rng.AnchorNS.Duration(), anchorLabel(r.Sequence))
	}
	return in
}

// anchorLabel names the anchor on pictures: the operation of an interaction, else the kind of anchor.
func anchorLabel(s sequence.Sequence) string {
	for _, i := range s.Facts.Interactions {
		if s.Range.Anchor.Kind == "interaction" && string(i.ID) == s.Range.Anchor.ID {
			return i.Operation
		}
	}
	return s.Range.Anchor.Kind
}

func gaps(s sequence.Sequence) []visual.Gap {
	var all []visual.Gap
	for _, g := range s.Facts.Gaps {
		if g.Stream != record.StreamFrames {
			continue
		}
		start, end := sequence.GapBounds(g, s.Range)
		all = append(all, visual.Gap{Start: start.Duration(), End: end.Duration(), Reason: strings.ReplaceAll(string(g.Reason), "_", " ")})
	}
	slices.SortStableFunc(all, func(a, b visual.Gap) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

func observers(s sequence.Sequence) []visual.Observer {
	var all []visual.Observer
	for _, o := range s.Facts.Observers {
		all = append(all, visual.Observer{Start: o.StartNS.Duration(), End: o.EndNS.Duration(), Label: "Krometrail " + o.Kind})
	}
	return all
}

func markers(r Request) []visual.Marker {
	var all []visual.Marker
	for _, m := range r.Sequence.Facts.Markers {
		all = append(all, visual.Marker{Time: m.AtNS.Duration(), Kind: m.Kind, Label: m.Label})
	}
	for _, m := range r.Markers {
		all = append(all, visual.Marker{Time: m.AtNS.Duration(), Kind: m.Kind, Label: m.Label, Tile: true})
	}
	slices.SortStableFunc(all, func(a, b visual.Marker) int { return cmp.Compare(a.Time, b.Time) })
	return all
}

// Translate turns the visual module's errors into faults; a fault from the store passes through.
func Translate(ctx context.Context, err error) error {
	var f *fault.Error
	var limit *visual.LimitError
	var frame *visual.FrameError
	switch {
	case ctx.Err() != nil:
		return overdue(ctx)
	case errors.As(err, &f):
		return f
	case errors.As(err, &limit):
		return exceeded(limit)
	case errors.Is(err, visual.ErrMaskSize), errors.Is(err, visual.ErrMixedGeometry):
		return fault.Input("mask", "must have the size of the frames; list_source_frames shows it").Because(err)
	case errors.Is(err, visual.ErrMaskEmpty):
		return fault.Input("mask", "selects nothing inside the frames").Because(err)
	case errors.Is(err, visual.ErrRegionOutside):
		return fault.Input("rect", "lies outside the frames").Because(err)
	case errors.Is(err, visual.ErrNoFrames):
		return fault.New(fault.ArtifactGenerationFailed, "the range holds no frame to draw").Because(err).
			WithRecovery("ask for a range in which the page sent frames")
	case errors.As(err, &frame):
		return fault.New(fault.ArtifactGenerationFailed, "frame %s cannot be read as an image", frame.ID).Because(err).
			WithRecovery("ask for a range without it")
	}
	return fault.New(fault.ArtifactGenerationFailed, "the pictures could not be made").Because(err)
}

// exceeded names the limit and what would fit.
func exceeded(l *visual.LimitError) *fault.Error {
	try, recovery := l.TryAtMost, "ask for a shorter range, or sampling=bounded"
	switch l.Subject {
	case "picture_pixels":
		recovery = "ask for a smaller scale, fewer tiles or a smaller region"
	case "presentation_ms":
		try, recovery = l.Limit, "ask for a shorter range or policy=model_optimized"
	case "frame_pixels", "frame_bytes":
		recovery = "record with a smaller viewport or capture_size"
	case "mask_pixels":
		recovery = "give a mask of the frames' size"
	}
	return fault.New(fault.ResourceLimitExceeded, "%s is %d, the limit is %d", l.Subject, l.Value, l.Limit).
		WithLimit(l.Subject, l.Value, l.Limit, try).WithRecovery("%s", recovery).Because(l)
}

// millis is a duration in milliseconds with three decimals.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

package resolve

import (
	"context"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
)

// coverage is the stretch of a page's time of which evidence is retained.
type coverage struct {
	start, end clock.SessionTime
	evicted    *clock.SessionTime
	nothing    bool // there is no such stretch
	// framed is the part with frames; a range outside gets no handle.
	framed fault.Range
}

// covering finds what is retained of the page of a range.
type covering func(context.Context, asked) (coverage, error)

func (r *Resolver) coverage(ctx context.Context, want asked) (coverage, error) {
	kept, err := r.frames.Retained(ctx, want.session, want.target)
	if err != nil {
		return coverage{}, err
	}
	end, err := r.end(ctx, want.session, want.target)
	if err != nil {
		return coverage{}, err
	}
	// Frames are presented before they are received, so the newest one may bound the end from above.
	have := coverage{start: kept.OldestNS, end: max(end, kept.NewestNS), evicted: kept.EvictedThroughNS, nothing: kept.Frames == 0}
	have.framed = fault.Range{StartNS: have.start, EndNS: have.end}
	return have, nil
}

// life is from the page's creation, or from what was evicted of it last, to its end.
func (r *Resolver) life(ctx context.Context, want asked) (coverage, error) {
	have, err := r.coverage(ctx, want)
	if err != nil {
		return coverage{}, err
	}
	if have.nothing {
		have.framed = fault.Range{StartNS: 1, EndNS: 0}
	}
	have.nothing, have.start = false, 0
	if have.evicted != nil {
		have.start = *have.evicted + 1
		return have, nil
	}
	targets, err := r.store.Targets(ctx, want.session)
	for _, t := range targets {
		if t.ID == want.target {
			have.start = t.CreatedNS
		}
	}
	return have, err
}

// cut intersects what was asked with what is retained and issues the handle.
func (r *Resolver) cut(ctx context.Context, a evidence.Anchor, want asked, have coverage) (Resolution, error) {
	requested := fault.Range{StartNS: want.start, EndNS: want.end}
	start, end := max(want.start, have.start), min(want.end, have.end)
	if have.nothing || start > end {
		return Resolution{}, r.disjoint(want, have)
	}
	res := Resolution{Range: evidence.ResolvedRange{
		SessionID: want.session, TargetID: want.target, StartNS: start, EndNS: end, Requested: requested,
		AnchorNS: want.moment, Anchor: want.ref, Retention: "complete",
	}}
	if start > want.start || end < want.end {
		res.Range.Retention = "partial"
		res.Warnings = r.partial(want, have)
		if a.Retention == "require_complete" {
			return Resolution{}, incomplete(want, have)
		}
	}
	if err := r.gaps(ctx, a, &res.Range); err != nil {
		return Resolution{}, err
	}
	source, err := r.timeSource(ctx, res.Range)
	if err != nil {
		return Resolution{}, err
	}
	res.Range.TimeSource = source
	if start < have.framed.StartNS || end > have.framed.EndNS {
		return res, nil
	}
	return r.issue(res), nil
}

func (r *Resolver) issue(res Resolution) Resolution {
	handle, ok := r.handles.issue(res.Range, res.Warnings)
	if !ok {
		res.Warnings = append(res.Warnings, fault.New(fault.HandleNotIssued,
			"the process holds as many range handles as it can; use the complete range instead"))
		return res
	}
	res.Handle = handle
	return res
}

// partial says which edges are missing and why.
func (r *Resolver) partial(want asked, have coverage) []*fault.Error {
	about := want.about()
	warnings := []*fault.Error{fault.New(fault.PartiallyCaptured, "only a part of the requested range is retained").About(about)}
	if want.start < have.start {
		warnings = append(warnings, fault.New(fault.AffectedEdgeStart, "the start of the requested range is not retained").About(about))
		if have.evicted != nil && *have.evicted >= want.start {
			warnings = append(warnings, fault.New(fault.PartiallyEvicted, "a part of the requested range was evicted").About(about))
		}
	}
	if want.end > have.end {
		warnings = append(warnings, fault.New(fault.AffectedEdgeEnd, "the end of the requested range is not retained").About(about))
		if r.ahead(want) {
			warnings = append(warnings, fault.New(fault.RequestedEndNotYetElapsed, "the end of the requested range has not come yet").
				About(about).WithRecovery("ask again later"))
		}
	}
	return warnings
}

// ahead reports whether the end has not come yet in the running session.
func (r *Resolver) ahead(want asked) bool {
	running, clk, _, ok := r.live.Running()
	return ok && running == want.session && want.end > clk.Now()
}

func (w asked) about() fault.Context {
	return fault.Context{SessionID: w.session, TargetID: w.target, Range: &fault.Range{StartNS: w.start, EndNS: w.end}}
}

// incomplete is the failure of require_complete.
func incomplete(want asked, have coverage) error {
	code, why := fault.RangeNotCaptured, "was not captured"
	if have.evicted != nil && *have.evicted >= want.start && want.start < have.start {
		code, why = fault.RangeNotRetained, "was evicted"
	}
	return fault.New(code, "a part of the requested range %s; retained is %s to %s", why, offset(have.start), offset(have.end)).
		About(want.about()).WithRecovery("ask with retention=allow_partial, or for a range inside the retained one")
}

// disjoint is the failure of a range that meets nothing retained.
func (r *Resolver) disjoint(want asked, have coverage) error {
	switch {
	case have.evicted != nil && *have.evicted >= want.start:
		return fault.New(fault.RangeNotRetained, "the requested range was evicted; retained is %s to %s", offset(have.start), offset(have.end)).
			About(want.about())
	case have.nothing:
		return fault.New(fault.RangeNotCaptured, "no frame of this page is retained").About(want.about()).
			WithRecovery("check the page's capture state with browser_status")
	case want.start > have.end && r.ahead(want):
		return fault.New(fault.RangeNotCaptured, "the requested range has not come yet; recording is at %s", offset(have.end)).
			About(want.about()).WithRecovery("ask again later")
	case want.start > have.end:
		return fault.New(fault.RangeNotCaptured, "the requested range begins after everything captured, which ends at %s", offset(have.end)).
			About(want.about())
	}
	return fault.New(fault.RangeNotCaptured, "the requested range ends before capture of this page began at %s", offset(have.start)).
		About(want.about())
}

// gaps counts the known capture gaps in the range.
func (r *Resolver) gaps(ctx context.Context, a evidence.Anchor, rng *evidence.ResolvedRange) error {
	facts, err := r.timeline.Within(ctx, window(*rng))
	if err != nil {
		return err
	}
	for _, g := range facts.Gaps {
		if g.Stream == record.StreamFrames {
			rng.GapCount++
		}
	}
	if rng.GapCount > 0 && a.Gaps == "reject" {
		return fault.New(fault.RangeHasGaps, "the range has %d known capture gaps", rng.GapCount).
			About(fault.Context{SessionID: rng.SessionID, TargetID: rng.TargetID, Range: &fault.Range{StartNS: rng.StartNS, EndNS: rng.EndNS}}).
			WithRecovery("ask with gaps=include")
	}
	return nil
}

// timeSource says what the times of the range's frames are.
func (r *Resolver) timeSource(ctx context.Context, rng evidence.ResolvedRange) (string, error) {
	frames, _, err := r.frames.Frames(ctx, window(rng), 0, 0)
	if err != nil {
		return "", err
	}
	presented := 0
	for _, f := range frames {
		if f.PresentedNS != nil {
			presented++
		}
	}
	switch {
	case presented == len(frames):
		return "presented", nil
	case presented == 0:
		return "received", nil
	}
	return "mixed", nil
}

func window(rng evidence.ResolvedRange) record.Window {
	return record.Window{SessionID: rng.SessionID, TargetID: rng.TargetID, StartNS: rng.StartNS, EndNS: rng.EndNS}
}

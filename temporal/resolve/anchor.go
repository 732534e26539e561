package resolve

import (
	"context"
	"strings"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// check refuses contradictory anchors by naming their fields.
func check(a evidence.Anchor) error {
	var kinds []string
	add := func(set bool, name string) {
		if set {
			kinds = append(kinds, name)
		}
	}
	add(a.InteractionID != "", "interaction_id")
	add(a.NavigationID != "", "navigation_id")
	add(a.MarkerID != "", "marker_id")
	add(a.StartNS != nil || a.EndNS != nil, "start_ns and end_ns")
	add(a.StartTime != "" || a.EndTime != "", "start_time and end_time")
	add(a.StartFrameID != "" || a.EndFrameID != "", "start_frame_id and end_frame_id")
	add(a.LastMS != nil, "last_ms")
	if len(kinds) > 1 {
		return fault.Input(strings.Join(kinds, ", "), "give exactly one anchor")
	}
	switch {
	case (a.StartNS == nil) != (a.EndNS == nil):
		return fault.Input("start_ns, end_ns", "give both or none")
	case (a.StartTime == "") != (a.EndTime == ""):
		return fault.Input("start_time, end_time", "give both or none")
	case (a.StartFrameID == "") != (a.EndFrameID == ""):
		return fault.Input("start_frame_id, end_frame_id", "give both or none")
	}
	instant := len(kinds) == 0 || a.InteractionID != "" || a.NavigationID != "" || a.MarkerID != ""
	if !instant && (a.BeforeMS != nil || a.AfterMS != nil) {
		return fault.Input("before_ms, after_ms", "go with interaction_id, navigation_id, marker_id or no anchor only")
	}
	return checkContext(a)
}

func checkContext(a evidence.Anchor) error {
	for name, ms := range map[string]*int{"before_ms": a.BeforeMS, "after_ms": a.AfterMS} {
		if ms != nil && (*ms < 0 || *ms > int(MaxContext/time.Millisecond)) {
			return fault.Input(name, "must be 0 to 120000")
		}
	}
	if a.LastMS != nil && (*a.LastMS < 1 || *a.LastMS > int(MaxContext/time.Millisecond)) {
		return fault.Input("last_ms", "must be 1 to 120000")
	}
	return nil
}

// locate makes the anchor concrete.
func (r *Resolver) locate(ctx context.Context, a evidence.Anchor) (asked, error) {
	switch {
	case a.InteractionID != "":
		i, err := r.timeline.Interaction(ctx, a.InteractionID)
		if err != nil {
			return asked{}, neverDispatched(err)
		}
		return r.aroundInteraction(ctx, a, i)
	case a.NavigationID != "":
		return r.aroundNavigation(ctx, a)
	case a.MarkerID != "":
		return r.aroundMarker(ctx, a)
	case a.StartFrameID != "":
		return r.betweenFrames(ctx, a)
	case a.StartNS == nil && a.StartTime == "" && a.LastMS == nil:
		return r.aroundNewest(ctx, a)
	}
	session, target, err := r.page(ctx, a)
	if err != nil {
		return asked{}, err
	}
	want := asked{session: session, target: target}
	switch {
	case a.StartNS != nil:
		want.start, want.end, want.ref = *a.StartNS, *a.EndNS, evidence.AnchorRef{Kind: "session_time"}
	case a.StartTime != "":
		return r.betweenWallTimes(ctx, a, want)
	default:
		return r.newest(ctx, a, want)
	}
	return want, nil
}

func neverDispatched(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, "no interaction with this id was recorded; an action that never dispatched has no place on the timeline").
		WithRecovery("list the recorded ones with list_interactions")
}

func (r *Resolver) aroundInteraction(ctx context.Context, a evidence.Anchor, i record.Interaction) (asked, error) {
	if err := sameScope(a, i.SessionID, i.TargetID); err != nil {
		return asked{}, err
	}
	start, end := i.DispatchedNS, i.End()
	if i.Batch != "" && a.InteractionID == "" {
		start, end = r.batchBounds(ctx, i)
	}
	return around(a, asked{
		session: i.SessionID, target: i.TargetID, start: start, end: end, moment: &start,
		ref: evidence.AnchorRef{Kind: "interaction", ID: string(i.ID)},
	}), nil
}

// batchBounds spans all page-affecting steps of a batch: a batch counts as one interaction.
func (r *Resolver) batchBounds(ctx context.Context, last record.Interaction) (start, end clock.SessionTime) {
	start, end = last.DispatchedNS, last.End()
	all, err := r.timeline.Interactions(ctx, last.SessionID, last.TargetID, candidates)
	if err != nil {
		return start, end
	}
	for _, i := range all {
		if i.Batch == last.Batch && i.PageAffecting {
			start, end = min(start, i.DispatchedNS), max(end, i.End())
		}
	}
	return start, end
}

func (r *Resolver) aroundNavigation(ctx context.Context, a evidence.Anchor) (asked, error) {
	n, err := r.timeline.Navigation(ctx, a.NavigationID)
	if err != nil {
		return asked{}, err
	}
	if err := sameScope(a, n.SessionID, n.TargetID); err != nil {
		return asked{}, err
	}
	end := n.StartNS
	if n.CommitNS != nil {
		end = *n.CommitNS
	}
	return around(a, asked{
		session: n.SessionID, target: n.TargetID, start: n.StartNS, end: end, moment: &end,
		ref: evidence.AnchorRef{Kind: "navigation", ID: string(n.ID)},
	}), nil
}

func (r *Resolver) aroundMarker(ctx context.Context, a evidence.Anchor) (asked, error) {
	m, err := r.timeline.Marker(ctx, a.MarkerID)
	if err != nil {
		return asked{}, err
	}
	if err := sameScope(a, m.SessionID, m.TargetID); err != nil {
		return asked{}, err
	}
	return around(a, asked{
		session: m.SessionID, target: m.TargetID, start: m.AtNS, end: m.AtNS, moment: &m.AtNS,
		ref: evidence.AnchorRef{Kind: "marker", ID: string(m.ID)},
	}), nil
}

func (r *Resolver) betweenFrames(ctx context.Context, a evidence.Anchor) (asked, error) {
	first, err := r.frames.Frame(ctx, a.StartFrameID)
	if err != nil {
		return asked{}, err
	}
	last, err := r.frames.Frame(ctx, a.EndFrameID)
	if err != nil {
		return asked{}, err
	}
	if first.SessionID != last.SessionID || first.TargetID != last.TargetID {
		return asked{}, fault.New(fault.RangeWrongTarget, "the two frames belong to different pages").
			WithRecovery("give two frames of one page")
	}
	if err := sameScope(a, first.SessionID, first.TargetID); err != nil {
		return asked{}, err
	}
	return asked{
		session: first.SessionID, target: first.TargetID, start: first.Time(), end: last.Time(),
		ref: evidence.AnchorRef{Kind: "frames", ID: string(first.ID) + ".." + string(last.ID)},
	}, nil
}

// aroundNewest is the default anchor: the most recent page-affecting interaction of the page.
func (r *Resolver) aroundNewest(ctx context.Context, a evidence.Anchor) (asked, error) {
	session, target, err := r.page(ctx, a)
	if err != nil {
		return asked{}, err
	}
	recent, err := r.timeline.Interactions(ctx, session, target, candidates)
	if err != nil {
		return asked{}, err
	}
	for _, i := range recent {
		if i.PageAffecting {
			return r.aroundInteraction(ctx, a, i)
		}
	}
	return asked{}, fault.New(fault.NotFound, "no action has changed this page yet, so there is no default moment to ask about").
		About(fault.Context{SessionID: session, TargetID: target}).
		WithRecovery("act on the page first, or name the range: last_ms where the tool takes it, else start_ns and end_ns")
}

// around adds the context on both sides.
func around(a evidence.Anchor, want asked) asked {
	before, after := DefaultBefore, DefaultAfter
	if a.BeforeMS != nil {
		before = time.Duration(*a.BeforeMS) * time.Millisecond
	}
	if a.AfterMS != nil {
		after = time.Duration(*a.AfterMS) * time.Millisecond
	}
	want.start, want.end = want.start.Add(-before), want.end.Add(after)
	return want
}

// sameScope refuses an anchor that lies elsewhere than the session or page the request names.
func sameScope(a evidence.Anchor, s id.Session, t id.Target) error {
	if (a.SessionID == "" || a.SessionID == s) && (a.Target == "" || a.Target == t) {
		return nil
	}
	return fault.New(fault.RangeWrongTarget, "the anchor belongs to page %s of session %s, not to the one named", t, s).
		About(fault.Context{SessionID: s, TargetID: t}).
		WithRecovery("leave out session_id and target, or name those of the anchor")
}

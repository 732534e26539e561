// Package resolve turns natural anchors into exact ranges of one page's session time, and keeps the handles
// by which later requests name them.
package resolve

import (
	"context"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

const (
	// DefaultBefore and DefaultAfter are the implicit context around an interaction, navigation or marker.
	DefaultBefore = 150 * time.Millisecond
	// DefaultAfter follows the observation.
	DefaultAfter = 250 * time.Millisecond
	// MaxContext bounds an explicit context on each side.
	MaxContext = 120 * time.Second
	// maxTailWait bounds the wait for frames that were presented but have not arrived yet.
	maxTailWait = time.Second
	// candidates is how many interactions are searched for the default anchor.
	candidates = 256
)

// Live is what the resolver knows of the running session.
type Live interface {
	// Running returns the running session, its clock and its selected page; ok is false when there is none.
	Running() (s id.Session, c clock.Session, selected id.Target, ok bool)
	// Lag is the 95th percentile of receipt minus presentation of the page's recent frames.
	Lag(t id.Target) time.Duration
}

// Store is the part of the evidence store that resolution reads.
type Store interface {
	record.Barrier
	record.SessionReader
}

// Resolver resolves anchors. Safe for concurrent use.
type Resolver struct {
	store    Store
	timeline record.TimelineReader
	frames   record.FrameReader
	live     Live
	handles  *handles
}

// New returns a resolver without handles.
func New(store Store, timeline record.TimelineReader, frames record.FrameReader, live Live) *Resolver {
	return &Resolver{store: store, timeline: timeline, frames: frames, live: live, handles: newHandles()}
}

// Resolution is a resolved range, its handle ("" when none could be issued) and what is worth knowing about it.
type Resolution struct {
	Range    evidence.ResolvedRange
	Handle   id.RangeHandle
	Warnings []*fault.Error
}

// asked is an anchor made concrete: a page, a stretch of its time and how it was named.
type asked struct {
	session id.Session
	target  id.Target
	start   clock.SessionTime
	end     clock.SessionTime
	moment  *clock.SessionTime
	ref     evidence.AnchorRef
}

// Resolve resolves an anchor. Failures: not_found, invalid_input, invalid_time, range_not_captured,
// range_not_retained, range_wrong_target, range_has_gaps.
func (r *Resolver) Resolve(ctx context.Context, a evidence.Anchor) (Resolution, error) {
	return r.resolve(ctx, a, nil, r.coverage)
}

// resolve takes a moment for ranges that have none of their own, and what the range is cut to.
func (r *Resolver) resolve(ctx context.Context, a evidence.Anchor, moment *clock.SessionTime, covered covering) (Resolution, error) {
	if err := check(a); err != nil {
		return Resolution{}, err
	}
	if err := r.store.Barrier(ctx); err != nil {
		return Resolution{}, err
	}
	want, err := r.locate(ctx, a)
	if err != nil {
		return Resolution{}, err
	}
	if want.moment == nil {
		want.moment = moment
	}
	if want.end < want.start {
		return Resolution{}, fault.New(fault.InvalidTime, "the range ends before it starts").
			WithRecovery("give a start that is not later than the end")
	}
	if err := r.awaitTail(ctx, want); err != nil {
		return Resolution{}, err
	}
	have, err := covered(ctx, want)
	if err != nil {
		return Resolution{}, err
	}
	return r.cut(ctx, a, want, have)
}

// ResolveRef resolves the shorter way to name a range.
func (r *Resolver) ResolveRef(ctx context.Context, ref evidence.RangeRef) (Resolution, error) {
	return r.resolveRef(ctx, ref, r.coverage)
}

// ResolveLife is ResolveRef for evidence that a page has with and without frames: the range is cut to the life of the
// page in its session instead of its retained frames. The answer has a handle only when frames cover the range as
// well, because a handle is good for requests about frames, too.
func (r *Resolver) ResolveLife(ctx context.Context, ref evidence.RangeRef) (Resolution, error) {
	return r.resolveRef(ctx, ref, r.life)
}

func (r *Resolver) resolveRef(ctx context.Context, ref evidence.RangeRef, covered covering) (Resolution, error) {
	if err := checkMoment(ref); err != nil {
		return Resolution{}, err
	}
	if ref.RangeHandle == "" {
		return r.resolve(ctx, evidence.Anchor{
			InteractionID: ref.InteractionID, StartNS: ref.StartNS, EndNS: ref.EndNS, SessionID: ref.SessionID, Target: ref.Target,
		}, ref.AnchorNS, covered)
	}
	if ref != (evidence.RangeRef{RangeHandle: ref.RangeHandle}) {
		return Resolution{}, fault.Input("range_handle", "stands alone: leave out interaction_id, start_ns, end_ns, anchor_ns, session_id and target")
	}
	return r.byHandle(ctx, ref.RangeHandle)
}

func checkMoment(ref evidence.RangeRef) error {
	switch {
	case ref.AnchorNS == nil || ref.RangeHandle != "":
		return nil
	case ref.StartNS == nil || ref.EndNS == nil:
		return fault.Input("anchor_ns", "goes with start_ns and end_ns")
	case *ref.AnchorNS < *ref.StartNS || *ref.AnchorNS > *ref.EndNS:
		return fault.Input("anchor_ns", "must lie between start_ns and end_ns")
	}
	return nil
}

// byHandle returns the range a handle was issued for.
func (r *Resolver) byHandle(ctx context.Context, h id.RangeHandle) (Resolution, error) {
	held, warnings, ok := r.handles.find(h)
	if !ok {
		return Resolution{}, fault.New(fault.NotFound, "this range handle was not issued by this process").
			WithRecovery("handles end with the process; resolve the range again with resolve_temporal_range")
	}
	if err := r.store.Barrier(ctx); err != nil {
		return Resolution{}, err
	}
	about := fault.Context{SessionID: held.SessionID, TargetID: held.TargetID, Range: &fault.Range{StartNS: held.StartNS, EndNS: held.EndNS}}
	if _, err := r.store.Session(ctx, held.SessionID); err != nil {
		if fault.CodeOf(err) != fault.NotFound {
			return Resolution{}, err
		}
		return Resolution{}, fault.New(fault.EvidenceInvalidated, "the session of this range was deleted").About(about).
			WithRecovery("list what is retained with list_sessions")
	}
	kept, err := r.frames.Retained(ctx, held.SessionID, held.TargetID)
	if err != nil {
		return Resolution{}, err
	}
	if kept.EvictedThroughNS != nil && *kept.EvictedThroughNS >= held.StartNS {
		return Resolution{}, fault.New(fault.EvidenceInvalidated, "evidence of this range was evicted since it was resolved").About(about).
			WithRecovery("resolve the remaining part again with resolve_temporal_range")
	}
	return Resolution{Range: held, Handle: h, Warnings: r.lasting(held, warnings)}, nil
}

// lasting leaves out of a range's warnings that its end had not come, once it has.
func (r *Resolver) lasting(rng evidence.ResolvedRange, warnings []*fault.Error) []*fault.Error {
	running, clk, _, ok := r.live.Running()
	ahead := ok && running == rng.SessionID && rng.Requested.EndNS > clk.Now()
	var kept []*fault.Error
	for _, w := range warnings {
		if w.Code != fault.RequestedEndNotYetElapsed || ahead {
			kept = append(kept, w)
		}
	}
	return kept
}

// awaitTail waits until frames presented before the end can have arrived: the end plus the page's lag,
// at most a second.
func (r *Resolver) awaitTail(ctx context.Context, want asked) error {
	session, clk, _, ok := r.live.Running()
	if !ok || session != want.session {
		return nil
	}
	wait := min(want.end.Sub(clk.Now())+r.live.Lag(want.target), maxTailWait)
	if wait <= 0 {
		return nil
	}
	if err := clock.Wait(ctx, clk.Clock(), wait); err != nil {
		return err
	}
	return r.store.Barrier(ctx)
}

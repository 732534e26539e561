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

// page finds the session and page of an anchor that names no recorded thing: the named ones, else those of
// the running session, else the newest retained session and its last selected page.
func (r *Resolver) page(ctx context.Context, a evidence.Anchor) (id.Session, id.Target, error) {
	session, target := a.SessionID, a.Target
	running, _, selected, live := r.live.Running()
	if session == "" && live {
		session = running
	}
	if session == "" {
		return r.retainedPage(ctx, target)
	}
	s, err := r.store.Session(ctx, session)
	if err != nil {
		return "", "", err
	}
	switch {
	case target != "":
		return session, target, r.belongs(ctx, session, target)
	case live && session == running && selected != "":
		return session, selected, nil
	}
	return session, s.LastSelected, selectedOrFail(s)
}

func (r *Resolver) retainedPage(ctx context.Context, target id.Target) (id.Session, id.Target, error) {
	all, err := r.store.Sessions(ctx)
	if err != nil {
		return "", "", err
	}
	if len(all) == 0 {
		return "", "", fault.New(fault.NotFound, "nothing has been recorded in this process yet").
			WithRecovery("open a page with open_page")
	}
	if target == "" {
		return all[0].ID, all[0].LastSelected, selectedOrFail(all[0])
	}
	for _, s := range all {
		if r.belongs(ctx, s.ID, target) == nil {
			return s.ID, target, nil
		}
	}
	return "", "", r.belongs(ctx, all[0].ID, target)
}

func selectedOrFail(s record.Session) error {
	if s.LastSelected != "" {
		return nil
	}
	return fault.New(fault.NotFound, "the session has no selected page").About(fault.Context{SessionID: s.ID}).
		WithRecovery("name the page with target")
}

func (r *Resolver) belongs(ctx context.Context, s id.Session, t id.Target) error {
	targets, err := r.store.Targets(ctx, s)
	if err != nil {
		return err
	}
	for _, have := range targets {
		if have.ID == t {
			return nil
		}
	}
	return fault.New(fault.RangeWrongTarget, "the session has no such page").About(fault.Context{SessionID: s, TargetID: t}).
		WithRecovery("list the pages with list_pages, or the sessions with list_sessions")
}

// newest is the last part of the page's recording.
func (r *Resolver) newest(ctx context.Context, a evidence.Anchor, want asked) (asked, error) {
	end, err := r.end(ctx, want.session, want.target)
	if err != nil {
		return asked{}, err
	}
	want.end = end
	want.start = max(0, end.Add(-time.Duration(*a.LastMS)*time.Millisecond))
	want.ref = evidence.AnchorRef{Kind: "latest"}
	return want, nil
}

// end is the newest time that can have been captured of a page: now, its closing, or the session's end.
func (r *Resolver) end(ctx context.Context, s id.Session, t id.Target) (clock.SessionTime, error) {
	targets, err := r.store.Targets(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, have := range targets {
		if have.ID == t && have.ClosedNS != nil {
			return *have.ClosedNS, nil
		}
	}
	if running, clk, _, ok := r.live.Running(); ok && running == s {
		return clk.Now(), nil
	}
	session, err := r.store.Session(ctx, s)
	if err != nil {
		return 0, err
	}
	if session.EndedNS != nil {
		return *session.EndedNS, nil
	}
	kept, err := r.frames.Retained(ctx, s, t)
	return kept.NewestNS, err
}

// betweenWallTimes maps wall-clock anchors through the nearest clock samples.
func (r *Resolver) betweenWallTimes(ctx context.Context, a evidence.Anchor, want asked) (asked, error) {
	samples, err := r.store.ClockSamples(ctx, want.session)
	if err != nil {
		return asked{}, err
	}
	if len(samples) == 0 {
		return asked{}, fault.New(fault.InvalidTime, "the session has no clock samples, so wall-clock times cannot be placed").
			WithRecovery("ask with start_ns and end_ns, or with last_ms")
	}
	if want.start, err = atWall("start_time", a.StartTime, samples); err != nil {
		return asked{}, err
	}
	if want.end, err = atWall("end_time", a.EndTime, samples); err != nil {
		return asked{}, err
	}
	want.ref = evidence.AnchorRef{Kind: "wall_time"}
	return want, nil
}

func atWall(name, text string, samples []record.ClockSample) (clock.SessionTime, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fault.Input(name, "must be an RFC 3339 time such as 2026-01-31T12:00:00.250Z")
	}
	wall := at.UnixNano()
	nearest := samples[0]
	for _, s := range samples[1:] {
		if distance(s.WallNS, wall) < distance(nearest.WallNS, wall) {
			nearest = s
		}
	}
	return nearest.AtNS + clock.SessionTime(wall-nearest.WallNS), nil
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

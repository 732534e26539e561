// Package eventquery answers what the browser reported in a range, in full or as the few events nearest to
// visual changes.
package eventquery

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/resolve"
)

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Service queries events. Safe for concurrent use.
type Service struct {
	events   record.EventReader
	timeline record.TimelineReader
	resolver *resolve.Resolver
	cursors  cursors
}

// New returns a service. Its cursors are good for its own lifetime only.
func New(events record.EventReader, timeline record.TimelineReader, r *resolve.Resolver) *Service {
	return &Service{events: events, timeline: timeline, resolver: r, cursors: newCursors()}
}

// Request is the request of query_browser_events.
type Request struct {
	evidence.RangeRef
	Classes     []record.EventClass `json:"classes,omitempty" enum:"console,exception,request,response,request_failed,navigation,lifecycle,target,visibility,dialog,download"`
	MinSeverity record.Severity     `json:"min_severity,omitempty" enum:"debug,info,warning,error" default:"debug"`
	Limit       int                 `json:"limit,omitempty" min:"1" max:"1000" default:"100"`
	Cursor      string              `json:"cursor,omitempty" doc:"next_cursor"`
}

// Op is query_browser_events.
func (s *Service) Op() capability.Op {
	return capability.Define[Request, evidence.EventsResult](capability.Spec{
		Name: "query_browser_events", Capability: capability.BrowserEvents, Kind: capability.Read, Lane: capability.Free, Lean: true,
		Idempotent: true, Title: "Browser events",
		Summary: "Console, exceptions, network, navigations, dialogs and more in a range, by default around the last action. No headers or bodies; text is redacted.",
	}, s.query)
}

func (s *Service) query(ctx context.Context, r *Request) (capability.Outcome, error) {
	res, err := s.resolver.ResolveLife(ctx, r.RangeRef)
	if err != nil {
		return capability.Outcome{Stage: "resolve"}, err
	}
	out := capability.Outcome{Range: &res.Range, RangeHandle: res.Handle, Warnings: res.Warnings, Stage: "read"}
	q := record.EventQuery{Window: window(res.Range), Classes: r.Classes, MinSeverity: r.MinSeverity, Limit: r.Limit}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if q.Limit < 1 || q.Limit > maxLimit {
		return out, fault.Input("limit", "must be 1 to 1000")
	}
	whole := digest(q, res.Range)
	if r.Cursor != "" {
		from, err := s.cursors.open(r.Cursor, whole)
		if err != nil {
			return out, err
		}
		if from.Until != res.Range.EndNS {
			res.Range.EndNS, out.RangeHandle = from.Until, "" // the handle is of the range as it is by now
		}
		q.After, q.EndNS = &from.EventKey, from.Until
	}
	out.Result, err = s.page(ctx, q, whole, zero(res.Range))
	return out, err
}

func (s *Service) page(ctx context.Context, q record.EventQuery, whole string, zero clock.SessionTime) (evidence.EventsResult, error) {
	result := evidence.EventsResult{Events: []evidence.EventRow{}, Gaps: []record.Gap{}}
	events, left, err := s.events.Events(ctx, q)
	if err != nil {
		return result, err
	}
	for _, e := range events {
		result.Events = append(result.Events, evidence.EventRow{Event: e, OffsetMS: offset(e.AtNS, zero), Text: describe(e)})
	}
	if len(events) < left {
		last := events[len(events)-1]
		result.NextCursor = s.cursors.seal(place{EventKey: record.EventKey{AtNS: last.AtNS, Source: last.Source, Sequence: last.Sequence}, Until: q.EndNS}, whole)
	}
	q.After = nil
	if result.Counts, err = s.events.CountEvents(ctx, q); err != nil {
		return result, err
	}
	for _, n := range result.Counts {
		result.Total += n
	}
	facts, err := s.timeline.Within(ctx, q.Window)
	for _, g := range facts.Gaps {
		if g.Stream == record.StreamEvents {
			result.Gaps = append(result.Gaps, g)
		}
	}
	return result, err
}

func window(r evidence.ResolvedRange) record.Window {
	return record.Window{SessionID: r.SessionID, TargetID: r.TargetID, StartNS: r.StartNS, EndNS: r.EndNS}
}

func zero(r evidence.ResolvedRange) clock.SessionTime {
	if r.AnchorNS != nil {
		return *r.AnchorNS
	}
	return r.StartNS
}

func offset(t, zero clock.SessionTime) float64 { return float64(t.Sub(zero).Microseconds()) / 1000 }

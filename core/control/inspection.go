package control

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

func (o Operations) inspection() []capability.Op {
	return []capability.Op{
		read(capability.Spec{
			Name: "inspect_page", Batchable: true, Tiers: true, Title: "Inspect a page",
			Summary: "URL, title, viewport, scroll position, readiness and dialog of a page.",
		}, func(ctx context.Context, r *page.InspectRequest) (page.InspectResult, error) {
			return o.Inspection.Inspect(ctx, *r)
		}),
		read(capability.Spec{
			Name: "snapshot_page", Batchable: true, Lean: true, Tiers: true, Title: "Snapshot",
			Summary: "Actionable targets of a page with references to act on. concise: the 40 most useful; expanded adds text and context.",
		}, func(ctx context.Context, r *page.SnapshotRequest) (page.Snapshot, error) {
			return o.Inspection.Snapshot(ctx, *r)
		}),
		read(capability.Spec{
			Name: "query_page", Batchable: true, Lean: true, Tiers: true, Title: "Query",
			Summary: "Find an element: role=button name=\"Save\", label=\"E-mail\", text~=\"saved\", test_id=pay. A unique match gets a reference, several get candidates to narrow by.",
		}, func(ctx context.Context, r *page.QueryRequest) (page.QueryResult, error) {
			return o.Inspection.Query(ctx, *r)
		}),
		o.screenshot(),
		o.observeLive(),
		recorded[page.EvaluateRequest](o.Runner, capability.Spec{
			Name: "evaluate", Batchable: true, Lean: true, Destructive: true, OpenWorld: true, Title: "Evaluate script",
			Summary: "Run JavaScript in the page's main world; JSON result up to 1 MiB. read_only refuses side effects.",
		}),
		read(capability.Spec{
			Name: "list_interactions", Lane: capability.Free, Lean: true, Title: "List interactions",
			Summary: "Recorded actions, newest first, with int_ identifiers for temporal questions.",
		}, o.listInteractions),
	}
}

func (o Operations) screenshot() capability.Op {
	return capability.Define[page.ScreenshotRequest, page.ScreenshotResult](capability.Spec{
		Name: "take_screenshot", Capability: capability.Control, Kind: capability.Read, Lane: capability.Observing, Batchable: true, Lean: true,
		Pictures: true, PicturesByDefault: true, Idempotent: true, Title: "Screenshot",
		Summary: "Picture of the page now. For what happened earlier or briefly: temporal_debug_bundle.",
	}, func(ctx context.Context, r *page.ScreenshotRequest) (capability.Outcome, error) {
		shot, err := o.Camera.Screenshot(ctx, *r)
		if err != nil {
			return capability.Outcome{Stage: "screenshot"}, err
		}
		out := capability.Outcome{Result: shot, Warnings: shot.Warnings, Pictures: []evidence.Picture{shot.Picture}}
		if shot.Resource != nil {
			out.Resources = append(out.Resources, *shot.Resource)
		}
		return out, nil
	})
}

func (o Operations) observeLive() capability.Op {
	return capability.Define[page.ObserveRequest, page.Observation](capability.Spec{
		Name: "observe_live", Capability: capability.Control, Kind: capability.Read, Lane: capability.Observing, Tiers: true,
		Pictures: true, PicturesByDefault: true, Idempotent: true, Title: "Observe",
		Summary: "What the page shows now: identity, dialog, focus, targets, alerts and a picture.",
	}, func(ctx context.Context, r *page.ObserveRequest) (capability.Outcome, error) {
		seen, err := o.Camera.Observe(ctx, r.Target, true)
		if err != nil {
			return capability.Outcome{Stage: "observe"}, err
		}
		out := capability.Outcome{Result: seen, Warnings: seen.Warnings}
		if seen.Incomplete != nil {
			out.Status, out.Err, out.Stage = capability.Degraded, seen.Incomplete, "observe"
		}
		if seen.Picture != nil {
			picture := *seen.Picture
			picture.Role = evidence.RoleLive
			out.Pictures = append(out.Pictures, picture)
		}
		return out, nil
	})
}

// InteractionsRequest is the request of list_interactions.
type InteractionsRequest struct {
	Last      int        `json:"last,omitempty" min:"1" max:"100" default:"20"`
	Target    id.Target  `json:"target,omitempty" doc:"default all"`
	SessionID id.Session `json:"session_id,omitempty"`
}

// InteractionRow is one recorded action in a list.
type InteractionRow struct {
	ID           id.Interaction     `json:"id"`
	Operation    string             `json:"operation"`
	Target       id.Target          `json:"target_id"`
	Name         string             `json:"target_name,omitempty"`
	StartedNS    clock.SessionTime  `json:"started_ns"`
	DispatchedNS clock.SessionTime  `json:"dispatched_ns"`
	CompletedNS  *clock.SessionTime `json:"completed_ns,omitempty"`
	ObservedNS   *clock.SessionTime `json:"observed_ns,omitempty"`
	Outcome      record.Outcome     `json:"outcome"`
	Navigation   id.Navigation      `json:"nav_id,omitempty"`
	Batch        id.Batch           `json:"batch_id,omitempty"`
}

// InteractionList is the result of list_interactions.
type InteractionList struct {
	SessionID    id.Session       `json:"session_id,omitempty"`
	Interactions []InteractionRow `json:"interactions"`
}

func (o Operations) listInteractions(ctx context.Context, r *InteractionsRequest) (InteractionList, error) {
	list := InteractionList{SessionID: r.SessionID, Interactions: []InteractionRow{}}
	if err := o.Barrier.Barrier(ctx); err != nil {
		return list, err
	}
	if list.SessionID == "" {
		newest, err := o.newestSession(ctx)
		if err != nil || newest == "" {
			return list, err
		}
		list.SessionID = newest
	}
	if _, err := o.Stored.Session(ctx, list.SessionID); err != nil {
		return list, err
	}
	last := r.Last
	if last == 0 {
		last = 20
	}
	recent, err := o.Timeline.Interactions(ctx, list.SessionID, r.Target, last)
	if err != nil {
		return list, err
	}
	names, err := o.targetNames(ctx, list.SessionID)
	for _, i := range recent {
		list.Interactions = append(list.Interactions, InteractionRow{
			ID: i.ID, Operation: i.Operation, Target: i.TargetID, Name: names[i.TargetID], StartedNS: i.StartedNS, DispatchedNS: i.DispatchedNS,
			CompletedNS: i.CompletedNS, ObservedNS: i.ObservedNS, Outcome: i.Outcome, Navigation: i.Navigation, Batch: i.Batch,
		})
	}
	return list, err
}

func (o Operations) newestSession(ctx context.Context) (id.Session, error) {
	if running, _, err := o.Sessions.Current(); err == nil {
		return running, nil
	}
	stored, err := o.Stored.Sessions(ctx)
	if err != nil || len(stored) == 0 {
		return "", err
	}
	return stored[0].ID, nil
}

func (o Operations) targetNames(ctx context.Context, s id.Session) (map[id.Target]string, error) {
	targets, err := o.Stored.Targets(ctx, s)
	names := map[id.Target]string{}
	for _, t := range targets {
		names[t.ID] = t.Name
	}
	return names, err
}

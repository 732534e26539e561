package control

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// SessionsRequest is the request of list_sessions.
type SessionsRequest struct{}

// SessionRow is one retained session of this process.
type SessionRow struct {
	SessionID id.Session `json:"session_id"`
	// State is running or ended.
	State     string             `json:"state"`
	StartedAt string             `json:"started_at"`
	EndedAt   string             `json:"ended_at,omitempty"`
	EndedNS   *clock.SessionTime `json:"ended_ns,omitempty"`
	Browser   string             `json:"browser"`
	Profile   string             `json:"profile,omitempty"`
	Targets   int                `json:"targets"`
	Frames    int                `json:"frames"`
	Events    int                `json:"events"`
	Bytes     int64              `json:"bytes"`
	// Selected is the page that questions without a target are about.
	Selected id.Target `json:"last_selected,omitempty"`
}

// SessionList is the result of list_sessions.
type SessionList struct {
	Sessions []SessionRow `json:"sessions"`
}

// DeleteRequest is the request of delete_session.
type DeleteRequest struct {
	SessionID id.Session `json:"session_id"`
}

// DeleteResult counts what was removed.
type DeleteResult struct {
	SessionID id.Session `json:"session_id"`
	record.Deletion
	// Pictures counts the post-action pictures that were kept in memory.
	Pictures int `json:"pictures"`
}

// Pictures forgets the pictures in memory of a session and says how many there were.
type Pictures interface {
	Forget(s id.Session) int
}

func (o Operations) sessions() []capability.Op {
	return []capability.Op{
		read(capability.Spec{
			Name: "list_sessions", Lane: capability.Free, Tiers: true, Title: "List sessions",
			Summary: "Retained sessions of this process, newest first, with their size.",
		}, o.listSessions),
		capability.Define[DeleteRequest, DeleteResult](capability.Spec{
			Name: "delete_session", Capability: capability.Control, Kind: capability.Lifecycle, Lane: capability.Free,
			Destructive: true, Title: "Delete a session",
			Summary: "Remove everything recorded of an ended session; its identifiers become invalid.",
		}, o.deleteSession),
	}
}

func (o Operations) listSessions(ctx context.Context, _ *SessionsRequest) (SessionList, error) {
	list := SessionList{Sessions: []SessionRow{}}
	if err := o.Barrier.Barrier(ctx); err != nil {
		return list, err
	}
	usage, err := o.Admin.Usage(ctx)
	if err != nil {
		return list, err
	}
	running, _, err := o.Sessions.Current()
	for _, u := range usage {
		list.Sessions = append(list.Sessions, sessionRow(u, err == nil && u.ID == running))
	}
	return list, nil
}

const wallFormat = "2006-01-02T15:04:05.000Z07:00"

func sessionRow(u record.SessionUsage, running bool) SessionRow {
	row := SessionRow{
		SessionID: u.ID, State: "ended", StartedAt: u.StartedAt.UTC().Format(wallFormat), EndedNS: u.EndedNS, Browser: u.Browser.Product,
		Profile: u.Profile, Targets: u.Targets, Frames: u.Frames, Events: u.Events, Bytes: u.Bytes, Selected: u.LastSelected,
	}
	if running {
		row.State = "running"
	}
	if u.EndedAt != nil {
		row.EndedAt = u.EndedAt.UTC().Format(wallFormat)
	}
	return row
}

func (o Operations) deleteSession(ctx context.Context, r *DeleteRequest) (capability.Outcome, error) {
	if _, err := id.Parse[id.Session](string(r.SessionID)); err != nil {
		return capability.Outcome{Stage: "decode"}, fault.Input("session_id", err.Error())
	}
	if running, _, err := o.Sessions.Current(); err == nil && running == r.SessionID {
		return capability.Outcome{Stage: "state"}, fault.New(fault.InvalidLifecycleTransition, "the session is still running").
			About(fault.Context{SessionID: r.SessionID}).WithRecovery("end it with stop_browser first")
	}
	removed, err := o.Admin.DeleteSession(ctx, r.SessionID)
	if err != nil {
		return capability.Outcome{Stage: "delete"}, err
	}
	return capability.Outcome{Result: DeleteResult{
		SessionID: r.SessionID, Deletion: removed, Pictures: o.Pictures.Forget(r.SessionID),
	}}, nil
}

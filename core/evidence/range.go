package evidence

import (
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Anchor is the part of a request that names a moment or stretch of recorded time: at most one of the
// kinds. None means the most recent page-affecting interaction of the selected page.
type Anchor struct {
	InteractionID id.Interaction     `json:"interaction_id,omitempty" doc:"anchor: this interaction"`
	NavigationID  id.Navigation      `json:"navigation_id,omitempty" doc:"anchor: this navigation"`
	MarkerID      id.Marker          `json:"marker_id,omitempty" doc:"anchor: this marker"`
	StartNS       *clock.SessionTime `json:"start_ns,omitempty" doc:"session time, with end_ns"`
	EndNS         *clock.SessionTime `json:"end_ns,omitempty" doc:"session time, with start_ns"`
	StartTime     string             `json:"start_time,omitempty" doc:"RFC 3339, with end_time"`
	EndTime       string             `json:"end_time,omitempty" doc:"RFC 3339, with start_time"`
	StartFrameID  id.Frame           `json:"start_frame_id,omitempty" doc:"with end_frame_id"`
	EndFrameID    id.Frame           `json:"end_frame_id,omitempty" doc:"with start_frame_id"`
	LastMS        *int               `json:"last_ms,omitempty" doc:"anchor: the newest part" min:"1" max:"120000"`
	BeforeMS      *int               `json:"before_ms,omitempty" doc:"context before an interaction, navigation or marker (150)" min:"0" max:"120000"`
	AfterMS       *int               `json:"after_ms,omitempty" doc:"context after it (250)" min:"0" max:"120000"`
	SessionID     id.Session         `json:"session_id,omitempty" doc:"default: the running or newest session"`
	Target        id.Target          `json:"target,omitempty" doc:"page; default: the anchor's, else the selected page"`
	Retention     string             `json:"retention,omitempty" enum:"allow_partial,require_complete" default:"allow_partial" doc:"what to do when a part is not retained"`
	Gaps          string             `json:"gaps,omitempty" enum:"include,reject" default:"include" doc:"what to do when capture gaps are known"`
}

// ResolvedRange is the immutable answer to an anchor.
type ResolvedRange struct {
	SessionID id.Session        `json:"session_id"`
	TargetID  id.Target         `json:"target_id"`
	StartNS   clock.SessionTime `json:"start_ns"`
	EndNS     clock.SessionTime `json:"end_ns"`
	// Requested is the range before it was cut to what is retained.
	Requested fault.Range `json:"requested"`
	// AnchorNS is the moment the range is about: dispatch, commit or the marker's instant; nil for plain ranges.
	AnchorNS *clock.SessionTime `json:"anchor_ns,omitempty"`
	Anchor   AnchorRef          `json:"anchor"`
	// Retention is complete or partial.
	Retention string `json:"retention"`
	GapCount  int    `json:"gaps"`
	// TimeSource is presented, received or mixed: what the range's frames are ordered by.
	TimeSource string `json:"time_source"`
}

// AnchorRef names what a range was resolved from.
type AnchorRef struct {
	// Kind is interaction, navigation, marker, session_time, wall_time, frames, latest or handle.
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
}

// RangeRef is how most temporal requests name a range: a handle, an interaction with its default window,
// or explicit session times; with session_id, target and anchor_ns these are a complete resolved range. None means the
// default anchor.
type RangeRef struct {
	RangeHandle   id.RangeHandle     `json:"range_handle,omitempty" doc:"rng_ handle of an earlier answer"`
	InteractionID id.Interaction     `json:"interaction_id,omitempty" doc:"this interaction with its default window"`
	StartNS       *clock.SessionTime `json:"start_ns,omitempty" doc:"session time, with end_ns"`
	EndNS         *clock.SessionTime `json:"end_ns,omitempty" doc:"session time, with start_ns"`
	AnchorNS      *clock.SessionTime `json:"anchor_ns,omitempty" doc:"with start_ns: the moment in the range that offsets count from"`
	SessionID     id.Session         `json:"session_id,omitempty" doc:"default: the running or newest session"`
	Target        id.Target          `json:"target,omitempty" doc:"page; default: the selected page"`
}

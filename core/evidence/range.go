package evidence

import (
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Anchor is the part of a request that names a moment or stretch of recorded time: at most one of the
// kinds. None means the most recent page-affecting interaction of the selected page.
type Anchor struct {
	InteractionID id.Interaction     `json:"interaction_id,omitempty"`
	NavigationID  id.Navigation      `json:"navigation_id,omitempty"`
	MarkerID      id.Marker          `json:"marker_id,omitempty"`
	StartNS       *clock.SessionTime `json:"start_ns,omitempty"`
	EndNS         *clock.SessionTime `json:"end_ns,omitempty"`
	StartTime     string             `json:"start_time,omitempty" doc:"RFC 3339"`
	EndTime       string             `json:"end_time,omitempty"`
	StartFrameID  id.Frame           `json:"start_frame_id,omitempty"`
	EndFrameID    id.Frame           `json:"end_frame_id,omitempty"`
	LastMS        *int               `json:"last_ms,omitempty" doc:"the newest part" min:"1" max:"120000"`
	BeforeMS      *int               `json:"before_ms,omitempty" doc:"before an interaction, navigation or marker (150)" min:"0" max:"120000"`
	AfterMS       *int               `json:"after_ms,omitempty" doc:"(250)" min:"0" max:"120000"`
	SessionID     id.Session         `json:"session_id,omitempty"`
	Target        id.Target          `json:"target,omitempty"`
	Retention     string             `json:"retention,omitempty" enum:"allow_partial,require_complete" default:"allow_partial"`
	Gaps          string             `json:"gaps,omitempty" enum:"include,reject" default:"include"`
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
	RangeHandle   id.RangeHandle     `json:"range_handle,omitempty"`
	InteractionID id.Interaction     `json:"interaction_id,omitempty"`
	StartNS       *clock.SessionTime `json:"start_ns,omitempty"`
	EndNS         *clock.SessionTime `json:"end_ns,omitempty"`
	AnchorNS      *clock.SessionTime `json:"anchor_ns,omitempty"`
	SessionID     id.Session         `json:"session_id,omitempty"`
	Target        id.Target          `json:"target,omitempty"`
}

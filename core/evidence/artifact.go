package evidence

import (
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Kinds of artifacts.
const (
	Storyboard    = "storyboard"
	DifferenceMap = "difference_map"
	MotionHistory = "motion_history"
	Orientation   = "orientation"
	Filmstrip     = "region_filmstrip"
	Video         = "video"
)

// ArtifactOutcome is one requested artifact of one epoch: available, or why not.
type ArtifactOutcome struct {
	Kind  string `json:"kind"`
	Epoch int    `json:"epoch"`
	// Status is available or unavailable.
	Status   string           `json:"status"`
	Artifact *record.Artifact `json:"artifact,omitempty"`
	// Cache is hit, generated or regenerated.
	Cache       string `json:"cache,omitempty"`
	URI         string `json:"resource,omitempty"`
	ManifestURI string `json:"manifest,omitempty"`
	// ManifestBytes is the manifest's size, 0 when it is not known.
	ManifestBytes int64        `json:"-"`
	Sampling      *Sampling    `json:"sampling,omitempty"`
	Error         *fault.Error `json:"error,omitempty"`
	// Tiles name what a storyboard or filmstrip shows, in order.
	Tiles []Tile `json:"tiles,omitempty"`
}

// Sampling accounts for bounded work.
type Sampling struct {
	Mode     string `json:"sampling_mode"`
	Analyzed int    `json:"analyzed_frame_count"`
	Source   int    `json:"source_frame_count"`
}

// Tile is one picture of a storyboard or filmstrip.
type Tile struct {
	Number   int      `json:"number"`
	FrameID  id.Frame `json:"frame_id"`
	OffsetMS float64  `json:"offset_ms"`
	Reasons  []string `json:"reasons,omitempty"`
}

// ArtifactsRequest is the request of generate_artifacts.
type ArtifactsRequest struct {
	RangeRef
	Kinds      []string    `json:"kinds,omitempty" enum:"storyboard,difference_map,motion_history,orientation" doc:"default the first two"`
	ArtifactID id.Artifact `json:"artifact_id,omitempty" doc:"that one again; alone"`
	Tiles      int         `json:"tiles,omitempty" min:"3" max:"12" default:"8"`
	Noise      string      `json:"noise,omitempty" enum:"default,exact" default:"default" doc:"exact: single pixels"`
	Format     string      `json:"format,omitempty" enum:"png,jpeg" default:"png"`
	Epochs     string      `json:"epochs,omitempty" enum:"all,anchor" default:"all"`
	Sampling   string      `json:"sampling,omitempty" enum:"bounded,exhaustive" default:"bounded"`
	Failure    string      `json:"failure,omitempty" enum:"allow_partial,require_all" default:"allow_partial"`
}

// ArtifactsResult is the result of generate_artifacts.
type ArtifactsResult struct {
	Outcomes []ArtifactOutcome `json:"outcomes"`
}

// FramesRequest is the request of list_source_frames.
type FramesRequest struct {
	RangeRef
	Offset    int `json:"offset,omitempty" min:"0"`
	MaxFrames int `json:"max_frames,omitempty" min:"1" max:"64" default:"32"`
}

// FramesResult is one page of source frames.
type FramesResult struct {
	Frames     []record.Frame  `json:"frames"`
	Omitted    int             `json:"omitted_frame_count"`
	NextOffset *int            `json:"next_offset,omitempty"`
	Gaps       []record.Gap    `json:"gaps"`
	Markers    []record.Marker `json:"markers"`
}

// FetchRequest is the request of fetch_source_frames.
type FetchRequest struct {
	RangeRef
	FrameIDs  []id.Frame `json:"frame_ids,omitempty" maxitems:"64"`
	MaxFrames int        `json:"max_frames,omitempty" min:"1" max:"64" default:"4"`
}

// FetchResult lists the fetched frames; their pixels are pictures and resources of the answer.
type FetchResult struct {
	Frames []record.Frame `json:"frames"`
}

// MarkerRequest is the request of add_marker.
type MarkerRequest struct {
	Label  string             `json:"label" doc:"shown on pictures" minlen:"1" maxlen:"120"`
	Kind   string             `json:"kind,omitempty" maxlen:"40"`
	AtNS   *clock.SessionTime `json:"at_ns,omitempty" doc:"default now"`
	Target id.Target          `json:"target,omitempty"`
}

// MarkerResult is the result of add_marker.
type MarkerResult struct {
	Marker record.Marker `json:"marker"`
}

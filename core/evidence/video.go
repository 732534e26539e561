package evidence

import (
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
)

// VideoRequest is the request of generate_temporal_video.
type VideoRequest struct {
	RangeRef
	Policy    string `json:"policy,omitempty" enum:"real_time,model_optimized" default:"model_optimized" doc:"model_optimized holds meaningful states longer"`
	MaxWidth  int    `json:"max_width,omitempty" min:"64" max:"1920" default:"1920"`
	MaxHeight int    `json:"max_height,omitempty" min:"64" max:"1080" default:"1080"`
	MaxBytes  int64  `json:"max_bytes,omitempty" min:"65536" max:"67108864" default:"67108864"`
}

// VideoResult has one clip for each geometry epoch of the range.
type VideoResult struct {
	Clips []VideoClip `json:"clips"`
}

// VideoClip is the clip of one epoch: available, or why not.
type VideoClip struct {
	Epoch int `json:"epoch"`
	// Status is available or unavailable.
	Status string `json:"status"`
	Policy string `json:"policy,omitempty"`
	// LengthMS is the length of the presentation. Frames and Slates count what it shows; a slate stands for a gap.
	LengthMS float64 `json:"length_ms,omitempty"`
	Frames   int     `json:"frames,omitempty"`
	Slates   int     `json:"gap_slates,omitempty"`
	// Skipped counts source frames that are not shown.
	Skipped  int       `json:"skipped_frames,omitempty"`
	Sampling *Sampling `json:"sampling,omitempty"`
	// Encoder and Build are the H.264 encoder and the ffmpeg build.
	Encoder  string           `json:"encoder,omitempty"`
	Build    string           `json:"build,omitempty"`
	Artifact *record.Artifact `json:"artifact,omitempty"`
	// Cache is hit or generated.
	Cache       string       `json:"cache,omitempty"`
	URI         string       `json:"resource,omitempty"`
	ManifestURI string       `json:"manifest,omitempty"`
	Error       *fault.Error `json:"error,omitempty"`
}

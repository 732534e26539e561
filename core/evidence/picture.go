// Package evidence holds the results of questions about recorded time, and the pictures and resources
// that answers carry.
package evidence

import (
	"context"

	"github.com/krometrail/krometrail/core/id"
)

// Role says what a picture in an answer is.
type Role string

// The roles of pictures.
const (
	RoleScreenshot  Role = "requested_screenshot"
	RoleLive        Role = "live_observation"
	RolePostAction  Role = "post_action"
	RoleBatchStep   Role = "batch_step"
	RoleBatchFinal  Role = "batch_final"
	RoleTemporal    Role = "temporal_primary"
	RoleSourceFrame Role = "source_frame"
)

// Picture is an image that belongs to an answer. Its pixels are read only when it is shown inline.
type Picture struct {
	Role Role `json:"role"`
	// Kind is screenshot, frame, or the artifact kind.
	Kind   string `json:"kind"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// CSSPerPixel is the number of CSS pixels one picture pixel stands for; 0 when it has no such scale.
	CSSPerPixel float64 `json:"css_per_pixel,omitempty"`
	// Origin is the CSS position of the picture's top left corner in the document, nil when it has none.
	Origin        *Origin        `json:"origin,omitempty"`
	ArtifactID    id.Artifact    `json:"artifact_id,omitempty"`
	FrameID       id.Frame       `json:"frame_id,omitempty"`
	ObservationID id.Observation `json:"observation_id,omitempty"`
	MediaType     string         `json:"mime_type"`
	// Load returns the encoded bytes, already within the inline bounds. It may be called once or never.
	Load func(ctx context.Context) ([]byte, error) `json:"-"`
}

// Origin is a document position in CSS pixels.
type Origin struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Resource is something an answer offers for reading by its canonical URI.
type Resource struct {
	Role      string `json:"role"`
	URI       string `json:"uri"`
	Name      string `json:"name"`
	MediaType string `json:"mime_type"`
	Bytes     int64  `json:"bytes"`
}

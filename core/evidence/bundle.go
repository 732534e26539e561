package evidence

import (
	"encoding/json"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// BundleRequest is the request of temporal_debug_bundle. Without arguments it is about the last action.
type BundleRequest struct {
	Anchor
	Epochs      string       `json:"epochs,omitempty" enum:"anchor,all" default:"anchor" doc:"page sizes to show"`
	Orientation *bool        `json:"orientation,omitempty" default:"true" doc:"before/during/after picture"`
	Sampling    string       `json:"sampling,omitempty" enum:"bounded,exhaustive" default:"bounded"`
	Markers     []MarkerSpec `json:"markers,omitempty" doc:"only on these pictures" maxitems:"64"`
}

// MarkerSpec is a label for one request's pictures.
type MarkerSpec struct {
	AtNS  clock.SessionTime `json:"at_ns"`
	Label string            `json:"label"`
	Kind  string            `json:"kind,omitempty"`
}

// Bundle is the primary answer about a moment. Components fail alone.
type Bundle struct {
	// Header is at most 512 bytes of plain text in the observing vocabulary.
	Header    string            `json:"header"`
	Measure   *Measure          `json:"measure,omitempty"`
	Artifacts []ArtifactOutcome `json:"artifacts"`
	// Epoch is the one the pictures are about; Epochs lists all of the range.
	Epoch   int     `json:"epoch"`
	Quality Quality `json:"capture_quality"`
	// SourceFrames are the ordered frames of the range.
	SourceFrames []id.Frame `json:"source_frames"`
	// Nearest are the interactions that the header names: the anchor and up to two before it.
	Nearest []record.Interaction `json:"interactions"`
	Events  []CompactEvent       `json:"events"`
	// EventsOmitted counts events of the range that are not among Events.
	EventsOmitted int `json:"events_omitted"`
	// Failed lists the components that could not be made.
	Failed []ComponentFailure `json:"failed,omitempty"`
}

// ComponentFailure is one part of a bundle that could not be made.
type ComponentFailure struct {
	Component string       `json:"component"`
	Error     *fault.Error `json:"error"`
}

// CompactEvent is one browser event near a visual change.
type CompactEvent struct {
	AtNS     clock.SessionTime `json:"at_ns"`
	OffsetMS float64           `json:"offset_ms"`
	Class    record.EventClass `json:"class"`
	Severity record.Severity   `json:"severity"`
	Text     string            `json:"text"`
	Payload  json.RawMessage   `json:"payload,omitempty"`
}

// MeasureRequest is the request of measure_change.
type MeasureRequest struct {
	RangeRef
	Sampling string `json:"sampling,omitempty" enum:"bounded,exhaustive" default:"bounded"`
}

// Measure are visual-change measurements over a range. Times are offsets in milliseconds from the anchor,
// else from the range's start.
type Measure struct {
	FirstChangeMS *float64 `json:"first_change_ms,omitempty"`
	PeakMS        *float64 `json:"peak_ms,omitempty"`
	// PeakArea is the changed share of the picture at the peak, 0..1.
	PeakArea float64 `json:"peak_area"`
	// SettledMS is the last frame at which anything changed; nil when nothing did.
	SettledMS *float64 `json:"last_change_ms,omitempty"`
	// QuietAtEndMS is the observed time after it without change.
	QuietAtEndMS float64 `json:"quiet_at_end_ms"`
	// Series holds the steps with the greatest change in time order; SeriesOmitted counts the others.
	Series        []MeasurePoint  `json:"series,omitempty"`
	SeriesOmitted int             `json:"series_omitted,omitempty"`
	Quiet         []QuietPeriod   `json:"quiet_periods,omitempty"`
	Regions       []MeasureRegion `json:"regions"`
	Sampling      Sampling        `json:"sampling"`
}

// MeasurePoint is one pair of successive frames.
type MeasurePoint struct {
	AtMS     float64  `json:"at_ms"`
	FrameID  id.Frame `json:"frame_id"`
	Area     float64  `json:"area"`
	Baseline float64  `json:"area_from_baseline"`
}

// QuietPeriod is a stretch without change.
type QuietPeriod struct {
	StartMS float64 `json:"start_ms"`
	EndMS   float64 `json:"end_ms"`
}

// MeasureRegion is one connected changed area in source pixels.
type MeasureRegion struct {
	Name          string  `json:"name"`
	X             int     `json:"x"`
	Y             int     `json:"y"`
	Width         int     `json:"width"`
	Height        int     `json:"height"`
	Changes       int     `json:"changes"`
	FirstChangeMS float64 `json:"first_change_ms"`
	LastChangeMS  float64 `json:"last_change_ms"`
}

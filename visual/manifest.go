package visual

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"time"
)

// ManifestSchema names the JSON form of Manifest. Fields are only ever added
// under one name.
const ManifestSchema = "visual.manifest.v1"

// Kind is a type of artifact.
type Kind string

// The kinds of artifact.
const (
	KindStoryboard    Kind = "storyboard"
	KindDifferenceMap Kind = "difference_map"
	KindFilmstrip     Kind = "region_filmstrip"
	KindMotionHistory Kind = "motion_history"
	KindOrientation   Kind = "orientation"
)

// EvidenceClass says how an artifact relates to recorded frames.
type EvidenceClass string

// SourceDerived artifacts are selected, cropped, scaled, combined or coloured
// from recorded frames by a deterministic method. Everything this package
// builds is of this class; nothing is inferred.
const SourceDerived EvidenceClass = "source_derived"

// FrameRef points at a frame.
type FrameRef struct {
	ID   FrameID       `json:"id"`
	Time time.Duration `json:"time_ns"`
}

// Parameter is one setting an artifact was made with, as text.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// LegendEntry explains one sign of a picture. The legend drawn is this one.
type LegendEntry struct {
	Sign    string `json:"sign"`
	Meaning string `json:"meaning"`
}

// Reason says why a tile is shown.
type Reason string

// Reasons in order of priority.
const (
	ReasonBefore      Reason = "before"           // last frame before the anchor
	ReasonFirstAfter  Reason = "first_after"      // first frame at or after the anchor
	ReasonFirstChange Reason = "first_change"     // first frame that differs from its predecessor after the anchor
	ReasonPeak        Reason = "peak"             // greatest difference from the baseline
	ReasonFinal       Reason = "final"            // last frame
	ReasonGapEdge     Reason = "gap_edge"         // first or last frame beside a gap
	ReasonEpochEdge   Reason = "epoch_edge"       // first or last frame beside a change of geometry
	ReasonMarker      Reason = "marker"           // first frame at or after a marker that asked for a tile
	ReasonReturn      Reason = "return_candidate" // an area shows something between two appearances of the same state
	ReasonReturnedTo  Reason = "returned_to"      // the state an area comes back to after a return candidate
	ReasonExcursion   Reason = "excursion"        // an area shows a state for a short time between two steps
	ReasonInformative Reason = "informative"      // shows most that the other tiles do not
	ReasonSpread      Reason = "evenly_spaced"    // only there to have at least three tiles
)

// Tile is one frame in a picture.
type Tile struct {
	Number  int           `json:"number"` // from 1, in time order
	Frame   FrameID       `json:"frame"`
	Time    time.Duration `json:"time_ns"`
	Offset  time.Duration `json:"offset_ns"` // from the anchor
	CarryIn bool          `json:"carry_in,omitempty"`
	Epoch   int           `json:"epoch"`
	Reasons []Reason      `json:"reasons"`
	Markers []string      `json:"markers,omitempty"`
	// Region is the changed region that decided the pick, 0 when none did.
	Region int `json:"region,omitempty"`
	// Rect is where the frame is drawn, Source the part of the frame shown
	// there; parts of Source beyond the frame are drawn as padding.
	Rect   image.Rectangle `json:"rect"`
	Source image.Rectangle `json:"source"`
	// Insets are enlarged parts of the frame drawn below the tile.
	Insets []Inset `json:"insets,omitempty"`
	// Labels are the lines drawn above the tile.
	Labels []string `json:"labels"`
}

// Represented says that a frame needed no tile of its own because nothing
// changed between it and the frame of tile Tile.
type Represented struct {
	Reason Reason        `json:"reason"`
	Frame  FrameID       `json:"frame"`
	Time   time.Duration `json:"time_ns"`
	By     FrameID       `json:"by_frame"`
}

// Unmet is a frame that should have been shown but for which no tile was left.
type Unmet struct {
	Reason Reason        `json:"reason"`
	Frame  FrameID       `json:"frame"`
	Time   time.Duration `json:"time_ns"`
}

// Output describes the picture itself. Bytes and SHA256 are known once it was
// encoded; PixelsSHA256 is over the RGBA pixels, row by row, and equal on
// every platform and Go version.
type Output struct {
	Format       Format `json:"format,omitempty"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	PixelsSHA256 string `json:"pixels_sha256"`
	Bytes        int64  `json:"bytes,omitempty"`
	SHA256       string `json:"sha256,omitempty"`
}

// Manifest records where a picture comes from and how it was made. Every label
// in the picture is drawn from it.
type Manifest struct {
	Schema         string          `json:"schema"`
	ID             string          `json:"id"` // equal for equal frames and parameters
	Kind           Kind            `json:"kind"`
	Title          string          `json:"title"`
	SourceLabel    string          `json:"source_label,omitempty"`
	Evidence       EvidenceClass   `json:"evidence_class"`
	Algorithm      string          `json:"algorithm"`
	Version        string          `json:"version"`
	AnalysisSource AnalysisSource  `json:"analysis_source"`
	Range          Range           `json:"range"`
	Anchor         Anchor          `json:"anchor"`
	TimeDirection  string          `json:"time_direction"`
	Sampling       SamplingCounts  `json:"sampling"`
	CarryIn        *FrameRef       `json:"carry_in,omitempty"`
	Baseline       *FrameRef       `json:"baseline,omitempty"`
	Source         []FrameID       `json:"source_frames"`
	Analyzed       []FrameID       `json:"analyzed_frames"`
	Selected       []FrameID       `json:"selected_frames"`
	Omitted        int             `json:"omitted_frames"` // len(Source) - len(Analyzed)
	Epochs         []Epoch         `json:"epochs"`
	Epoch          int             `json:"epoch,omitempty"` // the one shown, 0 when all are
	Gaps           []Gap           `json:"gaps"`
	Markers        []Marker        `json:"markers,omitempty"`
	Observers      []Observer      `json:"observers,omitempty"`
	Region         *Region         `json:"region,omitempty"`
	Mask           *MaskInfo       `json:"mask,omitempty"`
	Parameters     []Parameter     `json:"parameters"`
	Tiles          []Tile          `json:"tiles"`
	Represented    []Represented   `json:"represented,omitempty"`
	Unmet          []Unmet         `json:"unmet,omitempty"`
	Regions        []ChangedRegion `json:"regions"`
	Legend         []LegendEntry   `json:"legend"`
	Warnings       []string        `json:"warnings,omitempty"`
	Output         Output          `json:"output"`

	ticks []time.Duration // analyzed frames, for the axis
}

// ParseManifest reads the JSON form of a manifest and checks what a reader
// relies on. Errors wrap ErrBadManifest.
func ParseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadManifest, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrBadManifest, err.Error())
	}
	return &m, nil
}

func (m *Manifest) check() error {
	switch {
	case m.Schema != ManifestSchema:
		return fmt.Errorf("schema %q", m.Schema)
	case m.Range.End < m.Range.Start:
		return fmt.Errorf("range ends before it starts")
	case m.Omitted != len(m.Source)-len(m.Analyzed):
		return fmt.Errorf("omitted frames %d, source %d, analyzed %d", m.Omitted, len(m.Source), len(m.Analyzed))
	case m.Output.Width <= 0 || m.Output.Height <= 0:
		return fmt.Errorf("output size %dx%d", m.Output.Width, m.Output.Height)
	}
	known := make(map[FrameID]bool, len(m.Source)+1)
	for _, id := range m.Source {
		known[id] = true
	}
	if m.CarryIn != nil {
		known[m.CarryIn.ID] = true
	}
	for _, id := range m.Selected {
		if !known[id] {
			return fmt.Errorf("selected frame %q is not a source frame", id)
		}
	}
	return nil
}

// identify sets the ID from everything that determines the picture.
func (m *Manifest) identify(a *Analysis) error {
	plain := *m
	plain.ID, plain.Output = "", Output{}
	body, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	h := sha256.New()
	h.Write(body)
	for i := range a.frames {
		if a.frames[i].read {
			h.Write(a.frames[i].hash[:])
		}
	}
	m.ID = hex.EncodeToString(h.Sum(nil)[:16])
	return nil
}

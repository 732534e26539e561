package present

import (
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

const (
	// maxFrames bounds the listed source frames of a full bundle, maxGaps and maxObservers the rows of its quality; the
	// rest is counted and can be listed with list_source_frames.
	maxFrames    = 32
	maxGaps      = 32
	maxObservers = 32
	// conciseGaps bounds the gaps that the lower details list.
	conciseGaps = 4
)

// Bundle is a bundle at a detail. Counts of what is left out are exact.
type Bundle struct {
	Header  string            `json:"header"`
	Measure *evidence.Measure `json:"measure,omitempty"`
	// Epoch is the one the pictures are about, of Epochs in the range.
	Epoch            int                         `json:"epoch"`
	Epochs           int                         `json:"epoch_count"`
	Available        int                         `json:"available_outcomes"`
	Unavailable      int                         `json:"unavailable_outcomes"`
	Artifacts        []Artifact                  `json:"artifacts"`
	OmittedOutcomes  int                         `json:"omitted_outcomes"`
	OmittedResources int                         `json:"omitted_resources"`
	Quality          Quality                     `json:"capture_quality"`
	SourceFrames     []id.Frame                  `json:"source_frames,omitempty"`
	OmittedFrames    int                         `json:"omitted_source_frames"`
	Interactions     []record.Interaction        `json:"interactions"`
	Events           []evidence.CompactEvent     `json:"events"`
	EventsOmitted    int                         `json:"events_omitted"`
	Failed           []evidence.ComponentFailure `json:"failed,omitempty"`
}

// Artifact is an outcome with its compact handle; Record is there at full only.
type Artifact struct {
	Kind        string             `json:"kind"`
	Epoch       int                `json:"epoch"`
	Status      string             `json:"status"`
	ID          id.Artifact        `json:"artifact_id,omitempty"`
	Cache       string             `json:"cache,omitempty"`
	URI         string             `json:"resource,omitempty"`
	ManifestURI string             `json:"manifest,omitempty"`
	Tiles       []evidence.Tile    `json:"tiles,omitempty"`
	Sampling    *evidence.Sampling `json:"sampling,omitempty"`
	Record      *record.Artifact   `json:"artifact,omitempty"`
	Error       any                `json:"error,omitempty"`
}

// Quality is a range's capture quality at a detail.
type Quality struct {
	Frames        int                    `json:"frames"`
	Cadence       *evidence.Distribution `json:"cadence_ms,omitempty"`
	Lag           *evidence.Distribution `json:"lag_ms,omitempty"`
	TimeSource    string                 `json:"time_source"`
	CaptureState  string                 `json:"capture_state"`
	Gaps          []record.Gap           `json:"gaps"`
	GapsOmitted   int                    `json:"gaps_omitted,omitempty"`
	HiddenMS      float64                `json:"hidden_ms,omitempty"`
	ObserverCount int                    `json:"observer_count"`
	Observers     []record.Observer      `json:"observers,omitempty"`
	Epochs        []evidence.Epoch       `json:"epochs"`
	Warnings      map[string]int         `json:"frame_warnings,omitempty"`
	CarryIn       id.Frame               `json:"carry_in,omitempty"`
}

// RangeResult is a resolved range's quality at a detail.
type RangeResult struct {
	Quality Quality `json:"capture_quality"`
}

// bundle shows the primary picture's handle at concise, all handles at expanded and everything but long lists of
// identifiers at full.
func bundle(b evidence.Bundle, d Detail) Bundle {
	shown := Bundle{
		Header: b.Header, Measure: b.Measure, Epoch: b.Epoch, Epochs: max(1, len(b.Quality.Epochs)), Quality: quality(b.Quality, d),
		OmittedFrames: len(b.SourceFrames), Interactions: b.Nearest, Events: b.Events, EventsOmitted: b.EventsOmitted, Failed: b.Failed,
		Artifacts: []Artifact{},
	}
	for _, o := range b.Artifacts {
		if o.Artifact == nil {
			shown.Unavailable++
		} else {
			shown.Available++
		}
		if d != Concise || o.Artifact != nil && len(shown.Artifacts) == 0 {
			shown.Artifacts = append(shown.Artifacts, compact(o, d))
		}
	}
	shown.OmittedOutcomes = len(b.Artifacts) - len(shown.Artifacts)
	shown.OmittedResources = resourcesOf(b.Artifacts) - resourcesShown(shown.Artifacts)
	if d == Full {
		shown.SourceFrames = b.SourceFrames[:min(maxFrames, len(b.SourceFrames))]
		shown.OmittedFrames -= len(shown.SourceFrames)
		return shown
	}
	shown.Interactions = withoutParameters(b.Nearest)
	if d == Concise {
		shown.Measure, shown.Events = shortMeasure(b.Measure), withoutPayload(b.Events)
		if extra := len(shown.Events) - maxEvents; extra > 0 {
			shown.Events, shown.EventsOmitted = shown.Events[:maxEvents], shown.EventsOmitted+extra
		}
	}
	return shown
}

// resourcesPer is the picture and its manifest.
const resourcesPer = 2

func resourcesOf(all []evidence.ArtifactOutcome) int {
	n := 0
	for _, o := range all {
		if o.Artifact != nil {
			n += resourcesPer
		}
	}
	return n
}

func resourcesShown(all []Artifact) int {
	n := 0
	for _, a := range all {
		if a.ID != "" {
			n += resourcesPer
		}
	}
	return n
}

// shownResources are those of a bundle's shown artifacts; the resources of other results stay as they are.
func shownResources(result any, all []evidence.Resource) []evidence.Resource {
	b, ok := result.(Bundle)
	if !ok || b.OmittedResources == 0 {
		return all
	}
	return all[:max(0, len(all)-b.OmittedResources)]
}

func compact(o evidence.ArtifactOutcome, d Detail) Artifact {
	a := Artifact{
		Kind: o.Kind, Epoch: o.Epoch, Status: o.Status, Cache: o.Cache, URI: o.URI, ManifestURI: o.ManifestURI,
		Tiles: o.Tiles, Sampling: o.Sampling,
	}
	if o.Artifact != nil {
		a.ID = o.Artifact.ID
	}
	if o.Error != nil {
		a.Error = o.Error
	}
	if d == Full {
		a.Record = o.Artifact
	}
	return a
}

func shortMeasure(m *evidence.Measure) *evidence.Measure {
	if m == nil {
		return nil
	}
	short := *m
	short.SeriesOmitted += len(short.Series)
	short.Series, short.Quiet = nil, nil
	return &short
}

func withoutPayload(all []evidence.CompactEvent) []evidence.CompactEvent {
	events := make([]evidence.CompactEvent, len(all))
	for i, e := range all {
		e.Payload = nil
		events[i] = e
	}
	return events
}

func withoutParameters(all []record.Interaction) []record.Interaction {
	short := make([]record.Interaction, len(all))
	for i, r := range all {
		r.Parameters = nil
		short[i] = r
	}
	return short
}

func quality(q evidence.Quality, d Detail) Quality {
	shown := Quality{
		Frames: q.Frames, Cadence: q.Cadence, Lag: q.Lag, TimeSource: q.TimeSource, CaptureState: q.CaptureState,
		HiddenMS: q.HiddenMS, ObserverCount: len(q.Observers), Epochs: q.Epochs, Warnings: q.Warnings, CarryIn: q.CarryIn,
	}
	limit := conciseGaps
	if d == Full {
		limit = maxGaps
		shown.Observers = q.Observers[:min(maxObservers, len(q.Observers))]
	}
	shown.Gaps = append([]record.Gap{}, q.Gaps[:min(limit, len(q.Gaps))]...)
	shown.GapsOmitted = len(q.Gaps) - len(shown.Gaps)
	return shown
}

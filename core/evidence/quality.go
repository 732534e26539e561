package evidence

import (
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Quality says how well a range was captured. It reports, it does not judge the page.
type Quality struct {
	Frames int `json:"frames"`
	// Cadence is the distribution of the time between successive frames. A quiet page sends none, so a
	// long interval is not a loss.
	Cadence *Distribution `json:"cadence_ms,omitempty"`
	// Lag is receipt minus presentation.
	Lag *Distribution `json:"lag_ms,omitempty"`
	// TimeSource is presented, received or mixed.
	TimeSource string `json:"time_source"`
	// CaptureState is capturing, hidden, failed or ended, at the range's end.
	CaptureState string            `json:"capture_state"`
	Gaps         []record.Gap      `json:"gaps"`
	HiddenMS     float64           `json:"hidden_ms,omitempty"`
	Observers    []record.Observer `json:"observers"`
	Epochs       []Epoch           `json:"epochs"`
	// Warnings counts the warnings that frames of the range carry, by code.
	Warnings map[string]int `json:"frame_warnings,omitempty"`
	// CarryIn is the baseline frame from before the range, absent when there is none.
	CarryIn id.Frame `json:"carry_in,omitempty"`
}

// Distribution summarizes durations in milliseconds.
type Distribution struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// Epoch is a stretch of frames that share one geometry.
type Epoch struct {
	Index   int               `json:"index"`
	Width   int               `json:"width"`
	Height  int               `json:"height"`
	Frames  int               `json:"frames"`
	StartNS clock.SessionTime `json:"start_ns"`
	EndNS   clock.SessionTime `json:"end_ns"`
}

// RangeResult is the result of resolve_temporal_range.
type RangeResult struct {
	Quality Quality `json:"capture_quality"`
}

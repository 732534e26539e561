package record

import (
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
)

// Frame is one captured screencast frame without its pixels.
type Frame struct {
	ID        id.Frame   `json:"frame_id"`
	SessionID id.Session `json:"session_id"`
	TargetID  id.Target  `json:"target_id"`
	// Ordinal is non-zero and increases for every acknowledged frame event of the target in the session,
	// stored or not. It is the order of frames; holes in it prove nothing.
	Ordinal uint64 `json:"ordinal"`
	// ReceivedNS is when the frame's message had been read.
	ReceivedNS clock.SessionTime `json:"received_ns"`
	// PresentedNS is Chrome's monotonic swap time on the session clock; nil when Chrome gave none or when
	// it was later than receipt or more than 5 s before it.
	PresentedNS *clock.SessionTime `json:"presented_ns,omitempty"`
	// ChromeTimestamp is Chrome's own wall timestamp in seconds since 1970, as sent; 0 when absent.
	ChromeTimestamp float64 `json:"chrome_timestamp,omitempty"`
	// Format is what the bytes say: jpeg, png or unknown.
	Format string `json:"format"`
	// Width and Height are the encoded image's size in pixels.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Viewport is the page geometry that Chrome reported with the frame.
	Viewport Viewport `json:"viewport"`
	// SegmentID, Offset and Bytes locate the encoded image in storage.
	SegmentID id.Segment `json:"segment_id"`
	Offset    int64      `json:"offset"`
	Bytes     int64      `json:"bytes"`
	// Warnings are codes such as viewport_metadata_incomplete.
	Warnings []string `json:"warnings,omitempty"`
}

// Time is the frame's time for every question about ranges and order relative to anchors:
// presented time, else received time.
func (f Frame) Time() clock.SessionTime {
	if f.PresentedNS != nil {
		return *f.PresentedNS
	}
	return f.ReceivedNS
}

// Viewport is the page geometry of a frame in CSS pixels.
type Viewport struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	// DeviceScale is the device scale factor known for the page; 0 when unknown.
	DeviceScale float64 `json:"device_scale,omitempty"`
	PageScale   float64 `json:"page_scale,omitempty"`
	OffsetTop   float64 `json:"offset_top,omitempty"`
	ScrollX     float64 `json:"scroll_x,omitempty"`
	ScrollY     float64 `json:"scroll_y,omitempty"`
}

// Warnings a frame can carry.
const (
	// WarnViewportIncomplete: the metadata lacked geometry, the last known one was used.
	WarnViewportIncomplete = "viewport_metadata_incomplete"
	// WarnViewportPending: the geometry just changed and Chrome has not confirmed the new one yet.
	WarnViewportPending = "viewport_refresh_pending"
)

// GapReason says why evidence is missing.
type GapReason string

// The reasons of gaps.
const (
	GapQueueSaturated       GapReason = "queue_saturated"
	GapPersistenceRejected  GapReason = "persistence_rejected"
	GapHidden               GapReason = "page_hidden"
	GapAcknowledgement      GapReason = "acknowledgement_failed"
	GapDisconnected         GapReason = "disconnected"
	GapStopped              GapReason = "capture_stopped"
	GapFrameRejected        GapReason = "frame_rejected"
	GapSystemSuspended      GapReason = "system_suspended"
	GapLimit                GapReason = "limit"
	GapLedgerSaturated      GapReason = "ledger_saturated"
	GapEvicted              GapReason = "evicted"
	GapCrashed              GapReason = "page_crashed"
	GapCaptureNotStarted    GapReason = "capture_not_started"
	GapBrowserEventsDropped GapReason = "browser_events_dropped"
)

// Gap is a stretch in which evidence of a target is known to be missing.
type Gap struct {
	ID        id.Gap     `json:"gap_id"`
	SessionID id.Session `json:"session_id"`
	TargetID  id.Target  `json:"target_id"`
	Reason    GapReason  `json:"reason"`
	// StartNS and EndNS bound the missing stretch; EndNS is nil while it lasts.
	StartNS clock.SessionTime  `json:"start_ns"`
	EndNS   *clock.SessionTime `json:"end_ns,omitempty"`
	// FirstOrdinal and LastOrdinal bound the lost frames' ordinals, 0 when none is known.
	FirstOrdinal uint64 `json:"first_ordinal,omitempty"`
	LastOrdinal  uint64 `json:"last_ordinal,omitempty"`
	// Count is the number of lost frames known, 0 when unknown.
	Count uint64 `json:"count,omitempty"`
	// Stream is "frames" or "events".
	Stream string `json:"stream"`
}

// Streams a gap can belong to.
const (
	StreamFrames = "frames"
	StreamEvents = "events"
)

package evidence

import "github.com/krometrail/krometrail/core/record"

// EventsResult is one page of the browser events of a range.
type EventsResult struct {
	Events []EventRow `json:"events"`
	// Total counts what matches in the whole range, Counts the same by class.
	Total      int                       `json:"total"`
	Counts     map[record.EventClass]int `json:"counts"`
	NextCursor string                    `json:"next_cursor,omitempty"`
	// Gaps are stretches in which browser events were lost.
	Gaps []record.Gap `json:"collection_gaps"`
}

// EventRow is one event with its offset from the range's anchor, else from its start.
type EventRow struct {
	record.Event
	OffsetMS float64 `json:"offset_ms"`
	// Text says in one redacted line of at most 200 bytes what the payload says.
	Text string `json:"text"`
}

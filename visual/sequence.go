package visual

import (
	"fmt"
	"time"
)

// Sequence is what Analyze reads: frames and everything known about the time
// they cover.
type Sequence struct {
	// Source holds the frames in time order.
	Source FrameSource
	// CarryIn says that frame 0 of Source is from before Range: the newest
	// frame with no gap or geometry change between it and the range. It serves
	// as baseline and reference, is labelled as such, and is not counted among
	// the source frames.
	CarryIn bool
	// Range is the time the pictures speak about. The zero Range means from the
	// first frame (after the carry-in frame) to the last.
	Range Range
	// Anchor is the moment offsets are measured from and before/after is
	// decided at. Nil means the start of the range.
	Anchor *Anchor
	// Gaps are times without evidence. No comparison is made across one.
	Gaps []Gap
	// Markers are labels the caller wants on the time axis.
	Markers []Marker
	// Observers are intervals in which the observer itself ran something that
	// could disturb what it observed. They are drawn on the axis, nothing more.
	Observers []Observer
	// Region limits the analysis to a rectangle; nil means the whole frame.
	Region *Region
	// Mask limits the analysis to selected pixels, in addition to Region.
	Mask *Mask
}

// Range is a closed interval of sequence time.
type Range struct {
	Start time.Duration `json:"start_ns"`
	End   time.Duration `json:"end_ns"`
}

// Contains reports whether t lies in the range, ends included.
func (r Range) Contains(t time.Duration) bool { return t >= r.Start && t <= r.End }

// Length is the time between the ends.
func (r Range) Length() time.Duration { return r.End - r.Start }

// Anchor is a moment with an optional name, such as an interaction.
type Anchor struct {
	Time  time.Duration `json:"time_ns"`
	Label string        `json:"label,omitempty"`
}

// At returns an anchor at t, for use in a Sequence literal.
func At(t time.Duration, label string) *Anchor { return &Anchor{Time: t, Label: label} }

// Gap is an interval without evidence. Frames with Time <= Start come before
// it and frames with Time > Start after it.
type Gap struct {
	Start time.Duration `json:"start_ns"`
	End   time.Duration `json:"end_ns"`
	// Reason is shown as given, e.g. "hidden" or "queue full".
	Reason string `json:"reason,omitempty"`
}

// Marker is a labelled moment supplied by the caller.
type Marker struct {
	Time  time.Duration `json:"time_ns"`
	Kind  string        `json:"kind,omitempty"`
	Label string        `json:"label"`
	// Tile asks the storyboard for a tile of the first frame at or after Time.
	Tile bool `json:"tile,omitempty"`
}

// Observer is an interval in which the recording system itself was active.
type Observer struct {
	Start time.Duration `json:"start_ns"`
	End   time.Duration `json:"end_ns"`
	Label string        `json:"label,omitempty"`
}

func (s *Sequence) validate() error {
	if s.Source == nil || s.Source.Len() == 0 || s.CarryIn && s.Source.Len() == 1 {
		return ErrNoFrames
	}
	if err := s.validateFrames(); err != nil {
		return err
	}
	return s.validateTimes()
}

func (s *Sequence) validateFrames() error {
	seen := make(map[FrameID]struct{}, s.Source.Len())
	var last time.Duration
	for i := range s.Source.Len() {
		m := s.Source.Meta(i)
		if _, dup := seen[m.ID]; dup || m.ID == "" {
			return &FrameError{i, m.ID, ErrDuplicateID}
		}
		seen[m.ID] = struct{}{}
		if i > 0 && m.Time < last {
			return &FrameError{i, m.ID, ErrUnordered}
		}
		last = m.Time
	}
	return nil
}

func (s *Sequence) validateTimes() error {
	if s.Range.End < s.Range.Start {
		return fmt.Errorf("%w: range", ErrUnordered)
	}
	for i, g := range s.Gaps {
		if g.End < g.Start || i > 0 && g.Start < s.Gaps[i-1].Start {
			return fmt.Errorf("%w: gap %d", ErrUnordered, i)
		}
	}
	for i, o := range s.Observers {
		if o.End < o.Start {
			return fmt.Errorf("%w: observer interval %d", ErrUnordered, i)
		}
	}
	return nil
}

package retention

import (
	"github.com/krometrail/krometrail/core/id"
)

// Force says how hard the store needs room.
type Force int

// The degrees. Each includes the ones before it.
const (
	// Trim: usage is above the high-water mark. Only what nobody needs goes.
	Trim Force = iota
	// Press: the next write does not fit. The open segment may be sealed to become evictable.
	Press
	// OverrideGrace: everything left is protected by fresh artifacts; the protection is dropped.
	OverrideGrace
	// Supersede: only newest frames of live targets are left. The one of the stream that is about to get a newer
	// frame may go, and so may facts.
	Supersede
)

// Action is the kind of a step.
type Action int

// The actions.
const (
	// DropArtifact removes Step.Artifact.
	DropArtifact Action = iota + 1
	// DropEvents removes events that were accepted at or before Step.Wall.
	DropEvents
	// EvictSegments removes the sealed segments Step.Segments, and events up to Step.Wall with them.
	EvictSegments
	// SealSegment closes the open segment Step.Segments[0], which can then be evicted.
	SealSegment
	// DropFacts removes the oldest facts.
	DropFacts
)

// expireTogether bounds how many segments expire in one step.
const expireTogether = 256

// Step is one thing to do.
type Step struct {
	Action   Action
	Artifact id.Artifact
	Segments []int64
	Wall     int64
}

// Next returns what goes next under force, at wall time now in nanoseconds, to make room for a frame of stream
// (the zero stream when the room is for something else). ok is false when nothing may go.
//
// The order is artifacts, then browser events and segments, oldest first.
func (b *Book) Next(force Force, now int64, stream Stream) (Step, bool) {
	for _, a := range b.artifacts {
		if force >= OverrideGrace || !b.fresh(a, now) {
			return Step{Action: DropArtifact, Artifact: a.ID}, true
		}
	}
	graced := b.graced(force, now)
	kept := b.kept(force, stream)
	for _, s := range b.segments {
		if !s.Sealed || b.pinned[s.Key] > 0 || graced[s.Key] || kept[s.Key] {
			continue
		}
		if b.eventsFrom != 0 && b.eventsFrom < s.CreatedWall {
			return Step{Action: DropEvents, Wall: s.CreatedWall}, true
		}
		return Step{Action: EvictSegments, Segments: []int64{s.Key}, Wall: s.LastWall}, true
	}
	if force < Press {
		return Step{}, false
	}
	if b.eventsFrom != 0 {
		return Step{Action: DropEvents, Wall: now}, true
	}
	if step, ok := b.sealable(graced, kept); ok {
		return step, true
	}
	if force == Supersede {
		return Step{Action: DropFacts}, true
	}
	return Step{}, false
}

// sealable finds an open segment that would be evictable once it is sealed.
func (b *Book) sealable(graced, kept map[int64]bool) (Step, bool) {
	for _, s := range b.segments {
		if !s.Sealed && b.pinned[s.Key] == 0 && !graced[s.Key] && !kept[s.Key] {
			return Step{Action: SealSegment, Segments: []int64{s.Key}}, true
		}
	}
	return Step{}, false
}

// Expired returns the next thing that is older than the wall time cutoff and not protected. Grace does not
// protect against age.
func (b *Book) Expired(cutoff int64) (Step, bool) {
	if len(b.artifacts) > 0 && b.artifacts[0].CreatedWall < cutoff {
		return Step{Action: DropArtifact, Artifact: b.artifacts[0].ID}, true
	}
	if b.eventsFrom != 0 && b.eventsFrom < cutoff {
		return Step{Action: DropEvents, Wall: cutoff - 1}, true
	}
	return b.expiredSegments(cutoff)
}

// expiredSegments collects sealed segments that are due; an open one is sealed before anything behind it.
func (b *Book) expiredSegments(cutoff int64) (Step, bool) {
	step := Step{Action: EvictSegments}
	var kept map[int64]bool
	for _, s := range b.segments {
		if s.CreatedWall >= cutoff || len(step.Segments) == expireTogether { // segments are in order of creation
			break
		}
		if s.LastWall >= cutoff || b.pinned[s.Key] > 0 {
			continue
		}
		if kept == nil {
			kept = b.kept(Trim, Stream{})
		}
		switch {
		case kept[s.Key]:
		case s.Sealed:
			step.Segments, step.Wall = append(step.Segments, s.Key), max(step.Wall, s.LastWall)
		case len(step.Segments) == 0:
			return Step{Action: SealSegment, Segments: []int64{s.Key}}, true
		}
	}
	return step, len(step.Segments) > 0
}

func (b *Book) fresh(a Artifact, now int64) bool { return now-a.CreatedWall < int64(b.grace) }

// graced is the set of segments that fresh artifacts were made from.
func (b *Book) graced(force Force, now int64) map[int64]bool {
	out := map[int64]bool{}
	if force >= OverrideGrace {
		return out
	}
	for _, a := range b.artifacts {
		if b.fresh(a, now) {
			for _, key := range a.Segments {
				out[key] = true
			}
		}
	}
	return out
}

// kept is the set of segments that hold a live target's newest frame.
func (b *Book) kept(force Force, stream Stream) map[int64]bool {
	out := make(map[int64]bool, len(b.newest))
	for s, key := range b.newest {
		if force == Supersede && s == stream {
			continue
		}
		out[key] = true
	}
	return out
}

// HasGraced reports whether dropping the grace could free anything at wall time now.
func (b *Book) HasGraced(now int64) bool {
	for _, a := range b.artifacts {
		if b.fresh(a, now) {
			return true
		}
	}
	return false
}

// Package retention decides what has to go and in which order. It knows sizes, times and protections, and
// touches no file: the store asks for the next step, carries it out and reports what changed.
package retention

import (
	"slices"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Stream is one target in one session.
type Stream struct {
	Session id.Session
	Target  id.Target
}

// Segment is one segment file.
type Segment struct {
	Key     int64
	ID      id.Segment
	Session id.Session
	// Bytes is the file's length.
	Bytes int64
	// CreatedWall and LastWall are wall times in nanoseconds since 1970.
	CreatedWall, LastWall int64
	// NewestNS is the newest frame time in the segment, in its session's time.
	NewestNS clock.SessionTime
	// Sealed segments are complete; only they can be evicted.
	Sealed bool
}

// Artifact is one published artifact.
type Artifact struct {
	ID          id.Artifact
	Session     id.Session
	Bytes       int64
	CreatedWall int64
	Segments    []int64
}

// Pin is one pinned window and the segments it protects.
type Pin struct {
	Key       int64
	Window    record.Window
	ThroughNS clock.SessionTime
	Segments  []int64
}

// Book is the state of retention. It is not safe for concurrent use.
type Book struct {
	grace     time.Duration
	segments  []*Segment // in order of key, which is the order of creation
	byKey     map[int64]*Segment
	artifacts []Artifact // oldest first
	pins      []Pin
	pinned    map[int64]int // segment key -> number of pins
	newest    map[Stream]int64
	// eventsFrom is the wall time of the oldest event that can be dropped; 0 when there is none.
	eventsFrom int64
}

// NewBook returns an empty book whose artifacts are protected for grace after their publication.
func NewBook(grace time.Duration) *Book {
	return &Book{grace: grace, byKey: map[int64]*Segment{}, pinned: map[int64]int{}, newest: map[Stream]int64{}}
}

// AddSegment adds a segment whose key is larger than all others.
func (b *Book) AddSegment(s Segment) {
	b.segments = append(b.segments, &s)
	b.byKey[s.Key] = &s
}

// Segment returns the segment with this key to read or update it; nil when it is not in the book.
func (b *Book) Segment(key int64) *Segment { return b.byKey[key] }

// Segments calls visit for each segment in order of creation until it returns false.
func (b *Book) Segments(visit func(*Segment) bool) {
	for _, s := range b.segments {
		if !visit(s) {
			return
		}
	}
}

// NextKey is a key larger than every key in the book.
func (b *Book) NextKey() int64 {
	if len(b.segments) == 0 {
		return 1
	}
	return b.segments[len(b.segments)-1].Key + 1
}

// RemoveSegments takes segments out.
func (b *Book) RemoveSegments(keys ...int64) {
	for _, key := range keys {
		delete(b.byKey, key)
		delete(b.pinned, key)
	}
	b.segments = slices.DeleteFunc(b.segments, func(s *Segment) bool { return b.byKey[s.Key] == nil })
}

// AddArtifact adds an artifact that is newer than all others.
func (b *Book) AddArtifact(a Artifact) { b.artifacts = append(b.artifacts, a) }

// RemoveArtifact takes an artifact out and returns it.
func (b *Book) RemoveArtifact(which id.Artifact) (Artifact, bool) {
	i := slices.IndexFunc(b.artifacts, func(a Artifact) bool { return a.ID == which })
	if i < 0 {
		return Artifact{}, false
	}
	a := b.artifacts[i]
	b.artifacts = slices.Delete(b.artifacts, i, i+1)
	return a, true
}

// ArtifactsOf returns the artifacts of a session.
func (b *Book) ArtifactsOf(s id.Session) []Artifact {
	var out []Artifact
	for _, a := range b.artifacts {
		if a.Session == s {
			out = append(out, a)
		}
	}
	return out
}

// Newest notes that the newest frame of a live target lies in this segment.
func (b *Book) Newest(s Stream, key int64) { b.newest[s] = key }

// Closed notes that a target lives no more, so that its newest frame needs no protection.
func (b *Book) Closed(s Stream) { delete(b.newest, s) }

// SessionEnded notes that no target of the session lives any more.
func (b *Book) SessionEnded(s id.Session) {
	for stream := range b.newest {
		if stream.Session == s {
			delete(b.newest, stream)
		}
	}
}

// AddPin adds a pin.
func (b *Book) AddPin(p Pin) {
	b.pins = append(b.pins, p)
	for _, key := range p.Segments {
		b.pinned[key]++
	}
}

// ExtendPins protects a segment by every pin whose protected part holds a frame of the stream at this time, and
// returns the keys of the pins that this changed.
func (b *Book) ExtendPins(s Stream, at clock.SessionTime, key int64) []int64 {
	var changed []int64
	for i := range b.pins {
		p := &b.pins[i]
		same := p.Window.SessionID == s.Session && p.Window.TargetID == s.Target
		if !same || at < p.Window.StartNS || at > p.ThroughNS || slices.Contains(p.Segments, key) {
			continue
		}
		p.Segments = append(p.Segments, key)
		b.pinned[key]++
		changed = append(changed, p.Key)
	}
	return changed
}

// RemovePin takes a pin out.
func (b *Book) RemovePin(key int64) {
	i := slices.IndexFunc(b.pins, func(p Pin) bool { return p.Key == key })
	if i < 0 {
		return
	}
	for _, segment := range b.pins[i].Segments {
		if b.pinned[segment]--; b.pinned[segment] <= 0 {
			delete(b.pinned, segment)
		}
	}
	b.pins = slices.Delete(b.pins, i, i+1)
}

// RemovePinsOf takes all pins of a session out.
func (b *Book) RemovePinsOf(s id.Session) {
	for _, p := range slices.Clone(b.pins) {
		if p.Window.SessionID == s {
			b.RemovePin(p.Key)
		}
	}
}

// Pins returns the pins in order of creation. The caller must not change their segments.
func (b *Book) Pins() []Pin { return b.pins }

// Bytes sums the files of the given segments.
func (b *Book) Bytes(keys []int64) int64 {
	var sum int64
	for _, key := range keys {
		if s := b.byKey[key]; s != nil {
			sum += s.Bytes
		}
	}
	return sum
}

// SessionBytes sums the segment and artifact files of a session.
func (b *Book) SessionBytes(session id.Session) int64 {
	var sum int64
	for _, s := range b.segments {
		if s.Session == session {
			sum += s.Bytes
		}
	}
	for _, a := range b.artifacts {
		if a.Session == session {
			sum += a.Bytes
		}
	}
	return sum
}

// PinnedBytes sums the files of all pinned segments.
func (b *Book) PinnedBytes() int64 {
	var sum int64
	for key := range b.pinned {
		if s := b.byKey[key]; s != nil {
			sum += s.Bytes
		}
	}
	return sum
}

// Edges returns the wall times of the oldest and newest segment content; ok is false when there is none.
func (b *Book) Edges() (oldest, newest int64, ok bool) {
	for _, s := range b.segments {
		if !ok || s.CreatedWall < oldest {
			oldest = s.CreatedWall
		}
		newest, ok = max(newest, s.LastWall), true
	}
	return oldest, newest, ok
}

// NewestPoint is the newest frame time of the most recently written segment.
func (b *Book) NewestPoint() (clock.SessionTime, bool) {
	var best *Segment
	for _, s := range b.segments {
		if best == nil || s.LastWall >= best.LastWall {
			best = s
		}
	}
	if best == nil {
		return 0, false
	}
	return best.NewestNS, true
}

// EventsFrom notes the wall time of the oldest event that can be dropped; 0 when there is none.
func (b *Book) EventsFrom(wall int64) { b.eventsFrom = wall }

// EventAccepted notes a new event.
func (b *Book) EventAccepted(wall int64) {
	if b.eventsFrom == 0 || wall < b.eventsFrom {
		b.eventsFrom = wall
	}
}

package coretest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Sessions implements record.SessionReader.
func (s *Store) Sessions(context.Context) ([]record.Session, error) {
	leave, err := s.enter("Sessions")
	if err != nil {
		return nil, err
	}
	defer leave()
	all := slices.Clone(s.sessions)
	slices.Reverse(all)
	return all, nil
}

// Session implements record.SessionReader.
func (s *Store) Session(_ context.Context, session id.Session) (record.Session, error) {
	return find(s, "Session", func() []record.Session { return s.sessions }, func(x record.Session) bool { return x.ID == session })
}

// Targets implements record.SessionReader.
func (s *Store) Targets(_ context.Context, session id.Session) ([]record.Target, error) {
	return filter(s, "Targets", func() []record.Target { return s.targets }, func(x record.Target) bool { return x.SessionID == session })
}

// ClockSamples implements record.SessionReader.
func (s *Store) ClockSamples(_ context.Context, session id.Session) ([]record.ClockSample, error) {
	return filter(s, "ClockSamples", func() []record.ClockSample { return s.samples }, func(x record.ClockSample) bool { return x.SessionID == session })
}

// Interactions implements record.TimelineReader.
func (s *Store) Interactions(_ context.Context, session id.Session, target id.Target, n int) ([]record.Interaction, error) {
	list, err := filter(s, "Interactions", func() []record.Interaction { return s.facts.Interactions }, func(x record.Interaction) bool {
		return x.SessionID == session && (target == "" || x.TargetID == target)
	})
	slices.SortStableFunc(list, func(a, b record.Interaction) int { return cmp.Compare(b.DispatchedNS, a.DispatchedNS) })
	return list[:min(n, len(list))], err
}

// Interaction implements record.TimelineReader.
func (s *Store) Interaction(_ context.Context, i id.Interaction) (record.Interaction, error) {
	return find(s, "Interaction", func() []record.Interaction { return s.facts.Interactions }, func(x record.Interaction) bool { return x.ID == i })
}

// Navigation implements record.TimelineReader.
func (s *Store) Navigation(_ context.Context, n id.Navigation) (record.Navigation, error) {
	return find(s, "Navigation", func() []record.Navigation { return s.facts.Navigations }, func(x record.Navigation) bool { return x.ID == n })
}

// Marker implements record.TimelineReader.
func (s *Store) Marker(_ context.Context, m id.Marker) (record.Marker, error) {
	return find(s, "Marker", func() []record.Marker { return s.facts.Markers }, func(x record.Marker) bool { return x.ID == m })
}

// Within implements record.TimelineReader.
func (s *Store) Within(_ context.Context, w record.Window) (record.Facts, error) {
	leave, err := s.enter("Within")
	if err != nil {
		return record.Facts{}, err
	}
	defer leave()
	touches := func(session id.Session, target id.Target, start clock.SessionTime, end *clock.SessionTime) bool {
		return session == w.SessionID && target == w.TargetID && start <= w.EndNS && (end == nil || *end >= w.StartNS)
	}
	var f record.Facts
	for _, g := range s.facts.Gaps {
		if touches(g.SessionID, g.TargetID, g.StartNS, g.EndNS) {
			f.Gaps = append(f.Gaps, g)
		}
	}
	for _, i := range s.facts.Interactions {
		if end := i.End(); touches(i.SessionID, i.TargetID, i.DispatchedNS, &end) {
			f.Interactions = append(f.Interactions, i)
		}
	}
	for _, n := range s.facts.Navigations {
		end := n.StartNS
		if n.CommitNS != nil {
			end = *n.CommitNS
		}
		if touches(n.SessionID, n.TargetID, n.StartNS, &end) {
			f.Navigations = append(f.Navigations, n)
		}
	}
	for _, m := range s.facts.Markers {
		if touches(m.SessionID, m.TargetID, m.AtNS, &m.AtNS) {
			f.Markers = append(f.Markers, m)
		}
	}
	for _, o := range s.facts.Observers {
		if touches(o.SessionID, o.TargetID, o.StartNS, &o.EndNS) {
			f.Observers = append(f.Observers, o)
		}
	}
	return f, nil
}

// Frames implements record.FrameReader.
func (s *Store) Frames(_ context.Context, w record.Window, offset, limit int) ([]record.Frame, int, error) {
	list, err := filter(s, "Frames", func() []record.Frame { return s.frames }, func(f record.Frame) bool {
		return f.SessionID == w.SessionID && f.TargetID == w.TargetID && f.Time() >= w.StartNS && f.Time() <= w.EndNS
	})
	total := len(list)
	list = list[min(offset, total):]
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list, total, err
}

// Frame implements record.FrameReader.
func (s *Store) Frame(_ context.Context, f id.Frame) (record.Frame, error) {
	return find(s, "Frame", func() []record.Frame { return s.frames }, func(x record.Frame) bool { return x.ID == f })
}

// CarryIn implements record.FrameReader.
func (s *Store) CarryIn(_ context.Context, session id.Session, target id.Target, t clock.SessionTime) (record.Frame, bool, error) {
	list, err := filter(s, "CarryIn", func() []record.Frame { return s.frames }, func(f record.Frame) bool {
		return f.SessionID == session && f.TargetID == target && f.Time() < t
	})
	if err != nil || len(list) == 0 {
		return record.Frame{}, false, err
	}
	newest := list[0]
	for _, f := range list {
		if f.Time() >= newest.Time() {
			newest = f
		}
	}
	return newest, true, nil
}

// Pixels implements record.FrameReader.
func (s *Store) Pixels(_ context.Context, f record.Frame) ([]byte, error) {
	leave, err := s.enter("Pixels")
	if err != nil {
		return nil, err
	}
	defer leave()
	if !slices.ContainsFunc(s.frames, func(x record.Frame) bool { return x.ID == f.ID }) {
		return nil, fault.New(fault.EvidenceInvalidated, "the frame was evicted")
	}
	return bytes.Clone(s.pixels[f.ID]), nil
}

// Retained implements record.FrameReader.
func (s *Store) Retained(_ context.Context, session id.Session, target id.Target) (record.Retained, error) {
	list, err := filter(s, "Retained", func() []record.Frame { return s.frames }, func(f record.Frame) bool {
		return f.SessionID == session && f.TargetID == target
	})
	kept := record.Retained{Frames: len(list)}
	for i, f := range list {
		if i == 0 || f.Time() < kept.OldestNS {
			kept.OldestNS = f.Time()
		}
		kept.NewestNS = max(kept.NewestNS, f.Time())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.evicted[target]; ok {
		kept.EvictedThroughNS = &t
	}
	return kept, err
}

// Events implements record.EventReader.
func (s *Store) Events(_ context.Context, q record.EventQuery) ([]record.Event, int, error) {
	list, err := filter(s, "Events", func() []record.Event { return s.events }, func(e record.Event) bool { return matches(q, e) })
	slices.SortStableFunc(list, func(a, b record.Event) int {
		return cmp.Or(cmp.Compare(a.AtNS, b.AtNS), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Sequence, b.Sequence))
	})
	total := len(list)
	if q.Limit > 0 {
		list = list[:min(q.Limit, total)]
	}
	return list, total, err
}

// CountEvents implements record.EventReader.
func (s *Store) CountEvents(ctx context.Context, q record.EventQuery) (map[record.EventClass]int, error) {
	q.Limit = 0
	list, _, err := s.Events(ctx, q)
	counts := map[record.EventClass]int{}
	for _, e := range list {
		counts[e.Class]++
	}
	return counts, err
}

func matches(q record.EventQuery, e record.Event) bool {
	return e.SessionID == q.SessionID && (q.TargetID == "" || e.TargetID == q.TargetID) && e.AtNS >= q.StartNS && e.AtNS <= q.EndNS &&
		(len(q.Classes) == 0 || slices.Contains(q.Classes, e.Class)) && (q.MinSeverity == "" || e.Severity.Rank() >= q.MinSeverity.Rank()) &&
		(q.After == nil || later(e, *q.After))
}

func later(e record.Event, k record.EventKey) bool {
	return cmp.Or(cmp.Compare(e.AtNS, k.AtNS), cmp.Compare(e.Source, k.Source), cmp.Compare(e.Sequence, k.Sequence)) > 0
}

type stored struct {
	artifact       record.Artifact
	file, manifest []byte
}

// FindArtifact implements record.ArtifactStore.
func (s *Store) FindArtifact(_ context.Context, key string) (record.Artifact, bool, error) {
	leave, err := s.enter("FindArtifact")
	if err != nil {
		return record.Artifact{}, false, err
	}
	defer leave()
	for _, a := range s.artifacts {
		if a.artifact.CacheKey == key {
			return a.artifact, true, nil
		}
	}
	return record.Artifact{}, false, nil
}

// PublishArtifact implements record.ArtifactStore.
func (s *Store) PublishArtifact(_ context.Context, a record.Artifact, file io.Reader, manifest []byte) (record.Artifact, []*fault.Error, error) {
	leave, err := s.enter("PublishArtifact")
	if err != nil {
		return a, nil, err
	}
	defer leave()
	raw, err := io.ReadAll(file)
	if err != nil {
		return a, nil, err
	}
	a.Bytes = int64(len(raw))
	s.artifacts[a.ID] = stored{a, raw, bytes.Clone(manifest)}
	return a, nil, nil
}

// Artifact implements record.ArtifactStore.
func (s *Store) Artifact(_ context.Context, a id.Artifact) (record.Artifact, error) {
	have, err := s.artifact("Artifact", a)
	return have.artifact, err
}

// ReadArtifact implements record.ArtifactStore.
func (s *Store) ReadArtifact(_ context.Context, a id.Artifact) ([]byte, error) {
	have, err := s.artifact("ReadArtifact", a)
	return have.file, err
}

// ReadManifest implements record.ArtifactStore.
func (s *Store) ReadManifest(_ context.Context, a id.Artifact) ([]byte, error) {
	have, err := s.artifact("ReadManifest", a)
	return have.manifest, err
}

func (s *Store) artifact(method string, a id.Artifact) (stored, error) {
	leave, err := s.enter(method)
	if err != nil {
		return stored{}, err
	}
	defer leave()
	have, ok := s.artifacts[a]
	if !ok {
		return stored{}, fault.New(fault.NotFound, "no such artifact")
	}
	return have, nil
}

func filter[T any](s *Store, method string, list func() []T, keep func(T) bool) ([]T, error) {
	leave, err := s.enter(method)
	if err != nil {
		return nil, err
	}
	defer leave()
	var kept []T
	for _, v := range list() {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

func find[T any](s *Store, method string, list func() []T, is func(T) bool) (T, error) {
	kept, err := filter(s, method, list, is)
	var zero T
	switch {
	case err != nil:
		return zero, err
	case len(kept) == 0:
		return zero, fault.New(fault.NotFound, "not recorded")
	}
	return kept[len(kept)-1], nil
}

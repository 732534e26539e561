package coretest

import (
	"bytes"
	"context"
	"encoding/base64"
	"slices"
	"sync"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Store is an evidence store in memory that implements the ports of package record for tests. Fail, when
// set, is asked before every call with the port method's name and may return the error to fail with.
type Store struct {
	mu        sync.Mutex
	sessions  []record.Session
	targets   []record.Target
	samples   []record.ClockSample
	frames    []record.Frame
	pixels    map[id.Frame][]byte
	evicted   map[id.Target]clock.SessionTime
	facts     record.Facts
	events    []record.Event
	artifacts map[id.Artifact]stored
	Fail      func(method string) error
}

var (
	_ record.FrameSink      = (*Store)(nil)
	_ record.FactSink       = (*Store)(nil)
	_ record.EventSink      = (*Store)(nil)
	_ record.Barrier        = (*Store)(nil)
	_ record.SessionReader  = (*Store)(nil)
	_ record.TimelineReader = (*Store)(nil)
	_ record.FrameReader    = (*Store)(nil)
	_ record.EventReader    = (*Store)(nil)
	_ record.ArtifactStore  = (*Store)(nil)
)

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{pixels: map[id.Frame][]byte{}, evicted: map[id.Target]clock.SessionTime{}, artifacts: map[id.Artifact]stored{}}
}

func (s *Store) enter(method string) (func(), error) {
	s.mu.Lock()
	if s.Fail != nil {
		if err := s.Fail(method); err != nil {
			s.mu.Unlock()
			return nil, err
		}
	}
	return s.mu.Unlock, nil
}

// AppendFrame implements record.FrameSink. It decodes the payload but does not look into it.
func (s *Store) AppendFrame(_ context.Context, f record.Frame, payload []byte) (record.Frame, error) {
	leave, err := s.enter("AppendFrame")
	if err != nil {
		return f, err
	}
	defer leave()
	raw, err := base64.StdEncoding.DecodeString(string(payload))
	if err != nil {
		return f, fault.New(fault.InvalidInput, "the frame is not base64")
	}
	f.Bytes = int64(len(raw))
	s.addFrame(f, raw)
	return f, nil
}

// AddFrame stores a frame with decoded pixels.
func (s *Store) AddFrame(f record.Frame, pixels []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addFrame(f, pixels)
}

func (s *Store) addFrame(f record.Frame, pixels []byte) {
	s.frames = append(s.frames, f)
	slices.SortStableFunc(s.frames, func(a, b record.Frame) int { return int(a.Ordinal) - int(b.Ordinal) })
	s.pixels[f.ID] = bytes.Clone(pixels)
}

// Evict removes the target's frames up to and including t.
func (s *Store) Evict(target id.Target, t clock.SessionTime) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = slices.DeleteFunc(s.frames, func(f record.Frame) bool { return f.TargetID == target && f.Time() <= t })
	s.evicted[target] = t
}

// DeleteSession removes a session.
func (s *Store) DeleteSession(session id.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = slices.DeleteFunc(s.sessions, func(x record.Session) bool { return x.ID == session })
}

// Put implements record.FactSink.
func (s *Store) Put(_ context.Context, facts ...record.Fact) error {
	leave, err := s.enter("Put")
	if err != nil {
		return err
	}
	defer leave()
	for _, f := range facts {
		s.put(f)
	}
	return nil
}

func (s *Store) put(f record.Fact) {
	switch f := f.(type) {
	case record.Session:
		s.sessions = replace(s.sessions, f, func(x record.Session) bool { return x.ID == f.ID })
	case record.Target:
		s.targets = replace(s.targets, f, func(x record.Target) bool { return x.ID == f.ID })
	case record.Gap:
		s.facts.Gaps = replace(s.facts.Gaps, f, func(x record.Gap) bool { return x.ID == f.ID })
	case record.Interaction:
		s.facts.Interactions = replace(s.facts.Interactions, f, func(x record.Interaction) bool { return x.ID == f.ID })
	case record.Navigation:
		s.facts.Navigations = replace(s.facts.Navigations, f, func(x record.Navigation) bool { return x.ID == f.ID })
	case record.Marker:
		s.facts.Markers = replace(s.facts.Markers, f, func(x record.Marker) bool { return x.ID == f.ID })
	case record.Observer:
		s.facts.Observers = append(s.facts.Observers, f)
	case record.ClockSample:
		s.samples = append(s.samples, f)
	}
}

func replace[T any](list []T, v T, same func(T) bool) []T {
	if i := slices.IndexFunc(list, same); i >= 0 {
		list[i] = v
		return list
	}
	return append(list, v)
}

// AppendEvents implements record.EventSink.
func (s *Store) AppendEvents(_ context.Context, events []record.Event) error {
	leave, err := s.enter("AppendEvents")
	if err != nil {
		return err
	}
	defer leave()
	s.events = append(s.events, events...)
	return nil
}

// Barrier implements record.Barrier.
func (s *Store) Barrier(context.Context) error {
	leave, err := s.enter("Barrier")
	if err == nil {
		leave()
	}
	return err
}

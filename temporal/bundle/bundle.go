// Package bundle answers "what did the page do around this moment" in one piece: a header, the primary
// picture, measures, capture quality and the nearest browser events. Components fail alone.
package bundle

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/resolve"
	"github.com/krometrail/krometrail/temporal/sequence"
)

const (
	activeBundles = 2
	deadline      = 20 * time.Second
	// before is how many interactions before the anchor the header names.
	before = 2
)

// Events selects the compact events of a bundle, nearest to the given moments first.
type Events interface {
	Nearest(ctx context.Context, rng evidence.ResolvedRange, moments []clock.SessionTime) (events []evidence.CompactEvent, omitted int, err error)
}

// Service makes bundles. Safe for concurrent use.
type Service struct {
	resolver  *resolve.Resolver
	reader    *sequence.Reader
	timeline  record.TimelineReader
	artifacts *artifact.Service
	events    Events
	clock     clock.Clock
	active    *semaphore.Weighted
}

// New returns a service. events may be nil when no events are recorded.
func New(r *resolve.Resolver, reader *sequence.Reader, timeline record.TimelineReader, artifacts *artifact.Service, events Events, c clock.Clock) *Service {
	return &Service{
		resolver: r, reader: reader, timeline: timeline, artifacts: artifacts, events: events, clock: c,
		active: semaphore.NewWeighted(activeBundles),
	}
}

// making is one bundle under way.
type making struct {
	*Service
	req        *evidence.BundleRequest
	resolution resolve.Resolution
	sequence   sequence.Sequence
	request    artifact.Request
	out        capability.Outcome
	bundle     evidence.Bundle
}

// Bundle makes a bundle.
func (s *Service) Bundle(ctx context.Context, req *evidence.BundleRequest) (capability.Outcome, error) {
	ctx, cancel := clock.WithTimeout(ctx, s.clock, deadline)
	defer cancel()
	if err := s.active.Acquire(ctx, 1); err != nil {
		return capability.Outcome{Stage: "queue"}, context.Cause(ctx)
	}
	defer s.active.Release(1)
	resolution, err := s.resolver.Resolve(ctx, req.Anchor)
	if err != nil {
		return capability.Outcome{Stage: "resolve"}, err
	}
	m := &making{Service: s, req: req, resolution: resolution}
	m.out.Range, m.out.RangeHandle, m.out.Warnings = &resolution.Range, resolution.Handle, resolution.Warnings
	if m.sequence, err = s.reader.Read(ctx, resolution.Range); err != nil {
		m.out.Stage = "read"
		return m.out, err
	}
	m.compose(ctx)
	return m.out, nil
}

func (m *making) compose(ctx context.Context) {
	m.bundle.Quality = m.sequence.Quality()
	m.bundle.Artifacts, m.bundle.Events = []evidence.ArtifactOutcome{}, []evidence.CompactEvent{}
	for _, f := range m.sequence.Frames {
		m.bundle.SourceFrames = append(m.bundle.SourceFrames, f.ID)
	}
	if m.sequence.CarryIn == nil {
		m.out.Warnings = append(m.out.Warnings, fault.New(fault.BaselineUnavailable,
			"no frame from before the range can serve as its baseline; changes are measured from the first frame"))
	}
	m.interactions(ctx)
	m.pictures(ctx)
	m.measure(ctx)
	m.nearest(ctx)
	m.bundle.Header = header(m)
	m.hints()
	m.out.Result = m.bundle
	if len(m.bundle.Failed) > 0 {
		m.out.Status, m.out.Err, m.out.Stage = capability.Degraded, m.bundle.Failed[0].Error, m.bundle.Failed[0].Component
	}
}

func (m *making) failed(component string, err error) {
	if err != nil {
		m.bundle.Failed = append(m.bundle.Failed, evidence.ComponentFailure{Component: component, Error: fault.From(err)})
	}
}

// interactions finds the anchor's interaction and the two before it.
func (m *making) interactions(ctx context.Context) {
	rng := m.sequence.Range
	recent, err := m.timeline.Interactions(ctx, rng.SessionID, rng.TargetID, 256)
	m.failed("interactions", err)
	moment := rng.EndNS
	if rng.AnchorNS != nil {
		moment = *rng.AnchorNS
	}
	m.bundle.Nearest = []record.Interaction{}
	for _, i := range recent {
		if i.DispatchedNS <= moment && len(m.bundle.Nearest) <= before {
			m.bundle.Nearest = append(m.bundle.Nearest, i)
		}
	}
}

// still shows a range in which the page sent no frame by the frame that was on screen all the time.
func (m *making) still() {
	f := *m.sequence.CarryIn
	m.out.Pictures = append(m.out.Pictures, m.artifacts.Frame(f))
	m.out.Resources = append(m.out.Resources, evidence.Resource{
		Role: "source_frame", URI: evidence.FrameURI(f), Name: "frame " + string(f.ID), MediaType: "image/" + f.Format, Bytes: f.Bytes,
	})
	m.out.Notes = append(m.out.Notes, "the page sent no frame in the range, so there is nothing to compare; Chrome sends one whenever the page draws")
}

func (m *making) pictures(ctx context.Context) {
	if len(m.sequence.Frames) == 0 && m.sequence.CarryIn != nil {
		m.still()
		return
	}
	m.request = artifact.Request{
		Sequence: m.sequence, Kinds: []string{evidence.Storyboard, evidence.DifferenceMap},
		Exhaustive: m.req.Sampling == "exhaustive", Markers: m.req.Markers,
	}
	if m.req.Orientation == nil || *m.req.Orientation {
		m.request.Kinds = append(m.request.Kinds, evidence.Orientation)
	}
	m.chooseEpochs()
	outcomes, warnings, err := m.artifacts.Generate(ctx, m.request)
	m.failed("artifacts", err)
	m.out.Warnings = append(m.out.Warnings, warnings...)
	for _, o := range outcomes {
		m.bundle.Artifacts = append(m.bundle.Artifacts, o)
		if o.Error != nil {
			m.failed(o.Kind, o.Error)
		}
	}
	m.show()
}

func (m *making) chooseEpochs() {
	at := m.sequence.Range.StartNS
	if moment := m.sequence.Range.AnchorNS; moment != nil {
		at = *moment
	}
	m.bundle.Epoch = m.sequence.EpochAt(at)
	m.request.Epochs = []int{m.bundle.Epoch}
	if m.req.Epochs == "all" {
		m.request.Epochs = nil
		for _, e := range m.sequence.Epochs {
			m.request.Epochs = append(m.request.Epochs, e.Index)
		}
		if len(m.request.Epochs) == 0 {
			m.request.Epochs = []int{0}
		}
	}
}

// show offers every artifact as a resource and the first one as the primary picture.
func (m *making) show() {
	primary := true
	for _, o := range m.bundle.Artifacts {
		if o.Artifact == nil {
			continue
		}
		m.out.Resources = append(m.out.Resources, artifact.Resources(o)...)
		if primary {
			m.out.Pictures = append(m.out.Pictures, m.artifacts.Picture(*o.Artifact))
			primary = false
		}
	}
}

func (m *making) measure(ctx context.Context) {
	if len(m.sequence.Frames) == 0 {
		return
	}
	measured, err := m.artifacts.Measure(ctx, m.request, m.bundle.Epoch)
	m.failed("measure", err)
	m.bundle.Measure = measured
}

// nearest selects browser events near the visual changes.
func (m *making) nearest(ctx context.Context) {
	if m.events == nil {
		return
	}
	events, omitted, err := m.events.Nearest(ctx, m.sequence.Range, m.moments())
	m.failed("events", err)
	if events != nil {
		m.bundle.Events, m.bundle.EventsOmitted = events, omitted
	}
}

// moments are the times of the largest changes and the anchor.
func (m *making) moments() []clock.SessionTime {
	zero := m.sequence.Range.StartNS
	if at := m.sequence.Range.AnchorNS; at != nil {
		zero = *at
	}
	moments := []clock.SessionTime{zero}
	if m.bundle.Measure == nil {
		return moments
	}
	for _, ms := range []*float64{m.bundle.Measure.FirstChangeMS, m.bundle.Measure.PeakMS, m.bundle.Measure.SettledMS} {
		if ms != nil {
			moments = append(moments, zero+clock.SessionTime(*ms*float64(time.Millisecond)))
		}
	}
	return moments
}

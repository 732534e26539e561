package artifact

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/visual"
)

const (
	// maxSeries bounds the points of a measure's series.
	maxSeries = 120
	// maxQuiet bounds the listed stretches.
	maxQuiet = 16
)

// Measure measures one epoch of the request's sequence. What a storyboard of equal evidence carries is not measured
// again.
func (s *Service) Measure(ctx context.Context, r Request, epoch int) (*evidence.Measure, error) {
	e := r.epoch(epoch)
	key := r.analysisKey(e)
	if kept := s.recent.get(key); kept != nil {
		return measure(kept, zero(r)), nil
	}
	if _, raw, ok := s.find(ctx, r.pictureKey(key, evidence.Storyboard)); ok {
		var m Manifest
		if json.Unmarshal(raw, &m) == nil && m.Measure != nil {
			return m.Measure, nil
		}
	}
	analysis, err := s.Analyze(ctx, r, epoch)
	if err != nil {
		return nil, err
	}
	return measure(analysis, zero(r)), nil
}

// zero is what offsets are measured from.
func zero(r Request) time.Duration {
	if at := r.Sequence.Range.AnchorNS; at != nil {
		return at.Duration()
	}
	return r.Sequence.Range.StartNS.Duration()
}

func measure(a *visual.Analysis, zero time.Duration) *evidence.Measure {
	seen := a.Measures(maxSeries)
	offset := func(t time.Duration) float64 { return millis(t - zero) }
	m := &evidence.Measure{
		Regions: []evidence.MeasureRegion{}, Quiet: []evidence.QuietPeriod{},
		Sampling:      evidence.Sampling{Mode: string(seen.Sampling.Mode), Analyzed: seen.Sampling.Analyzed, Source: seen.Sampling.Source},
		SeriesOmitted: seen.SeriesOmitted, QuietAtEndMS: millis(seen.QuietAtEnd),
	}
	m.FirstChangeMS, m.SettledMS = at(seen.FirstChange, zero), at(seen.LastChange, zero)
	if peak := seen.Peak; peak != nil {
		m.PeakMS, m.PeakArea = at(peak, zero), share(peak.Cells, peak.Compared)
	}
	for i := range seen.Series {
		c := &seen.Series[i]
		m.Series = append(m.Series, evidence.MeasurePoint{
			AtMS: offset(c.End), FrameID: id.Frame(c.To), Area: share(c.Cells, c.Compared), Baseline: share(c.BaselineCells, c.Compared),
		})
	}
	for _, q := range seen.Quiet[:min(maxQuiet, len(seen.Quiet))] {
		m.Quiet = append(m.Quiet, evidence.QuietPeriod{StartMS: offset(q.Start), EndMS: offset(q.End)})
	}
	for _, r := range seen.Regions {
		m.Regions = append(m.Regions, evidence.MeasureRegion{
			Name: fmt.Sprintf("R%d", r.Number), X: r.Bounds.Min.X, Y: r.Bounds.Min.Y, Width: r.Bounds.Dx(), Height: r.Bounds.Dy(),
			Changes: r.Changes, FirstChangeMS: offset(r.First), LastChangeMS: offset(r.Last),
		})
	}
	return m
}

// at is a moment's offset, nil when there is none.
func at(m *visual.Moment, zero time.Duration) *float64 {
	if m == nil {
		return nil
	}
	v := millis(m.Time - zero)
	return &v
}

func share(cells, of int) float64 {
	if of == 0 || cells < 0 {
		return 0
	}
	return float64(cells) / float64(of)
}

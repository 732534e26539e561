package artifact

import (
	"context"
	"fmt"
	"time"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/visual"
)

const (
	// maxSeries bounds the points of a measure's series.
	maxSeries = 120
	// quietAfter is the shortest stretch without change that is listed.
	quietAfter = 200 * time.Millisecond
	// maxQuiet bounds the listed stretches.
	maxQuiet = 16
)

// Measure measures one epoch of the request's sequence.
func (s *Service) Measure(ctx context.Context, r Request, epoch int) (*evidence.Measure, error) {
	ctx, leave, err := s.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	e := r.epoch(epoch)
	key := r.analysisKey(e)
	done, err := s.jobs.enter(ctx, key)
	if err != nil {
		return nil, err
	}
	defer done()
	analysis, err := s.analyze(ctx, r, e, key)
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
	counts := a.Sampling()
	m := &evidence.Measure{
		Regions:  []evidence.MeasureRegion{},
		Sampling: evidence.Sampling{Mode: string(counts.Mode), Analyzed: counts.Analyzed, Source: counts.Source},
	}
	offset := func(t time.Duration) *float64 { v := millis(t - zero); return &v }
	changes := a.Changes()
	for i := range changes {
		c := &changes[i]
		if c.Tiles == 0 {
			continue
		}
		if m.FirstChangeMS == nil && c.End >= zero {
			m.FirstChangeMS = offset(c.End)
		}
		m.SettledMS = offset(c.End)
		if area := share(c.BaselineCells, c.Compared); area > m.PeakArea {
			m.PeakArea, m.PeakMS = area, offset(c.End)
		}
	}
	m.Series, m.Quiet = series(changes, zero), quiet(changes, a.Range(), zero)
	for _, region := range a.Regions() {
		m.Regions = append(m.Regions, evidence.MeasureRegion{
			Name: fmt.Sprintf("R%d", region.Number), X: region.Bounds.Min.X, Y: region.Bounds.Min.Y,
			Width: region.Bounds.Dx(), Height: region.Bounds.Dy(), Changes: region.Changes,
			FirstChangeMS: *offset(region.First), LastChangeMS: *offset(region.Last),
		})
	}
	return m
}

func share(cells, of int) float64 {
	if of == 0 || cells < 0 {
		return 0
	}
	return float64(cells) / float64(of)
}

// series keeps the pairs with change; of too many, the largest of each stretch.
func series(changes []visual.Change, zero time.Duration) []evidence.MeasurePoint {
	var points []evidence.MeasurePoint
	for i := range changes {
		c := &changes[i]
		if c.Tiles > 0 {
			points = append(points, evidence.MeasurePoint{
				AtMS: millis(c.End - zero), FrameID: id.Frame(c.To), Area: share(c.Cells, c.Compared), Baseline: share(c.BaselineCells, c.Compared),
			})
		}
	}
	if len(points) <= maxSeries {
		return points
	}
	kept := make([]evidence.MeasurePoint, 0, maxSeries)
	for i := range maxSeries {
		stretch := points[i*len(points)/maxSeries : (i+1)*len(points)/maxSeries]
		largest := stretch[0]
		for _, p := range stretch {
			if p.Area > largest.Area {
				largest = p
			}
		}
		kept = append(kept, largest)
	}
	return kept
}

// quiet lists stretches in which nothing changed. A gap is no evidence of quiet, so a stretch never spans
// frames that were not compared.
func quiet(changes []visual.Change, rng visual.Range, zero time.Duration) []evidence.QuietPeriod {
	periods := []evidence.QuietPeriod{}
	add := func(from, to time.Duration) {
		if to-from >= quietAfter && len(periods) < maxQuiet {
			periods = append(periods, evidence.QuietPeriod{StartMS: millis(from - zero), EndMS: millis(to - zero)})
		}
	}
	if len(changes) == 0 {
		return periods
	}
	from, last := max(changes[0].Start, rng.Start), max(changes[0].Start, rng.Start)
	for i := range changes {
		c := &changes[i]
		if c.Start > last { // frames between were not compared
			add(from, last)
			from = c.Start
		}
		if c.Tiles > 0 {
			// The state shown by From lasted until To was presented.
			add(from, c.End)
			from = c.End
		}
		last = c.End
	}
	add(from, last)
	return periods
}

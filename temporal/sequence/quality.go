package sequence

import (
	"slices"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/record"
)

// Quality summarizes how the range was captured.
func (s Sequence) Quality() evidence.Quality {
	q := evidence.Quality{
		Frames: len(s.Frames), TimeSource: s.Range.TimeSource, CaptureState: s.state(),
		Gaps: s.frameGaps(), Observers: s.Facts.Observers, HiddenMS: ms(s.hidden()),
		Epochs: s.epochRows(), Warnings: s.warnings(),
	}
	if q.Observers == nil {
		q.Observers = []record.Observer{}
	}
	if s.CarryIn != nil {
		q.CarryIn = s.CarryIn.ID
	}
	var intervals, lags []time.Duration
	for i, f := range s.Frames {
		if i > 0 && !s.missing(s.Frames[i-1].Time(), f.Time()) {
			intervals = append(intervals, f.Time().Sub(s.Frames[i-1].Time()))
		}
		if f.PresentedNS != nil {
			lags = append(lags, f.ReceivedNS.Sub(*f.PresentedNS))
		}
	}
	q.Cadence, q.Lag = distribution(intervals), distribution(lags)
	return q
}

// missing reports whether a known gap lies between two frames: the time between them says nothing about cadence.
func (s Sequence) missing(from, to clock.SessionTime) bool {
	for _, g := range s.Facts.Gaps {
		if g.Stream == record.StreamFrames && g.StartNS < to && after(g, from) {
			return true
		}
	}
	return false
}

func (s Sequence) frameGaps() []record.Gap {
	gaps := []record.Gap{}
	for _, g := range s.Facts.Gaps {
		if g.Stream == record.StreamFrames {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// hidden is the part of the range in which the page was known to be hidden.
func (s Sequence) hidden() time.Duration {
	var sum time.Duration
	for _, g := range s.frameGaps() {
		if g.Reason == record.GapHidden {
			start, end := GapBounds(g, s.Range)
			sum += end.Sub(start)
		}
	}
	return sum
}

// GapBounds cuts a gap to the range; a lasting gap reaches the range's end.
func GapBounds(g record.Gap, rng evidence.ResolvedRange) (start, end clock.SessionTime) {
	end = rng.EndNS
	if g.EndNS != nil {
		end = min(end, *g.EndNS)
	}
	start = max(g.StartNS, rng.StartNS)
	return start, max(start, end)
}

// state is what capture was doing at the end of the range.
func (s Sequence) state() string {
	for _, g := range s.frameGaps() {
		if g.EndNS != nil && *g.EndNS < s.Range.EndNS {
			continue
		}
		switch g.Reason {
		case record.GapHidden:
			return "hidden"
		case record.GapStopped:
			return "ended"
		case record.GapAcknowledgement, record.GapPersistenceRejected, record.GapDisconnected, record.GapCrashed, record.GapLimit:
			return "failed"
		}
	}
	return "capturing"
}

func (s Sequence) epochRows() []evidence.Epoch {
	rows := []evidence.Epoch{}
	for _, e := range s.Epochs {
		first, last := s.Frames[e.First], s.Frames[e.Last]
		rows = append(rows, evidence.Epoch{
			Index: e.Index, Width: first.Width, Height: first.Height, Frames: e.Last - e.First + 1,
			StartNS: first.Time(), EndNS: last.Time(),
		})
	}
	return rows
}

func (s Sequence) warnings() map[string]int {
	counts := map[string]int{}
	for _, f := range s.Frames {
		for _, w := range f.Warnings {
			counts[w]++
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return counts
}

// distribution is nil for no values. Percentiles are nearest rank.
func distribution(values []time.Duration) *evidence.Distribution {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	rank := func(p int) float64 { return ms(sorted[(len(sorted)*p+99)/100-1]) }
	return &evidence.Distribution{P50: rank(50), P95: rank(95), Max: ms(sorted[len(sorted)-1])}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

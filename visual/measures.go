package visual

import (
	"fmt"
	"time"
)

// quietLength is the least time without change that counts as a quiet period.
const quietLength = burstGap * time.Millisecond

// Moment is a frame at which something was measured.
type Moment struct {
	Frame  FrameID       `json:"frame"`
	Time   time.Duration `json:"time_ns"`
	Offset time.Duration `json:"offset_ns"` // from the anchor
	// Cells of Compared 4x4-pixel cells differ; Tiles counts 16x16-pixel tiles.
	Cells    int `json:"changed_cells"`
	Compared int `json:"compared_cells"`
}

// Quiet is a time of at least 100 ms in which no change was observed. It ends
// at the frame that changed, at a gap, or at the end of the range.
type Quiet struct {
	Start time.Duration `json:"start_ns"`
	End   time.Duration `json:"end_ns"`
}

// Measures are the figures of an analysis. Absent moments are nil.
type Measures struct {
	Range    Range          `json:"range"`
	Anchor   Anchor         `json:"anchor"`
	Sampling SamplingCounts `json:"sampling"`
	Source   AnalysisSource `json:"analysis_source"`
	// Baseline is the frame distances are measured from: the last before the
	// anchor, else the first after it.
	Baseline FrameRef `json:"baseline"`
	// BaselineBefore reports whether Baseline is from before the anchor.
	BaselineBefore bool `json:"baseline_is_before_anchor"`
	// LastBefore is the newest change before the anchor.
	LastBefore *Moment `json:"last_change_before_anchor,omitempty"`
	// FirstChange is the first step at or after the anchor.
	FirstChange *Moment `json:"first_change,omitempty"`
	// Peak is the greatest difference from the baseline, in its segment.
	Peak *Moment `json:"peak,omitempty"`
	// LastChange is the last step of the range.
	LastChange *Moment `json:"last_change,omitempty"`
	// QuietAtEnd is the time between LastChange, or the first frame when nothing
	// changed, and the end of the observed range. Missing time is not counted.
	QuietAtEnd time.Duration   `json:"quiet_at_end_ns"`
	Quiet      []Quiet         `json:"quiet"`
	Regions    []ChangedRegion `json:"regions"`
	// Series are the steps with the greatest change, in time order, at most as
	// many as asked for; SeriesOmitted counts the other steps that changed.
	Series        []Change `json:"series"`
	SeriesOmitted int      `json:"series_omitted"`
}

// Measures computes the figures with at most series steps in Measures.Series.
func (a *Analysis) Measures(series int) Measures {
	base := &a.frames[a.baseline]
	m := Measures{
		Range: a.rng, Anchor: a.anchor, Sampling: a.sampling, Source: a.source,
		Baseline: FrameRef{base.ID, base.Time}, BaselineBefore: a.baseline == a.before,
		Regions: a.Regions(), Quiet: []Quiet{},
	}
	for i := range a.changes {
		c := &a.changes[i]
		if c.Tiles == 0 {
			continue
		}
		switch at := a.moment(c.to, c.Cells); {
		case c.End < a.anchor.Time:
			m.LastBefore = at
		case m.FirstChange == nil:
			m.FirstChange = at
			m.LastChange = at
		default:
			m.LastChange = at
		}
	}
	if m.LastChange == nil {
		m.LastChange = m.LastBefore
	}
	if a.peak >= 0 {
		m.Peak = a.moment(a.peak, a.baselineCells(a.peak))
	}
	for s := range a.segments {
		m.Quiet = append(m.Quiet, a.quietIn(s)...)
	}
	if n := len(m.Quiet); n > 0 && m.Quiet[n-1].End == a.observedEnd(len(a.segments)-1) {
		m.QuietAtEnd = m.Quiet[n-1].End - m.Quiet[n-1].Start
	}
	m.Series, m.SeriesOmitted = a.series(series)
	return m
}

func (a *Analysis) moment(i, cells int) *Moment {
	f := &a.frames[i]
	return &Moment{f.ID, f.Time, a.offset(f.Time), cells, a.epochs[f.epoch].cells}
}

func (a *Analysis) baselineCells(i int) int {
	for k := range a.changes {
		if a.changes[k].to == i {
			return a.changes[k].BaselineCells
		}
	}
	return 0
}

// observedEnd is when evidence of a segment ends: at the next gap or epoch, or
// for the last one at the end of the range. A source that sends a frame only
// when something changes is silent while nothing does.
func (a *Analysis) observedEnd(s int) time.Duration {
	end := a.rng.End
	if s+1 < len(a.segments) {
		end = a.segments[s+1].Start
	}
	for _, g := range a.gaps {
		if g.End > a.segments[s].End && g.Start < end {
			end = max(g.Start, a.segments[s].End)
		}
	}
	return end
}

// quietIn lists the quiet periods of a segment within the range.
func (a *Analysis) quietIn(s int) []Quiet {
	var out []Quiet
	from := max(a.segments[s].Start, a.rng.Start)
	add := func(to time.Duration) {
		if to-from >= quietLength {
			out = append(out, Quiet{from, to})
		}
		from = max(from, to)
	}
	for i := range a.changes {
		if c := &a.changes[i]; c.Tiles > 0 && a.frames[c.to].segment == s {
			add(c.End)
		}
	}
	add(a.observedEnd(s))
	return out
}

// series picks the steps with the most changed cells, earliest first on ties.
func (a *Analysis) series(most int) (out []Change, omitted int) {
	rank := a.changesBySize()
	keep := make(map[int]bool, most)
	for _, i := range rank[:min(max(0, most), len(rank))] {
		keep[i] = true
	}
	out = []Change{}
	for i := range a.changes {
		if keep[i] {
			out = append(out, a.changes[i])
		}
	}
	return out, len(rank) - len(out)
}

// String puts the figures in one line of words.
func (m Measures) String() string {
	if m.LastChange == nil && m.Peak == nil {
		return fmt.Sprintf("no change above the noise level in %s", plural(m.Sampling.Analyzed, "analyzed frame"))
	}
	s := plural(len(m.Regions), "changed region")
	if m.FirstChange != nil {
		s += ", first change " + offsetText(m.FirstChange.Offset)
	} else {
		s += ", no change after the anchor"
	}
	if m.Peak != nil {
		s += fmt.Sprintf(", greatest difference %s (%s of the area)", offsetText(m.Peak.Offset), percent(m.Peak.Cells, m.Peak.Compared))
	}
	if m.LastChange != nil {
		s += ", last change " + offsetText(m.LastChange.Offset)
	}
	if m.QuietAtEnd > 0 {
		s += fmt.Sprintf(", then %s without change", lengthText(m.QuietAtEnd))
	}
	return s
}

// percent is n of total with one decimal below ten; it never rounds something to 0.
func percent(n, total int) string {
	tenths := int((int64(n)*1000 + int64(total)/2) / int64(max(1, total)))
	switch {
	case n > 0 && tenths == 0:
		return "under 0.1 %"
	case tenths < 100:
		return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
	}
	return fmt.Sprintf("%d %%", (tenths+5)/10)
}

package visual

import (
	"fmt"
	"strconv"
	"time"
)

const timeDirection = "left to right, then down"

// newManifest records what is common to all artifacts of the analysis.
func (a *Analysis) newManifest(kind Kind, title string) *Manifest {
	m := &Manifest{
		Schema: ManifestSchema, Kind: kind, Title: title, SourceLabel: a.opts.SourceLabel,
		Evidence: SourceDerived, Algorithm: "visual." + string(kind), Version: Version,
		AnalysisSource: a.source, Range: a.rng, Anchor: a.anchor, TimeDirection: timeDirection,
		Sampling: a.sampling, Omitted: a.sampling.Omitted, Epochs: a.Epochs(),
		Gaps: append([]Gap{}, a.gaps...), Markers: a.seq.Markers, Observers: a.seq.Observers,
		Region: a.seq.Region, Regions: append([]ChangedRegion{}, a.regions...),
	}
	if a.opts.Title != "" {
		m.Title = a.opts.Title + " · " + title
	}
	if a.seq.Mask != nil {
		m.Mask = a.seq.Mask.info()
	}
	for i := range a.frames {
		a.note(m, i)
	}
	m.Parameters = a.parameters()
	m.Warnings = a.warnings()
	return m
}

// note records frame i where it belongs.
func (a *Analysis) note(m *Manifest, i int) {
	f := &a.frames[i]
	ref := &FrameRef{f.ID, f.Time}
	if i == a.baseline {
		m.Baseline = ref
	}
	if f.carry {
		m.CarryIn = ref
		return
	}
	m.Source = append(m.Source, f.ID)
	if f.read {
		m.Analyzed = append(m.Analyzed, f.ID)
		m.ticks = append(m.ticks, f.Time)
	}
}

func (a *Analysis) parameters() []Parameter {
	n := a.opts.Noise
	return []Parameter{
		{"noise_luma", strconv.Itoa(n.Luma)},
		{"noise_chroma", strconv.Itoa(n.Chroma)},
		{"noise_exact", strconv.FormatBool(n.Exact)},
		{"max_frames", strconv.Itoa(a.opts.MaxFrames)},
		{"max_edge", strconv.Itoa(a.opts.MaxEdge)},
		{"max_pixels", strconv.Itoa(a.opts.MaxPixels)},
	}
}

func (m *Manifest) param(name, value string) {
	m.Parameters = append(m.Parameters, Parameter{name, value})
}

// warnings says what a reader must know before trusting the picture.
func (a *Analysis) warnings() []string {
	var out []string
	if n := len(a.gaps); n > 0 {
		var total time.Duration
		for _, g := range a.gaps {
			total += g.End - g.Start
		}
		w := fmt.Sprintf("%s in the range, %s without evidence: nothing is known about that time", plural(n, "gap"), lengthText(total))
		out = append(out, w)
	}
	if s := a.sampling; s.Omitted > 0 || s.Kept < s.Analyzed {
		out = append(out, fmt.Sprintf("%d of %s analyzed, %d kept as candidates for tiles", s.Analyzed, plural(s.Source, "source frame"), s.Kept))
	}
	if a.before < 0 && a.after >= 0 {
		out = append(out, "no frame from before the anchor: the first frame after it is the baseline")
	} else if a.before >= 0 && a.baseline != a.before {
		out = append(out, "a gap or size change follows the frame before the anchor: it is not the baseline")
	}
	return out
}

// facts are the lines under the title.
func (m *Manifest) facts() []string {
	var out []string
	if m.SourceLabel != "" {
		out = append(out, m.SourceLabel)
	}
	s := fmt.Sprintf("%s to %s", offsetText(m.Range.Start-m.Anchor.Time), offsetText(m.Range.End-m.Anchor.Time))
	if m.Anchor.Label != "" {
		s += " from " + m.Anchor.Label
	}
	s += " · " + plural(m.Sampling.Source, "source frame")
	if m.Omitted > 0 {
		s += fmt.Sprintf(", %d analyzed, %d omitted", m.Sampling.Analyzed, m.Omitted)
	}
	if n := len(m.Selected); n > 0 {
		s += fmt.Sprintf(", %d shown", n)
	}
	s += " · source-derived"
	out = append(out, s)
	if m.Region != nil && m.Kind != KindFilmstrip {
		r := m.Region.Pixels()
		out = append(out, fmt.Sprintf("only the region at %d,%d size %dx%d is compared", r.Min.X, r.Min.Y, r.Dx(), r.Dy()))
	}
	if m.Mask != nil {
		out = append(out, fmt.Sprintf("only the %d pixels of a mask are compared", m.Mask.Selected))
	}
	return out
}

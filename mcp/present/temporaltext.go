package present

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
)

// temporalLines lays out what has a form of its own; ok is false for everything else.
func temporalLines(result any, d Detail) (lines []string, ok bool) {
	switch r := result.(type) {
	case Bundle:
		return r.lines(d), true
	case RangeResult:
		return r.Quality.lines(d), true
	case evidence.ArtifactsResult:
		for _, o := range r.Outcomes {
			lines = append(lines, compact(o, Concise).lines()...)
		}
		return lines, true
	case evidence.FilmstripResult:
		return append([]string{regionLine(r.Region)}, compact(r.Outcome, Concise).lines()...), true
	case evidence.VideoResult:
		for _, c := range r.Clips {
			lines = append(lines, clipLine(c))
		}
		return lines, true
	case evidence.FramesResult:
		return frameLines(r), true
	case evidence.FetchResult:
		for _, f := range r.Frames {
			lines = append(lines, frameLine(f))
		}
		return lines, true
	case evidence.Measure:
		return measureLines(&r), true
	case evidence.EventsResult:
		return eventLines(r, d), true
	}
	return nil, false
}

func (b Bundle) lines(d Detail) []string {
	lines := strings.Split(strings.TrimRight(b.Header, "\n"), "\n")
	for _, f := range b.Failed {
		lines = append(lines, "not made: "+f.Component+": "+describe(f.Error))
	}
	for _, a := range b.Artifacts {
		lines = append(lines, a.lines()...)
	}
	if b.Measure != nil {
		lines = append(lines, measureLines(b.Measure)[1:]...) // the header has the first line's facts
	}
	for _, e := range b.Events {
		lines = append(lines, "event "+eventLine(e))
	}
	if b.EventsOmitted > 0 {
		lines = append(lines, fmt.Sprintf("%d more events: query_browser_events", b.EventsOmitted))
	}
	lines = append(lines, fmt.Sprintf("epoch %d of %d: %d pictures available, %d unavailable, %d outcomes and %d resources not listed, %d source frames not listed",
		b.Epoch, b.Epochs, b.Available, b.Unavailable, b.OmittedOutcomes, b.OmittedResources, b.OmittedFrames))
	if len(b.SourceFrames) > 0 {
		lines = append(lines, "source frames: "+joined(b.SourceFrames))
	}
	lines = append(lines, b.Quality.lines(d)...)
	if d != Concise {
		for _, i := range b.Interactions {
			lines = append(lines, recordLine(i))
		}
	}
	return lines
}

func joined[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = string(v)
	}
	return strings.Join(words, " ")
}

func recordLine(i record.Interaction) string {
	line := fmt.Sprintf("interaction %s %s dispatched %s", i.ID, i.Operation, at(int64(i.DispatchedNS)))
	if i.ObservedNS != nil {
		line += " observed " + at(int64(*i.ObservedNS))
	}
	line += " " + string(i.Outcome)
	if i.ErrorCode != "" {
		line += " " + i.ErrorCode
	}
	if len(i.Parameters) > 0 {
		line += " with " + inline(i.Parameters)
	}
	return line
}

func (a Artifact) lines() []string {
	line := fmt.Sprintf("%s of epoch %d %s", a.Kind, a.Epoch, a.Status)
	if f, ok := a.Error.(*fault.Error); ok {
		return []string{line + ": " + describe(f)}
	}
	line += fmt.Sprintf(" %s (%s)", a.ID, a.Cache)
	if s := a.Sampling; s != nil {
		line += fmt.Sprintf(", %s: %d of %d frames analyzed", s.Mode, s.Analyzed, s.Source)
	}
	lines := []string{line}
	for _, t := range a.Tiles {
		lines = append(lines, fmt.Sprintf("  tile %d %+.0f ms %s %s", t.Number, t.OffsetMS, t.FrameID, strings.Join(t.Reasons, ", ")))
	}
	return lines
}

func measureLines(m *evidence.Measure) []string {
	if m == nil {
		return nil
	}
	lines := []string{changeLine(m)}
	for _, r := range m.Regions {
		lines = append(lines, fmt.Sprintf("region %s %dx%d at %d,%d: %d changes, %+.0f to %+.0f ms", r.Name, r.Width, r.Height, r.X, r.Y, r.Changes, r.FirstChangeMS, r.LastChangeMS))
	}
	for _, s := range m.Series {
		lines = append(lines, fmt.Sprintf("step %+.0f ms %s: %s changed, %s from the baseline", s.AtMS, s.FrameID, percent(s.Area), percent(s.Baseline)))
	}
	if m.SeriesOmitted > 0 {
		lines = append(lines, fmt.Sprintf("%d steps not listed", m.SeriesOmitted))
	}
	for _, q := range m.Quiet {
		lines = append(lines, fmt.Sprintf("quiet %+.0f to %+.0f ms", q.StartMS, q.EndMS))
	}
	return lines
}

func changeLine(m *evidence.Measure) string {
	var parts []string
	for _, moment := range []struct {
		name string
		ms   *float64
	}{{"first change", m.FirstChangeMS}, {"peak", m.PeakMS}, {"last change", m.SettledMS}} {
		if moment.ms != nil {
			parts = append(parts, fmt.Sprintf("%s %+.0f ms", moment.name, *moment.ms))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no change seen")
	} else {
		parts = append(parts, percent(m.PeakArea)+" of the picture at the peak")
	}
	parts = append(parts, fmt.Sprintf("quiet for %.0f ms at the end, %s: %d of %d frames analyzed", m.QuietAtEndMS, m.Sampling.Mode, m.Sampling.Analyzed, m.Sampling.Source))
	return "measured: " + strings.Join(parts, ", ")
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func (q Quality) lines(d Detail) []string {
	line := fmt.Sprintf("capture: %s, %d frames, times %s", q.CaptureState, q.Frames, q.TimeSource)
	if q.Cadence != nil {
		line += fmt.Sprintf(", interval p50 %.0f p95 %.0f max %.0f ms", q.Cadence.P50, q.Cadence.P95, q.Cadence.Max)
	}
	if q.Lag != nil {
		line += fmt.Sprintf(", lag p50 %.0f p95 %.0f max %.0f ms", q.Lag.P50, q.Lag.P95, q.Lag.Max)
	}
	if q.HiddenMS > 0 {
		line += fmt.Sprintf(", hidden %.0f ms", q.HiddenMS)
	}
	if q.CarryIn != "" {
		line += ", baseline " + string(q.CarryIn)
	}
	lines := []string{line + fmt.Sprintf(", Krometrail observed in %d intervals", q.ObserverCount)}
	for _, code := range sortedKeys(q.Warnings) {
		lines = append(lines, fmt.Sprintf("frames with %s: %d", code, q.Warnings[code]))
	}
	for _, g := range q.Gaps {
		lines = append(lines, gapLine(g))
	}
	if q.GapsOmitted > 0 {
		lines = append(lines, fmt.Sprintf("%d gaps not listed", q.GapsOmitted))
	}
	if len(q.Epochs) > 1 || d == Full {
		for _, e := range q.Epochs {
			lines = append(lines, fmt.Sprintf("epoch %d: %dx%d, %d frames, %s to %s", e.Index, e.Width, e.Height, e.Frames, at(int64(e.StartNS)), at(int64(e.EndNS))))
		}
	}
	if len(q.Observers) > 0 {
		lines = append(lines, observersLine(q.Observers))
	}
	return lines
}

func gapLine(g record.Gap) string {
	line := fmt.Sprintf("gap %s %s from %s", g.ID, g.Reason, at(int64(g.StartNS)))
	if g.EndNS == nil {
		line += " on"
	} else {
		line += " to " + at(int64(*g.EndNS))
	}
	if g.Count > 0 {
		line += fmt.Sprintf(", %d known to be missing", g.Count)
	}
	return line
}

func regionLine(r evidence.Region) string {
	line := fmt.Sprintf("region %s: frame pixels %dx%d at %d,%d", strings.TrimSpace(r.Method+" "+r.Ref), r.Width, r.Height, r.X, r.Y)
	if d := r.Declared; d != nil {
		line += fmt.Sprintf(", from %s %gx%g at %g,%g, scale %d/%d", d.Space, d.Width, d.Height, d.X, d.Y, r.ScaleNum, r.ScaleDen)
	}
	if r.Selected > 0 {
		line += fmt.Sprintf(", %d pixels selected", r.Selected)
	}
	return line
}

func clipLine(c evidence.VideoClip) string {
	line := fmt.Sprintf("clip of epoch %d %s", c.Epoch, c.Status)
	if c.Error != nil {
		return line + ": " + describe(c.Error)
	}
	line += fmt.Sprintf(" %s (%s): %dx%d, %.3f s, %s, %d frames and %d gap slates shown, %d frames skipped, %s", c.Artifact.ID, c.Cache,
		c.Artifact.Width, c.Artifact.Height, c.LengthMS/1000, c.Policy, c.Frames, c.Slates, c.Skipped, c.Encoder)
	if s := c.Sampling; s != nil {
		line += fmt.Sprintf(", %s: %d of %d frames analyzed", s.Mode, s.Analyzed, s.Source)
	}
	return line
}

func frameLines(r evidence.FramesResult) []string {
	var lines []string
	for _, f := range r.Frames {
		lines = append(lines, frameLine(f))
	}
	line := fmt.Sprintf("%d frames omitted", r.Omitted)
	if r.NextOffset != nil {
		line += fmt.Sprintf(", next offset=%d", *r.NextOffset)
	}
	lines = append(lines, line)
	for _, g := range r.Gaps {
		lines = append(lines, gapLine(g))
	}
	for _, m := range r.Markers {
		lines = append(lines, fmt.Sprintf("marker %s at %s %s %s", m.ID, at(int64(m.AtNS)), word(m.Kind), strconv.Quote(m.Label)))
	}
	return lines
}

func frameLine(f record.Frame) string {
	source := "received"
	if f.PresentedNS != nil {
		source = "presented"
	}
	line := fmt.Sprintf("%s %s %s, %dx%d %s, %d bytes", f.ID, source, at(int64(f.Time())), f.Width, f.Height, f.Format, f.Bytes)
	if f.Viewport.ScrollX != 0 || f.Viewport.ScrollY != 0 {
		line += fmt.Sprintf(", scrolled %g,%g", f.Viewport.ScrollX, f.Viewport.ScrollY)
	}
	if len(f.Warnings) > 0 {
		line += ", " + strings.Join(f.Warnings, " ")
	}
	return line
}

func eventLines(r evidence.EventsResult, d Detail) []string {
	var lines []string
	for _, e := range r.Events {
		shown := evidence.CompactEvent{OffsetMS: e.OffsetMS, Class: e.Class, Severity: e.Severity, Text: e.Text}
		if d == Full {
			shown.Payload = e.Payload
		}
		lines = append(lines, eventLine(shown))
	}
	var counts []string
	for _, class := range sortedKeys(r.Counts) {
		counts = append(counts, fmt.Sprintf("%s %d", class, r.Counts[class]))
	}
	line := fmt.Sprintf("%d events match", r.Total)
	if len(counts) > 0 {
		line += ": " + strings.Join(counts, ", ")
	}
	lines = append(lines, line)
	if r.NextCursor != "" {
		lines = append(lines, "more with cursor="+r.NextCursor)
	}
	for _, g := range r.Gaps {
		lines = append(lines, "browser events lost: "+gapLine(g))
	}
	return lines
}

func eventLine(e evidence.CompactEvent) string {
	line := fmt.Sprintf("%+.0f ms %s %s %s", e.OffsetMS, e.Severity, e.Class, strconv.Quote(e.Text))
	if len(e.Payload) > 0 {
		line += " " + inline(e.Payload)
	}
	return line
}

// observersLine says when this program itself was at work in the page.
func observersLine(all []record.Observer) string {
	spans := make([]string, len(all))
	for i, o := range all {
		spans[i] = fmt.Sprintf("%s %s..%s", o.Kind, at(int64(o.StartNS)), at(int64(o.EndNS)))
	}
	return "Krometrail observing: " + strings.Join(spans, ", ")
}

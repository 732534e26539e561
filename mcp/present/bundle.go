package present

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// bundleLines begins with the header, which is text already. Resource addresses follow below all results.
func bundleLines(b evidence.Bundle, d Detail) []string {
	lines := strings.Split(strings.TrimRight(b.Header, "\n"), "\n")
	for _, a := range b.Artifacts {
		lines = append(lines, artifactLines(a)...)
	}
	if b.Measure != nil {
		lines = append(lines, measureLines(*b.Measure)...)
	}
	lines = append(lines, qualityLines(b.Quality)...)
	lines = append(lines, fmt.Sprintf("source frames of epoch %d: %s", b.Epoch, frames(b.SourceFrames)))
	for _, e := range b.Events {
		lines = append(lines, eventLine(e))
	}
	if b.EventsOmitted > 0 {
		lines = append(lines, fmt.Sprintf("%d more events: query_browser_events", b.EventsOmitted))
	}
	for _, f := range b.Failed {
		lines = append(lines, f.Component+" could not be made: "+describe(f.Error))
	}
	if d == Full {
		lines = append(lines, prefixed("interactions: ", facts(b.Nearest))...)
	}
	return lines
}

func frames(all []id.Frame) string {
	if len(all) == 0 {
		return "none"
	}
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = string(f)
	}
	return strings.Join(names, " ")
}

func artifactLines(a evidence.ArtifactOutcome) []string {
	line := fmt.Sprintf("%s (epoch %d)", a.Kind, a.Epoch)
	if a.Error != nil {
		return []string{line + " unavailable: " + describe(a.Error)}
	}
	if a.Artifact != nil {
		line += fmt.Sprintf(" %s %dx%d", a.Artifact.ID, a.Artifact.Width, a.Artifact.Height)
	}
	line += strings.TrimRight(" "+a.Status+" "+a.Cache, " ")
	if s := a.Sampling; s != nil && s.Analyzed < s.Source {
		line += fmt.Sprintf(", %d of %d frames analyzed", s.Analyzed, s.Source)
	}
	lines := []string{line}
	for _, t := range a.Tiles {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("  tile %d %s at %s %s", t.Number, t.FrameID, ms(t.OffsetMS), strings.Join(t.Reasons, ", ")), " "))
	}
	return lines
}

// ms prints an offset from the anchor.
func ms(v float64) string { return fmt.Sprintf("%+.0f ms", v) }

func measureLines(m evidence.Measure) []string {
	var lines []string
	for _, r := range m.Regions {
		lines = append(lines, fmt.Sprintf("region %s %dx%d at %d,%d: %d changes, %s to %s", r.Name, r.Width, r.Height, r.X, r.Y, r.Changes, ms(r.FirstChangeMS), ms(r.LastChangeMS)))
	}
	for _, q := range m.Quiet {
		lines = append(lines, fmt.Sprintf("quiet %s to %s", ms(q.StartMS), ms(q.EndMS)))
	}
	for _, p := range m.Series {
		lines = append(lines, fmt.Sprintf("change %s %s: %.2f %% of the picture, %.2f %% from the baseline", ms(p.AtMS), p.FrameID, 100*p.Area, 100*p.Baseline))
	}
	return lines
}

func qualityLines(q evidence.Quality) []string {
	line := fmt.Sprintf("capture: %d frames, time %s, %s", q.Frames, q.TimeSource, q.CaptureState)
	if q.Cadence != nil {
		line += fmt.Sprintf(", cadence p50 %.0f p95 %.0f max %.0f ms", q.Cadence.P50, q.Cadence.P95, q.Cadence.Max)
	}
	if q.Lag != nil {
		line += fmt.Sprintf(", lag p50 %.0f p95 %.0f ms", q.Lag.P50, q.Lag.P95)
	}
	if q.HiddenMS > 0 {
		line += fmt.Sprintf(", hidden %.0f ms", q.HiddenMS)
	}
	if q.CarryIn != "" {
		line += ", baseline " + string(q.CarryIn)
	}
	lines := []string{line}
	for _, g := range q.Gaps {
		end := "on"
		if g.EndNS != nil {
			end = at(int64(*g.EndNS))
		}
		lines = append(lines, fmt.Sprintf("gap %s %s from %s to %s", g.ID, g.Reason, at(int64(g.StartNS)), end))
	}
	if len(q.Observers) > 0 {
		lines = append(lines, observersLine(q.Observers))
	}
	if len(q.Epochs) > 1 {
		for _, e := range q.Epochs {
			lines = append(lines, fmt.Sprintf("epoch %d %dx%d: %d frames, %s to %s", e.Index, e.Width, e.Height, e.Frames, at(int64(e.StartNS)), at(int64(e.EndNS))))
		}
	}
	for _, code := range sortedKeys(q.Warnings) {
		lines = append(lines, fmt.Sprintf("frames with %s: %d", code, q.Warnings[code]))
	}
	return lines
}

// observersLine says when this program itself was at work in the page.
func observersLine(all []record.Observer) string {
	spans := make([]string, len(all))
	for i, o := range all {
		spans[i] = fmt.Sprintf("%s %s..%s", o.Kind, at(int64(o.StartNS)), at(int64(o.EndNS)))
	}
	return "Krometrail observing: " + strings.Join(spans, ", ")
}

func eventLine(e evidence.CompactEvent) string {
	line := fmt.Sprintf("%s (%s) %s %s %s", at(int64(e.AtNS)), ms(e.OffsetMS), e.Class, e.Severity, strconv.Quote(e.Text))
	if len(e.Payload) > 0 {
		line += " " + inline(e.Payload)
	}
	return line
}

package bundle

import (
	"fmt"
	"strings"
	"time"

	"github.com/krometrail/krometrail/core/evidence"
)

// maxHeader bounds the header in bytes.
const maxHeader = 512

// header says in the observing vocabulary what the bundle is about.
func header(m *making) string {
	var b strings.Builder
	rng := m.sequence.Range
	fmt.Fprintf(&b, "%s .. %s of %s", offset(int64(rng.StartNS)), offset(int64(rng.EndNS)), rng.TargetID)
	if n := m.bundle.Nearest; len(n) > 0 {
		fmt.Fprintf(&b, "; about %s %s", n[0].Operation, n[0].ID)
		for i, previous := range n[1:] {
			fmt.Fprintf(&b, "%s%s %s", []string{" after ", ", "}[min(i, 1)], previous.Operation, previous.ID)
		}
	}
	b.WriteString("\n" + measureLine(m.bundle.Measure, m.bundle.Quality))
	text := b.String()
	return strings.ToValidUTF8(text[:min(len(text), maxHeader)], "")
}

// measureLine has one fixed form, so that it can be compared between answers.
func measureLine(measured *evidence.Measure, q evidence.Quality) string {
	tail := fmt.Sprintf("%d frames, %d gaps", q.Frames, len(q.Gaps))
	if q.Lag != nil {
		tail += fmt.Sprintf(", lag p50 %.0f ms", q.Lag.P50)
	}
	switch {
	case q.Frames == 0:
		return "no frame in the range, shown is the last one before it; " + tail
	case measured == nil:
		return "change not measured; " + tail
	case measured.SettledMS == nil:
		return "0 regions changed; " + tail
	}
	line := fmt.Sprintf("%d regions changed", len(measured.Regions))
	if measured.FirstChangeMS != nil {
		line += fmt.Sprintf("; first %+.0f ms", *measured.FirstChangeMS)
	}
	if measured.PeakMS != nil {
		line += fmt.Sprintf("; peak %+.0f ms (%.1f %% of the picture)", *measured.PeakMS, 100*measured.PeakArea)
	}
	return line + fmt.Sprintf("; last %+.0f ms; %s", *measured.SettledMS, tail)
}

// onward are the arguments that show the time after the range as well.
func (m *making) onward() string {
	rng := m.sequence.Range
	for kind, argument := range map[string]string{"interaction": "interaction_id", "navigation": "navigation_id", "marker": "marker_id"} {
		if rng.Anchor.Kind == kind {
			return fmt.Sprintf("%s=%s after_ms=2000", argument, rng.Anchor.ID)
		}
	}
	return fmt.Sprintf("start_ns=%d end_ns=%d", rng.StartNS, rng.EndNS.Add(2*time.Second))
}

func offset(ns int64) string { return fmt.Sprintf("%+.3f s", float64(ns)/1e9) }

// hints names the calls that lead further.
func (m *making) hints() {
	rng := m.sequence.Range
	if d := m.bundle.Measure; d != nil && d.SettledMS != nil {
		zero := rng.StartNS
		if rng.AnchorNS != nil {
			zero = *rng.AnchorNS
		}
		end := float64(rng.EndNS.Sub(zero).Microseconds()) / 1000
		if end-*d.SettledMS < 100 {
			m.out.Next = append(m.out.Next, "change goes on at the end of the range: temporal_debug_bundle "+m.onward())
		}
	}
	if m.resolution.Handle != "" && len(m.sequence.Frames) > 0 {
		m.out.Next = append(m.out.Next, fmt.Sprintf("exact frames: fetch_source_frames range_handle=%s", m.resolution.Handle))
	}
}

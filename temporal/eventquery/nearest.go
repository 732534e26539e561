package eventquery

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

const (
	// compact is how many events a bundle shows.
	compact = 24
	// scanned bounds how many events of a range are ranked.
	scanned = 20_000
	// maxText bounds the text of a compact event in bytes.
	maxText = 200
)

// Nearest selects the events of a range that stand nearest to the given moments: failures first, then
// navigations and dialogs, then the rest by severity and distance. The order is total, so equal evidence
// gives equal selections. The selected events come in time order.
func (s *Service) Nearest(ctx context.Context, rng evidence.ResolvedRange, moments []clock.SessionTime) ([]evidence.CompactEvent, int, error) {
	events, total, err := s.events.Events(ctx, record.EventQuery{Window: window(rng), Limit: scanned})
	if err != nil {
		return nil, 0, err
	}
	ranked := slices.Clone(events)
	slices.SortStableFunc(ranked, func(a, b record.Event) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(distance(a, moments), distance(b, moments)), inOrder(a, b))
	})
	ranked = ranked[:min(compact, len(ranked))]
	slices.SortFunc(ranked, inOrder)
	chosen := make([]evidence.CompactEvent, 0, len(ranked))
	for _, e := range ranked {
		chosen = append(chosen, evidence.CompactEvent{
			AtNS: e.AtNS, OffsetMS: offset(e.AtNS, zero(rng)), Class: e.Class, Severity: e.Severity, Text: describe(e),
		})
	}
	return chosen, total - len(chosen), nil
}

func inOrder(a, b record.Event) int {
	return cmp.Or(cmp.Compare(a.AtNS, b.AtNS), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Sequence, b.Sequence))
}

// weight groups events: lower is shown first.
func weight(e record.Event) int {
	switch {
	case e.Class == record.ClassException, e.Class == record.ClassRequestFailed:
		return 0
	case e.Severity == record.Error:
		return 1
	case e.Class == record.ClassNavigation, e.Class == record.ClassDialog, e.Class == record.ClassDownload:
		return 2
	case e.Severity == record.Warning:
		return 3
	case e.Class == record.ClassConsole, e.Class == record.ClassVisibility, e.Class == record.ClassTarget:
		return 4
	}
	return 5
}

// distance is to the nearest moment.
func distance(e record.Event, moments []clock.SessionTime) clock.SessionTime {
	best := clock.SessionTime(-1)
	for _, m := range moments {
		if d := max(e.AtNS-m, m-e.AtNS); best < 0 || d < best {
			best = d
		}
	}
	return best
}

// described are the payload fields that a one-line description is made from.
type described struct {
	Text      string             `json:"text"`
	Method    string             `json:"method"`
	Status    int                `json:"status"`
	Kind      string             `json:"kind"`
	Stage     string             `json:"stage"`
	Error     string             `json:"error"`
	State     string             `json:"state"`
	Type      string             `json:"type"`
	Name      string             `json:"name"`
	NavID     string             `json:"nav_id"`
	Visible   *bool              `json:"visible"`
	URL       *redact.URLSummary `json:"url"`
	ErrorText string             `json:"error_text"`
	Line      int                `json:"line"`
	Duration  float64            `json:"duration_ms"`
}

// describe is one line. Every text is redacted, whatever source it is from; the summary of an address has nothing to
// hide and is kept.
func describe(e record.Event) string {
	var d described
	if json.Unmarshal(e.Payload, &d) != nil {
		return string(e.Class)
	}
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, redact.Text(text, maxText))
		}
	}
	add(d.Method)
	if d.Status != 0 {
		add(strconv.Itoa(d.Status))
	}
	if e.Class == record.ClassConsole && (d.Type == "log" || d.Type == string(e.Severity)) {
		d.Type = "" // says what the severity says
	}
	for _, word := range []string{d.Type, d.Name, d.Kind, d.Stage, d.State, d.NavID} {
		add(word)
	}
	if d.Visible != nil {
		add(map[bool]string{true: "visible", false: "hidden"}[*d.Visible])
	}
	add(strings.Join(strings.Fields(d.Text), " "))
	if d.URL != nil {
		at := d.URL.String()
		if d.Line > 0 {
			at += ":" + strconv.Itoa(d.Line)
		}
		parts = append(parts, at)
	}
	add(d.Error)
	add(d.ErrorText)
	if d.Duration > 0 {
		parts = append(parts, strconv.FormatFloat(d.Duration, 'f', 0, 64)+" ms")
	}
	if len(parts) == 0 {
		return string(e.Class)
	}
	return redact.Name(strings.Join(parts, " "), maxText)
}

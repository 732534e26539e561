package eventquery

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/redact"
)

// maxLine bounds the text of a listed event in bytes.
const maxLine = 600

// Lines lays the page of events out for reading: one line for each event.
func (r Result) Lines() []string {
	lines := []string{r.heading()}
	for _, e := range r.Events {
		lines = append(lines, e.line())
	}
	for _, g := range r.Gaps {
		line := fmt.Sprintf("lost: %d events from %s", g.Count, session(g.StartNS))
		if g.EndNS != nil {
			line += " to " + session(*g.EndNS)
		}
		lines = append(lines, line+" ("+string(g.Reason)+")")
	}
	if r.NextCursor != "" {
		lines = append(lines, "more: repeat with cursor "+r.NextCursor)
	}
	return lines
}

func (r Result) heading() string {
	var counts []string
	for class, n := range r.Counts {
		counts = append(counts, fmt.Sprintf("%s %d", class, n))
	}
	slices.Sort(counts)
	heading := fmt.Sprintf("%d events", r.Total)
	if len(r.Events) < r.Total {
		heading = fmt.Sprintf("%d of %d events", len(r.Events), r.Total)
	}
	if len(counts) > 0 {
		heading += ": " + strings.Join(counts, ", ")
	}
	return heading
}

// line is session time, offset from the anchor, severity, class, what happened and where.
func (r Row) line() string {
	return fmt.Sprintf("%s (%+.1f ms) %s %s %s%s", session(r.AtNS), r.OffsetMS, r.Severity, r.Class, describe(r.Event, maxLine), circumstances(r.Payload))
}

func session(t clock.SessionTime) string { return fmt.Sprintf("%+.3f s", t.Duration().Seconds()) }

// circumstance are the payload fields that stand in brackets behind the description.
type circumstance struct {
	DurationMS float64  `json:"duration_ms"`
	FromCache  string   `json:"from_cache"`
	CORSError  string   `json:"cors_error"`
	Blocked    string   `json:"blocked_reason"`
	Canceled   bool     `json:"canceled"`
	Context    string   `json:"context"`
	Frame      string   `json:"frame"`
	Accepted   *bool    `json:"accepted"`
	Initiator  position `json:"initiator"`
	position
	Stack []position `json:"stack"`
}

type position struct {
	Function string `json:"function"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
}

func (p position) String() string {
	switch {
	case p.Line > 0 && p.Column > 0:
		return strings.TrimSpace(fmt.Sprintf("%s %d:%d", p.Function, p.Line, p.Column))
	case p.Line > 0:
		return strings.TrimSpace(fmt.Sprintf("%s line %d", p.Function, p.Line))
	}
	return p.Function
}

func circumstances(payload json.RawMessage) string {
	var c circumstance
	if json.Unmarshal(payload, &c) != nil {
		return ""
	}
	var notes []string
	note := func(when bool, text string) {
		if when {
			notes = append(notes, redact.Text(text, maxText))
		}
	}
	note(c.DurationMS > 0, fmt.Sprintf("%.1f ms", c.DurationMS))
	note(c.FromCache != "", "from "+c.FromCache+" cache")
	note(c.CORSError != "", "CORS "+c.CORSError)
	note(c.Blocked != "", "blocked: "+c.Blocked)
	note(c.Canceled, "canceled")
	note(c.Accepted != nil, map[bool]string{true: "accepted", false: "dismissed"}[c.Accepted != nil && *c.Accepted])
	note(c.Context != "", "in "+c.Context)
	note(c.Frame != "", c.Frame+" frame")
	where := append(c.Stack, c.position, c.Initiator)
	if at := slices.IndexFunc(where, func(p position) bool { return p.String() != "" }); at >= 0 {
		note(true, "at "+where[at].String())
	}
	if len(notes) == 0 {
		return ""
	}
	return " [" + strings.Join(notes, ", ") + "]"
}

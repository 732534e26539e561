package present

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/page"
)

// headFact is the one fact that matters most about a result.
func headFact(result any) string {
	switch r := result.(type) {
	case page.View:
		return fmt.Sprintf("%d targets", r.TargetCount)
	case Change:
		return changeFact(r)
	case Observation:
		return pageFact(r.Page)
	case Batch:
		return r.Outcome + fmt.Sprintf(", %d steps", len(r.Steps))
	case page.Status:
		return statusFact(r)
	case page.Pages:
		return fmt.Sprintf("%d pages", len(r.Pages))
	case page.QueryResult:
		return strings.TrimSpace(r.Outcome + " " + r.Ref)
	case page.WaitResult:
		return fmt.Sprintf("%s %s after %d ms", r.Condition, r.Outcome, r.WaitedMS)
	case page.StopResult:
		return strings.TrimSpace(r.Disposition + " " + r.Quality)
	case page.ScreenshotResult:
		return fmt.Sprintf("%dx%d %s", r.Width, r.Height, r.Format)
	case control.InteractionList:
		return fmt.Sprintf("%d interactions", len(r.Interactions))
	case evidence.FramesResult:
		return fmt.Sprintf("%d frames", len(r.Frames))
	}
	return ""
}

func pageFact(p page.PageState) string {
	if p.URL == "" && p.Title == "" {
		return ""
	}
	return printURL(p.URL) + " · " + strconv.Quote(p.Title)
}

// printURL keeps an address on one line.
func printURL(url string) string {
	return strings.NewReplacer("\n", "%0A", "\r", "%0D", "\t", "%09", " ", "%20").Replace(url)
}

func changeFact(c Change) string {
	if c.Observation == nil {
		return ""
	}
	if c.Dialog != nil {
		return "a " + c.Dialog.Type + " dialog is open"
	}
	if n := c.Navigation; n != nil && c.Tree == nil && c.Same == nil {
		return "navigation started → " + printURL(n.URL)
	}
	return ""
}

func statusFact(s page.Status) string {
	fact := string(s.State)
	if s.SessionID != "" {
		fact += " " + string(s.SessionID)
	}
	return fact
}

// body is the result itself as lines.
func body(result any, d Detail) []string {
	switch r := result.(type) {
	case interface{ Lines() []string }:
		return r.Lines()
	case Observation:
		return r.lines(false)
	case Change:
		return r.lines()
	case Batch:
		return r.lines(d)
	case page.QueryResult:
		return queryLines(r)
	}
	if lines, ok := temporalLines(result, d); ok {
		return lines
	}
	return facts(result)
}

func (c Change) lines() []string {
	var lines []string
	if c.Action != nil {
		lines = append(lines, facts(c.ownFacts())...)
	}
	if c.Observation != nil {
		lines = append(lines, c.Observation.lines(true)...)
	}
	return lines
}

func prefixed(lead string, lines []string) []string {
	if len(lines) > 0 {
		lines[0] = lead + strings.TrimLeft(lines[0], " ")
	}
	return lines
}

// lines lays an observation out: page, what is in the way, targets, outcomes, postconditions.
func (o Observation) lines(withPage bool) []string {
	var lines []string
	if fact := pageFact(o.Page); fact != "" && withPage {
		lines = append(lines, fact)
	}
	if o.Page.TargetID != "" {
		lines = append(lines, "page "+string(o.Page.TargetID)+focusText(o.Focus))
	}
	if o.Dialog != nil {
		lines = append(lines, fmt.Sprintf("dialog open: %s %s; next: handle_dialog", o.Dialog.Type, strconv.Quote(o.Dialog.Message)))
	}
	if o.Navigation != nil {
		lines = append(lines, o.navigationLine())
	}
	switch {
	case o.Tree != nil:
		lines = append(lines, o.Tree.Lines()...)
	case o.Same != nil:
		lines = append(lines, fmt.Sprintf("targets unchanged: generation %d, %d targets, %d omitted", o.Same.Generation, o.Same.TargetCount, o.Same.Omitted))
	}
	if o.Shot != nil {
		lines = append(lines, shotLine(*o.Shot))
	}
	for _, s := range o.Says {
		lines = append(lines, s.Role+": "+strconv.Quote(s.Text))
	}
	return append(lines, o.postLines()...)
}

func focusText(ref string) string {
	if ref == "" {
		return ""
	}
	return ", focus " + ref
}

func (o Observation) navigationLine() string {
	n := o.Navigation
	if o.Tree == nil && o.Same == nil && o.Dialog == nil && n.State != "complete" && n.State != "failed" {
		return fmt.Sprintf("navigation %s started → %s; next: wait navigation=complete", n.ID, printURL(n.URL))
	}
	return fmt.Sprintf("navigation %s %s → %s", n.ID, n.State, printURL(n.URL))
}

func shotLine(s page.Screenshot) string {
	line := fmt.Sprintf("screenshot %dx%d, %.4g CSS px a pixel", s.Width, s.Height, s.CSSPerPixel)
	if s.URI != "" {
		line += ", " + s.URI
	}
	if s.Marker != "" {
		line += ", " + s.Marker
	}
	return line
}

// postLines leave out the navigation that the observation already names.
func (o Observation) postLines() []string {
	p := o.Post
	if p == nil {
		return nil
	}
	shown := *p
	shown.Expectation = ""
	if o.Navigation != nil && p.Navigation != nil && p.Navigation.ID == o.Navigation.ID {
		shown.Navigation = nil
	}
	shown.Pages = nil
	if p.Downloads != nil && len(p.Downloads.Started) == 0 {
		shown.Downloads = nil
	}
	lines := prefixed("after: ", facts(shown))
	lines = append(lines, cursorsLine(p)...)
	if p.Expectation != "" {
		lines = append(lines, "expectation: "+p.Expectation)
	}
	return lines
}

// cursorsLine names on one line what waits for pages and downloads of this action count from.
func cursorsLine(p *page.Postconditions) []string {
	var cursors []string
	if p.Pages != nil {
		cursors = append(cursors, p.Pages.CursorBefore)
	}
	if p.Downloads != nil && len(p.Downloads.Started) == 0 {
		cursors = append(cursors, p.Downloads.CursorBefore)
	}
	if len(cursors) == 0 {
		return nil
	}
	return []string{"cursors before it: " + strings.Join(cursors, ", ")}
}

func (b Batch) lines(d Detail) []string {
	lines := []string{"batch " + string(b.ID)}
	for _, s := range b.Steps {
		lines = append(lines, stepLines(s, d)...)
	}
	if b.Final != nil {
		lines = append(lines, "finally:")
		lines = append(lines, b.Final.lines(true)...)
	}
	return lines
}

func stepLines(s control.StepResult, d Detail) []string {
	line := fmt.Sprintf("step %d %s %s", s.Index, s.Tool, s.Status)
	if s.StartedNS != nil {
		line += " at " + at(int64(*s.StartedNS))
	}
	if s.Interaction != nil {
		line += " " + string(s.Interaction.ID)
	}
	if s.Error != nil {
		line += ": " + describe(s.Error)
	}
	if s.SkipReason != "" {
		line += ": " + s.SkipReason
	}
	lines := []string{line}
	if s.Result != nil {
		for _, inner := range body(s.Result, d) {
			lines = append(lines, "  "+inner)
		}
	}
	if s.Screenshot != nil {
		lines = append(lines, "  "+shotLine(*s.Screenshot))
	}
	return lines
}

func queryLines(q page.QueryResult) []string {
	line := fmt.Sprintf("%d matches, generation %d", q.Count, q.Generation)
	if q.Omitted > 0 {
		line += fmt.Sprintf(", %d not listed", q.Omitted)
	}
	for _, c := range []struct {
		name  string
		count *page.Count
	}{{"with ~= instead of =", q.Relaxed}, {"without the container", q.Uncontained}, {"not actionable", q.NonActionable}} {
		if c.count != nil {
			line += fmt.Sprintf(", %s: %d%s", c.name, c.count.Count, more(c.count.Saturated))
		}
	}
	lines := []string{line}
	for _, m := range q.Matches {
		lines = append(lines, "- "+page.Node{Role: m.Role, Name: m.Name, States: m.States}.Line()+within(m.Container))
	}
	return lines
}

func more(saturated bool) string {
	if saturated {
		return " or more"
	}
	return ""
}

func within(container string) string {
	if container == "" {
		return ""
	}
	return " in " + strconv.Quote(container)
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

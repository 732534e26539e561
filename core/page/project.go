package page

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/krometrail/krometrail/core/id"
)

// Budgets of the bounded projections.
const (
	conciseTargets, conciseText   = 40, 6 << 10
	expandedTargets, expandedText = 80, 24 << 10
	// nameText and valueText bound one name and value in bounded projections, in bytes.
	nameText, valueText = 160, 160
)

// View is a projection of a snapshot.
type View struct {
	Generation  uint64      `json:"generation"`
	Source      string      `json:"source"`
	TargetCount int         `json:"target_count"`
	Frames      []FrameView `json:"frames"`
	Omitted     Omissions   `json:"omissions"`
	// deep views print nodes with their depth.
	deep bool
}

// FrameView is one document frame of a projection. Concise projections have targets in ranked order, the
// others nodes in document order.
type FrameView struct {
	Frame       id.DocumentFrame `json:"frame_id,omitempty"`
	Origin      string           `json:"origin"`
	Main        bool             `json:"main,omitempty"`
	Generation  uint64           `json:"generation,omitempty"`
	Targets     []Node           `json:"targets,omitempty"`
	Nodes       []Node           `json:"nodes,omitempty"`
	Unavailable string           `json:"unavailable,omitempty"`
	// OmittedNodes counts nodes that were not acquired.
	OmittedNodes int `json:"omitted_nodes,omitempty"`
}

// Omissions counts exactly what a projection left out of what was acquired.
type Omissions struct {
	Targets int `json:"targets"`
	// Nodes counts other nodes; concise projections have only targets and do not count the rest.
	Nodes int `json:"nodes"`
	// Shortened counts names and values that were cut.
	Shortened int `json:"shortened"`
}

// Concise is the ranked target index: at most 40 targets and 6 KiB of text.
func (s Snapshot) Concise() View {
	v := s.view()
	chosen := s.choose(conciseTargets, conciseText)
	for _, c := range chosen.order {
		n, cut := shorten(s.Sections[c.section].Nodes[c.node])
		n.Depth = 0
		v.Omitted.Shortened += cut
		v.Frames[c.section].Targets = append(v.Frames[c.section].Targets, n)
	}
	v.Omitted.Targets = v.TargetCount - len(chosen.order)
	return v
}

// Expanded adds context in document order: at most 80 targets and 24 KiB of text.
func (s Snapshot) Expanded() View {
	v := s.view()
	v.deep = true
	chosen := s.choose(expandedTargets, expandedText*2/3)
	left := expandedText - chosen.bytes
	for k, section := range s.Sections {
		for i, n := range section.Nodes {
			n, cut := shorten(n)
			size := len(line(n)) + 2*n.Depth + 1
			taken := chosen.set[choice{k, i}]
			if !taken && n.Ref == "" && size <= left {
				taken, left = true, left-size
			}
			switch {
			case taken:
				v.Frames[k].Nodes = append(v.Frames[k].Nodes, n)
				v.Omitted.Shortened += cut
			case n.Ref != "":
				v.Omitted.Targets++
			default:
				v.Omitted.Nodes++
			}
		}
	}
	return v
}

// Full is everything that was acquired.
func (s Snapshot) Full() View {
	v := s.view()
	v.deep = true
	for k, section := range s.Sections {
		v.Frames[k].Nodes = section.Nodes
	}
	return v
}

// Unchanged is the marker that stands for this snapshot when it equals the one before.
func (s Snapshot) Unchanged() *Unchanged {
	v := s.Concise()
	return &Unchanged{Generation: s.Generation, Unchanged: true, TargetCount: v.TargetCount, Omitted: v.Omitted.Targets}
}

func (s Snapshot) view() View {
	v := View{Generation: s.Generation, Source: s.Source, TargetCount: s.Targets(), Frames: make([]FrameView, len(s.Sections))}
	for i, f := range s.Sections {
		v.Frames[i] = FrameView{Frame: f.Frame, Origin: f.Origin, Main: f.Main, Generation: f.Generation,
			Unavailable: f.Unavailable, OmittedNodes: f.OmittedNodes}
	}
	return v
}

type choice struct{ section, node int }

type selection struct {
	order []choice
	set   map[choice]bool
	bytes int
}

// choose takes targets by rank while they fit. One that does not fit is skipped; smaller ones may follow.
func (s Snapshot) choose(count, budget int) selection {
	var ranked [8][]choice
	for k, section := range s.Sections {
		for i := range section.Nodes {
			if n := &section.Nodes[i]; n.Ref != "" {
				r := s.rank(n)
				ranked[r] = append(ranked[r], choice{k, i})
			}
		}
	}
	chosen := selection{set: map[choice]bool{}}
	for _, c := range slices.Concat(ranked[:]...) {
		if len(chosen.order) == count {
			break
		}
		n, _ := shorten(s.Sections[c.section].Nodes[c.node])
		size := len(line(n)) + 1
		if chosen.bytes+size > budget {
			continue
		}
		chosen.bytes += size
		chosen.order = append(chosen.order, c)
		chosen.set[c] = true
	}
	return chosen
}

// rank: focused, editable, other, link; with FromViewport all of that on screen first.
func (s Snapshot) rank(n *Node) int {
	r := 2
	switch {
	case n.Has("focused"):
		r = 0
	case n.Editable:
		r = 1
	case n.Link:
		r = 3
	}
	if s.FromViewport && !n.OnScreen && r != 0 {
		r += 4
	}
	return r
}

func shorten(n Node) (Node, int) {
	cut := 0
	if len(n.Name) > nameText {
		n.Name, cut = clip(n.Name, nameText), cut+1
	}
	if len(n.Value) > valueText {
		n.Value, cut = clip(n.Value, valueText), cut+1
	}
	n.URL = ""
	return n, cut
}

// clip cuts at a character's border and marks the cut.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Line is the node as one line of text: e42@7 button "Save" [focused].
func (n Node) Line() string { return line(n) }

func line(n Node) string {
	var b strings.Builder
	if n.Ref != "" {
		b.WriteString(n.Ref + " ")
	}
	b.WriteString(n.Role)
	if name := visible(n.Name); name != "" {
		b.WriteString(" " + printable(name))
	}
	if n.Value != "" {
		b.WriteString(" = " + printable(n.Value))
	}
	if len(n.States) > 0 {
		b.WriteString(" [" + strings.Join(n.States, " ") + "]")
	}
	return b.String()
}

// visible is a name as it is shown: without icon glyphs and characters that nobody sees.
func visible(name string) string {
	if plain(name) {
		return name
	}
	if strings.IndexFunc(name, func(r rune) bool { return privateUse(r) || misleading(r) }) < 0 {
		return name
	}
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case privateUse(r):
			return ' '
		case misleading(r):
			return -1
		}
		return r
	}, name)), " ")
}

// misleading characters change nothing visible, or how the text around them is read.
func misleading(r rune) bool {
	return r == 0x00AD || r == 0x200B || r == 0xFEFF || (r >= 0x202A && r <= 0x202E) || (r >= 0x2066 && r <= 0x2069)
}

// printable quotes a page's text so that it stays on one line and cannot be taken for our own words.
func printable(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, `"`, `\"`, `\`, `\\`, "\u2028", `\n`, "\u2029", `\n`).Replace(text) + `"`
}

// Lines is the projection as text: targets, one a line, every child frame headed by its origin.
func (v View) Lines() []string {
	lines := []string{fmt.Sprintf("generation %d, %d targets%s", v.Generation, v.TargetCount, v.Omitted.text())}
	for _, f := range v.Frames {
		lines = append(lines, f.lines(v.deep)...)
	}
	return lines
}

func (f FrameView) lines(deep bool) []string {
	var lines []string
	indent := ""
	if !f.Main {
		lines = append(lines, f.head())
		indent = "  "
	}
	for _, n := range f.Targets {
		lines = append(lines, indent+line(n))
	}
	for _, n := range f.Nodes {
		depth := 0
		if deep {
			depth = n.Depth
		}
		lines = append(lines, indent+strings.Repeat("  ", depth)+line(n))
	}
	return lines
}

func (f FrameView) head() string {
	head := fmt.Sprintf("frame %s %s", f.Frame, f.Origin)
	if f.Unavailable != "" {
		head += ": " + f.Unavailable
		if f.OmittedNodes > 0 {
			head += fmt.Sprintf(", %d nodes omitted", f.OmittedNodes)
		}
	}
	return head
}

func (o Omissions) text() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(o.Targets, "targets omitted")
	add(o.Nodes, "other nodes omitted")
	add(o.Shortened, "texts shortened")
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

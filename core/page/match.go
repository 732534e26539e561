package page

import (
	"fmt"
	"strings"

	"github.com/krometrail/krometrail/core/fault"
)

// Bounds of semantic matching.
const (
	// ScanLimit caps the informational counts.
	ScanLimit = 100
	// ContainerText is the most rendered text, in bytes, with which a generic ancestor qualifies a control.
	ContainerText = 512
)

// Outcomes of a query.
const (
	NoMatch   = "no_match"
	Unique    = "unique"
	Ambiguous = "ambiguous"
	Truncated = "truncated"
)

// QueryRequest asks which element a semantic query means.
type QueryRequest struct {
	Scope
	Query      string `json:"query" doc:"such as role=button name=\"Save\", role=button text~=\"Apollo\" (text of its row or item), label=\"E-mail\", text~=\"saved\", test_id=pay; optional within=e12@7, frame=ifr_..." maxlen:"1024"`
	MaxMatches int    `json:"max_matches,omitempty" min:"1" max:"100" default:"20"`
}

// PageRefs implements capability.PageScoped.
func (r *QueryRequest) PageRefs() []string { return Element{Query: r.Query}.Refs() }

// Validate fills in defaults and checks.
func (r *QueryRequest) Validate() error {
	if r.Query == "" {
		return fault.Input("query", "must not be empty")
	}
	return first(Element{Query: r.Query}.checkText(""), within(&r.MaxMatches, "max_matches", 1, 100, 20))
}

// QueryResult is what a query means on the present page. Only a unique match carries a reference.
type QueryResult struct {
	Outcome    string `json:"outcome"`
	Generation uint64 `json:"generation"`
	Ref        string `json:"ref,omitempty"`
	// Matches are described without references, except that a unique one is described too.
	Matches []Candidate `json:"matches"`
	// Count is the number of matches, Omitted those beyond max_matches.
	Count   int `json:"match_count"`
	Omitted int `json:"omitted"`
	// Relaxed counts what the query would match with every exact text matcher as contains.
	Relaxed *Count `json:"relaxed_match_count,omitempty"`
	// Uncontained counts what the query would match without its container qualifier.
	Uncontained *Count `json:"uncontained_match_count,omitempty"`
	// NonActionable counts matching nodes that cannot be acted on.
	NonActionable *Count `json:"non_actionable_match_count,omitempty"`
}

// Count is capped at ScanLimit and then Saturated.
type Count struct {
	Count     int  `json:"count"`
	Saturated bool `json:"saturated"`
}

// Candidate describes a match by what tells it from others.
type Candidate struct {
	Role      string   `json:"role"`
	Name      string   `json:"name,omitempty"`
	States    []string `json:"states,omitempty"`
	Container string   `json:"container,omitempty"`
}

// Match evaluates a query over one document's nodes, acquired with semantics when the query needs them.
// scope is the index of the node whose descendants are searched, -1 for all.
func Match(nodes []Node, q Query, scope, maxMatches int) QueryResult {
	m := newMatching(nodes, scope)
	found := m.find(q, actionable)
	result := QueryResult{Count: len(found), Matches: []Candidate{}}
	switch {
	case len(found) == 0:
		result.Outcome = NoMatch
		m.explain(q, &result)
	case len(found) == 1:
		result.Outcome, result.Ref = Unique, nodes[found[0]].Ref
	case len(found) > maxMatches:
		result.Outcome = Truncated
	default:
		result.Outcome = Ambiguous
	}
	for _, i := range found[:min(len(found), maxMatches)] {
		result.Matches = append(result.Matches, m.candidate(i))
	}
	result.Omitted = len(found) - len(result.Matches)
	return result
}

// Present counts the matches in the whole tree, actionable or not.
func Present(nodes []Node, q Query, scope int) int {
	return len(newMatching(nodes, scope).find(q, anything))
}

type admission int

const (
	actionable admission = iota
	inert
	anything
)

func (a admission) admits(n *Node) bool {
	switch a {
	case actionable:
		return n.Ref != ""
	case inert:
		return n.Ref == ""
	default:
		return true
	}
}

// matching holds the shape of one tree: subtrees are contiguous in preorder, and so is their text.
type matching struct {
	nodes      []Node
	parent     []int
	end        []int // first index after the subtree
	text       string
	textStart  []int
	from, upTo int
}

func newMatching(nodes []Node, scope int) *matching {
	m := &matching{nodes: nodes, parent: make([]int, len(nodes)), end: make([]int, len(nodes)), textStart: make([]int, len(nodes)+1), upTo: len(nodes)}
	var b strings.Builder
	var open []int
	for i, n := range nodes {
		for len(open) > 0 && nodes[open[len(open)-1]].Depth >= n.Depth {
			m.end[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		m.parent[i] = -1
		if len(open) > 0 {
			m.parent[i] = open[len(open)-1]
		}
		open = append(open, i)
		m.textStart[i] = b.Len()
		if n.Rendered == "" && n.Role == RoleText {
			// Acquired without semantics: enough to tell candidates apart.
			b.WriteString(" " + n.Name + " ")
		}
		b.WriteString(n.Rendered)
	}
	for _, i := range open {
		m.end[i] = len(nodes)
	}
	m.textStart[len(nodes)] = b.Len()
	m.text = b.String()
	if scope >= 0 {
		m.from, m.upTo = scope+1, m.end[scope]
	}
	return m
}

// rendered is the normalised text rendered within node i.
func (m *matching) rendered(i int) string { return Normalize(m.raw(i)) }

func (m *matching) raw(i int) string { return m.text[m.textStart[i]:m.textStart[m.end[i]]] }

// find lists the matches in preorder. For rendered text only the innermost matching nodes count.
func (m *matching) find(q Query, who admission) []int {
	var found []int
	for i := m.from; i < m.upTo; i++ {
		if who.admits(&m.nodes[i]) && m.matches(i, q) {
			found = append(found, i)
		}
	}
	if q.Text != nil && !q.Contained() {
		return m.innermost(found)
	}
	return found
}

func (m *matching) innermost(found []int) []int {
	var kept []int
	for k, i := range found {
		if k+1 < len(found) && found[k+1] < m.end[i] {
			continue
		}
		kept = append(kept, i)
	}
	return kept
}

func (m *matching) matches(i int, q Query) bool {
	n := &m.nodes[i]
	if q.Role != "" && n.Role != q.Role {
		return false
	}
	if q.Name != nil && (n.Role == RoleText || !q.Name.Match(Normalize(n.Name))) {
		return false
	}
	if q.Label != nil && !q.Label.Match(Normalize(n.Label)) {
		return false
	}
	if q.TestID != nil && !q.TestID.Match(Normalize(n.TestID)) {
		return false
	}
	switch {
	case q.Contained():
		return m.contained(i, q.Text)
	case q.Text != nil:
		return m.shows(i, q.Text)
	}
	return true
}

// shows reports whether the node renders the text. Controls without text of their own show their name.
func (m *matching) shows(i int, t *Matcher) bool {
	if text := m.rendered(i); text != "" {
		return t.Match(text)
	}
	return m.nodes[i].Ref != "" && t.Match(Normalize(m.nodes[i].Name))
}

// contained decides the container qualifier. The nearest explicit container is authoritative; without one,
// generic ancestors qualify while their text stays within the bound.
func (m *matching) contained(i int, t *Matcher) bool {
	if c := m.container(i); c >= 0 {
		return m.holds(c, t)
	}
	for a := m.parent[i]; a >= 0; a = m.parent[a] {
		if m.nodes[a].Role != "generic" {
			continue
		}
		if len(m.raw(a)) > 4*ContainerText || len(m.rendered(a)) > ContainerText {
			return false
		}
		if m.holds(a, t) {
			return true
		}
	}
	return false
}

// container is the nearest explicit container: the node itself when its role is one, else an ancestor.
func (m *matching) container(i int) int {
	for a := i; a >= 0; a = m.parent[a] {
		if containerRoles[m.nodes[a].Role] {
			return a
		}
	}
	return -1
}

// holds reports whether container c renders the text: as a part for contains; for exact as its whole text or
// as the whole text of something in it.
func (m *matching) holds(c int, t *Matcher) bool {
	if t.Contains {
		return t.Match(m.rendered(c))
	}
	for i := c; i < m.end[c]; i++ {
		if t.Match(m.rendered(i)) {
			return true
		}
	}
	return false
}

func (m *matching) explain(q Query, result *QueryResult) {
	if q.exact() {
		result.Relaxed = capped(len(m.find(q.relaxed(), actionable)))
	}
	if q.Contained() {
		without := q
		without.Text = nil
		result.Uncontained = &Count{}
		if c := capped(len(m.find(without, actionable))); c != nil {
			result.Uncontained = c
		}
	}
	result.NonActionable = capped(len(m.find(q, inert)))
}

// capped is nil for none.
func capped(n int) *Count {
	if n == 0 {
		return nil
	}
	return &Count{Count: min(n, ScanLimit), Saturated: n > ScanLimit}
}

func (m *matching) candidate(i int) Candidate {
	n := m.nodes[i]
	c := Candidate{Role: n.Role, Name: clip(n.Name, 120), States: n.States}
	if k := m.container(m.parent[i]); m.parent[i] >= 0 && k >= 0 {
		c.Container = m.nodes[k].Role
		if text := firstNonEmpty(Normalize(m.nodes[k].Name), m.rendered(k)); text != "" {
			c.Container += " " + clip(text, 80)
		}
	}
	return c
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// containerRoles are the roles whose extent says what belongs together. Cells are not among them: what is
// said about a control in a table is said by its row.
var containerRoles = map[string]bool{
	"row": true, "listitem": true, "article": true, "group": true, "radiogroup": true, "region": true, "form": true,
	"dialog": true, "alertdialog": true, "treeitem": true, "tabpanel": true, "figure": true, "toolbar": true,
	"menuitem": true, "option": true,
}

// Explain is the counts of a query without match as the end of a sentence, "" without any.
func (r QueryResult) Explain() string {
	text := ""
	add := func(c *Count, what string) {
		if c == nil || c.Count == 0 {
			return
		}
		more := ""
		if c.Saturated {
			more = " or more"
		}
		text += fmt.Sprintf("; %d%s %s", c.Count, more, what)
	}
	add(r.Relaxed, "would match with ~= in place of =")
	add(r.Uncontained, "would match without the container text")
	add(r.NonActionable, "match but cannot be acted on")
	return text
}

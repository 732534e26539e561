package page_test

import (
	"strings"
	"testing"

	"github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// tree reads an indented outline: "role name" with * before targets, "= text" for rendered text, #id for a test id,
// @label for a label.
func tree(outline string) []page.Node {
	var nodes []page.Node
	for i, row := range strings.Split(strings.Trim(outline, "\n"), "\n") {
		content := strings.TrimLeft(row, " ")
		n := page.Node{Depth: (len(row) - len(content)) / 2, Serial: uint64(i + 1)}
		if text, ok := strings.CutPrefix(content, "= "); ok {
			n.Role, n.Name, n.Rendered, n.Serial = page.RoleText, text, text+" ", 0
			nodes = append(nodes, n)
			continue
		}
		content, target := strings.CutPrefix(content, "*")
		if target {
			n.Ref = page.Ref{Node: n.Serial, Generation: 1}.String()
		}
		content, n.Label, _ = strings.Cut(content, " @")
		content, n.TestID, _ = strings.Cut(content, " #")
		n.Role, n.Name, _ = strings.Cut(content, " ")
		nodes = append(nodes, n)
	}
	return nodes
}

const orders = `
main Orders
  table
    row
      cell
        = Apollo
      cell
        *button Edit
        *button
    row
      cell
        = Gemini
      cell
        *button Edit
  heading Totals
    = Totals
  generic
    generic
      = Newsletter
    *checkbox
  list
    listitem
      *link Cargo.toml, (File) #cargo
        = Cargo.toml
  *textbox Mail @E-mail
  = All saved
`

func match(t *testing.T, query string, limit int) page.QueryResult {
	t.Helper()
	q, err := page.ParseQuery(query)
	require.NoError(t, err, query)
	return page.Match(tree(orders), q, -1, limit)
}

func TestMatchOutcomes(t *testing.T) {
	unique := func(query, ref string) {
		t.Helper()
		r := match(t, query, 20)
		assert.Equal(t, page.Unique, r.Outcome, query)
		assert.Equal(t, ref, r.Ref, query)
	}
	unique(`role=button name="Edit" text="Apollo"`, "e7@1")
	unique(`role=button name="Edit" text~="Gem"`, "e13@1")
	unique(`role=checkbox text="Newsletter"`, "e19@1")
	unique(`test_id=cargo`, "e22@1")
	unique(`label="E-mail"`, "e24@1")
	unique(`role=link`, "e22@1")
	unique(`text="Cargo.toml"`, "e22@1")

	r := match(t, `role=button name="Edit"`, 20)
	assert.Equal(t, page.Ambiguous, r.Outcome)
	assert.Empty(t, r.Ref, "nothing ambiguous gets a reference")
	assert.Len(t, r.Matches, 2)
	assert.Contains(t, r.Matches[0].Container, "Apollo")

	r = match(t, `role=button name="Edit"`, 1)
	assert.Equal(t, page.Truncated, r.Outcome)
	assert.Empty(t, r.Ref)
	assert.Equal(t, 1, r.Omitted)
	assert.Equal(t, 2, r.Count)
}

func TestMatchExplainsItsFailure(t *testing.T) {
	r := match(t, `role=link name="Cargo.toml"`, 20)
	assert.Equal(t, page.NoMatch, r.Outcome)
	assert.Equal(t, &page.Count{Count: 1}, r.Relaxed)
	assert.Nil(t, r.Uncontained)
	assert.Contains(t, r.Explain(), "1 would match with ~=")

	r = match(t, `role=link name~="nothing"`, 20)
	assert.Nil(t, r.Relaxed, "no exact matcher, no relaxed count")

	r = match(t, `role=button name="Edit" text="Mercury"`, 20)
	assert.Equal(t, &page.Count{Count: 2}, r.Uncontained)

	r = match(t, `role=heading name="Totals"`, 20)
	assert.Equal(t, &page.Count{Count: 1}, r.NonActionable)
	assert.Nil(t, r.Relaxed, "the relaxation would still match nothing that can be acted on")

	r = match(t, `role=dialog`, 20)
	assert.Nil(t, r.NonActionable)
}

func TestTheNearestExplicitContainerIsAuthoritative(t *testing.T) {
	q, err := page.ParseQuery(`role=button text~="Apollo"`)
	require.NoError(t, err)
	nodes := tree("region Apollo missions\n  = Apollo missions\n  listitem\n    = Gemini\n    *button")
	assert.Equal(t, page.NoMatch, page.Match(nodes, q, -1, 20).Outcome, "the item, not the region around it, decides")
}

func TestPageScaleGenericsNeverQualify(t *testing.T) {
	long := strings.Repeat("word ", 200)
	q, err := page.ParseQuery(`role=button text~="word"`)
	require.NoError(t, err)
	assert.Equal(t, page.NoMatch, page.Match(tree("generic\n  = "+long+"\n  *button"), q, -1, 20).Outcome)
	assert.Equal(t, page.Unique, page.Match(tree("generic\n  = word\n  *button"), q, -1, 20).Outcome)
}

func TestCountsSaturate(t *testing.T) {
	var b strings.Builder
	for range 150 {
		b.WriteString("\n*link Item one")
	}
	q, err := page.ParseQuery(`role=link name="Item"`)
	require.NoError(t, err)
	r := page.Match(tree(b.String()), q, -1, 20)
	assert.Equal(t, &page.Count{Count: page.ScanLimit, Saturated: true}, r.Relaxed)
}

func TestWithinLimitsToDescendants(t *testing.T) {
	q, err := page.ParseQuery(`role=button name="Edit"`)
	require.NoError(t, err)
	nodes := tree(orders)
	assert.Equal(t, "e13@1", page.Match(nodes, q, 8, 20).Ref)
	assert.Equal(t, page.NoMatch, page.Match(nodes, q, 12, 20).Outcome, "an element is not its own descendant")
}

func TestPresentSeesTheFullTree(t *testing.T) {
	for query, want := range map[string]int{`text~="saved"`: 1, `role=heading`: 1, `text="Totals"`: 1, `role=button`: 3, `text="absent"`: 0} {
		q, err := page.ParseQuery(query)
		require.NoError(t, err)
		assert.Equal(t, want, page.Present(tree(orders), q, -1), query)
	}
}

// TestMatchAgainstALiteralReading compares with the rules written down directly, over random trees.
func TestMatchAgainstALiteralReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := randomTree(t)
		q := page.Query{Role: rapid.SampledFrom([]string{"", "button", "row", "link"}).Draw(t, "role")}
		value := rapid.SampledFrom([]string{"a", "b", "ab", "a b"}).Draw(t, "value")
		m := &page.Matcher{Value: value, Contains: rapid.Bool().Draw(t, "contains")}
		if q.Role == "" || rapid.Bool().Draw(t, "named") {
			q.Name = m
		}
		r := page.Match(nodes, q, -1, 5)
		var want []string
		for _, n := range nodes {
			if n.Ref != "" && (q.Role == "" || n.Role == q.Role) && (q.Name == nil || n.Role != page.RoleText && m.Match(page.Normalize(n.Name))) {
				want = append(want, n.Ref)
			}
		}
		assert.Equal(t, len(want), r.Count)
		if len(want) == 1 {
			assert.Equal(t, want[0], r.Ref)
		} else {
			assert.Empty(t, r.Ref, "a reference stands only for a unique match")
		}
		assert.Equal(t, r.Count, len(r.Matches)+r.Omitted)
	})
}

func randomTree(t *rapid.T) []page.Node {
	count := rapid.IntRange(0, 40).Draw(t, "nodes")
	nodes := make([]page.Node, 0, count)
	depth := 0
	for i := range count {
		n := page.Node{
			Depth: depth, Serial: uint64(i + 1), Role: rapid.SampledFrom([]string{"generic", "row", "button", "link", "text"}).Draw(t, "kind"),
			Name: rapid.SampledFrom([]string{"", "a", "b", "ab", " a  b "}).Draw(t, "name"),
		}
		if n.Role == page.RoleText {
			n.Rendered = n.Name
		} else if n.Role != "generic" {
			n.Ref = page.Ref{Node: n.Serial, Generation: 1}.String()
		}
		nodes = append(nodes, n)
		depth = rapid.IntRange(0, depth+1).Draw(t, "depth")
	}
	return nodes
}

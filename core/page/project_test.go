package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func shop() page.Snapshot {
	return page.Snapshot{Generation: 7, Source: page.SourceWalk, Sections: []page.Section{
		{Origin: "https://shop.example", Main: true, Generation: 7, Nodes: []page.Node{
			{Depth: 0, Role: "heading", Name: "Shop"},
			{Ref: "e1@7", Depth: 0, Role: "link", Name: "Home", Link: true, URL: "https://shop.example/"},
			{Ref: "e2@7", Depth: 0, Role: "button", Name: "Save", States: []string{"disabled"}},
			{Ref: "e3@7", Depth: 1, Role: "textbox", Name: "Mail", Value: "a@b", Editable: true},
			{Ref: "e4@7", Depth: 1, Role: "textbox", Name: "Note", Editable: true, States: []string{"focused", "multiline"}},
			{Depth: 1, Role: page.RoleText, Name: "say \"hi\"\nnow"},
		}},
		{Frame: "ifr_0123456789ab", Origin: "https://pay.example", Generation: 9, Nodes: []page.Node{{Ref: "e1@9", Role: "button", Name: "Pay"}}},
		{Origin: "https://ads.example", Nodes: []page.Node{}, Unavailable: "too_large", OmittedNodes: 60000},
	}}
}

func TestConciseIsARankedIndex(t *testing.T) {
	assert.Equal(t, strings.Split(`generation 7, 5 targets
e4@7 textbox "Note" [focused multiline]
e3@7 textbox "Mail" = "a@b"
e2@7 button "Save" [disabled]
e1@7 link "Home"
frame ifr_0123456789ab https://pay.example
  e1@9 button "Pay"
frame  https://ads.example: too_large, 60000 nodes omitted`, "\n"), shop().Concise().Lines())
}

func TestExpandedKeepsDocumentOrderAndContext(t *testing.T) {
	lines := shop().Expanded().Lines()
	assert.Equal(t, `heading "Shop"`, lines[1])
	assert.Equal(t, `  e3@7 textbox "Mail" = "a@b"`, lines[4])
	assert.Equal(t, `  text "say \"hi\"\nnow"`, lines[6], "a page's text stays on one line")
}

func TestFullIsEverything(t *testing.T) {
	v := shop().Full()
	assert.Len(t, v.Frames[0].Nodes, 6)
	assert.Equal(t, page.Omissions{}, v.Omitted)
	assert.Equal(t, "https://shop.example/", v.Frames[0].Nodes[1].URL)
}

func TestUnchangedComparesWhatTheAgentSees(t *testing.T) {
	assert.True(t, shop().SameAs(shop()))
	for name, change := range map[string]func(*page.Snapshot){
		"generation": func(s *page.Snapshot) { s.Generation++ }, "name": func(s *page.Snapshot) { s.Sections[0].Nodes[2].Name = "x" },
		"value": func(s *page.Snapshot) { s.Sections[0].Nodes[3].Value = "x" }, "state": func(s *page.Snapshot) { s.Sections[0].Nodes[2].States = nil },
		"child": func(s *page.Snapshot) { s.Sections[1].Nodes[0].Ref = "e2@9" }, "frame": func(s *page.Snapshot) { s.Sections = s.Sections[:2] },
		"unavailable": func(s *page.Snapshot) { s.Sections[2].Unavailable = "gone" },
	} {
		changed := shop()
		change(&changed)
		assert.False(t, shop().SameAs(changed), name)
	}
	assert.Equal(t, &page.Unchanged{Generation: 7, Unchanged: true, TargetCount: 5}, shop().Unchanged())
}

func TestViewportAnchorRanksWhatIsOnScreen(t *testing.T) {
	s := shop()
	s.FromViewport = true
	s.Sections[0].Nodes[1].OnScreen = true
	assert.Equal(t, "e1@7", s.Concise().Frames[0].Targets[1].Ref, "after the focused one")
}

func TestBudgetsHoldAndOmissionsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s page.Snapshot
		s.Sections = []page.Section{{Main: true, Generation: 1}}
		for i := range rapid.IntRange(0, 200).Draw(t, "nodes") {
			n := page.Node{Role: "button", Depth: rapid.IntRange(0, 3).Draw(t, "depth"), Name: strings.Repeat("é", rapid.IntRange(0, 400).Draw(t, "name"))}
			if rapid.Bool().Draw(t, "target") {
				n.Ref = fmt.Sprintf("e%d@1", i+1)
				n.Link = rapid.Bool().Draw(t, "link")
			}
			s.Sections[0].Nodes = append(s.Sections[0].Nodes, n)
		}
		check := func(v page.View, most, bytes int) {
			shown := 0
			for _, n := range append(v.Frames[0].Targets, v.Frames[0].Nodes...) {
				if n.Ref != "" {
					shown++
				}
			}
			assert.LessOrEqual(t, shown, most)
			assert.Equal(t, s.Targets(), shown+v.Omitted.Targets)
			assert.LessOrEqual(t, len(strings.Join(v.Lines()[1:], "\n")), bytes)
		}
		check(s.Concise(), 40, 6<<10)
		expanded := s.Expanded()
		check(expanded, 80, 24<<10)
		assert.Equal(t, len(s.Sections[0].Nodes), len(expanded.Frames[0].Nodes)+expanded.Omitted.Targets+expanded.Omitted.Nodes)
	})
}

func TestASmallerTargetMayFollowOneThatDoesNotFit(t *testing.T) {
	s := page.Snapshot{Sections: []page.Section{{Main: true}}}
	for i := range 45 {
		s.Sections[0].Nodes = append(s.Sections[0].Nodes, page.Node{Ref: fmt.Sprintf("e%d@1", i+1), Role: "button", Name: strings.Repeat("x", 155)})
	}
	s.Sections[0].Nodes = append(s.Sections[0].Nodes, page.Node{Ref: "e99@1", Role: "button", Name: "ok"})
	v := s.Concise()
	last := v.Frames[0].Targets[len(v.Frames[0].Targets)-1]
	assert.Equal(t, "e99@1", last.Ref)
}

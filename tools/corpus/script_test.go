package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/tools/fixtures"
)

func TestParseStep(t *testing.T) {
	s, err := parseStep(`fill query='role=textbox name="Message"' value='Hello\nteam \u00e9' count=2 keys=["a b","c"] from={"css":"#x"}`)
	require.NoError(t, err)
	assert.Equal(t, "fill", s.tool)
	assert.JSONEq(t, `"role=textbox name=\"Message\""`, s.arguments["query"])
	assert.JSONEq(t, `"Hello\nteam é"`, s.arguments["value"])
	assert.JSONEq(t, `2`, s.arguments["count"])
	assert.JSONEq(t, `["a b","c"]`, s.arguments["keys"])
	assert.JSONEq(t, `{"css":"#x"}`, s.arguments["from"])

	s, err = parseStep(`!stale_reference click ref='$old'`)
	require.NoError(t, err)
	assert.Equal(t, "stale_reference", s.code)

	s, err = parseStep(`let old result.ref query_page query='x'`)
	require.NoError(t, err)
	assert.Equal(t, []string{"old", "result.ref", "query_page"}, []string{s.keep, s.path, s.tool})
}

func TestParseStepRefuses(t *testing.T) {
	for _, bad := range []string{"open", "let x", "click count=two", "click 'x'", "click query='x"} {
		_, err := parseStep(bad)
		assert.Error(t, err, bad)
	}
}

// Every case can be read, has a name of its own and opens a page that exists; every page has a case.
func TestCases(t *testing.T) {
	cases, err := loadCases()
	require.NoError(t, err)
	pages := map[string]bool{}
	for _, p := range fixtures.Pages() {
		pages[p.Path] = false
	}
	names := map[string]bool{}
	for _, c := range cases {
		name := c.file + "/" + c.name
		assert.False(t, names[name], "%s is there twice", name)
		names[name] = true
		for _, s := range c.steps {
			if s.verb != "open" {
				continue
			}
			path, _, _ := strings.Cut(s.operand, "?")
			if _, ok := pages[path]; ok {
				pages[path] = true
			} else {
				assert.Regexp(t, `^/(nodes|deep|redirect|landed|status|frame|refresh|slow)`, path, name)
			}
		}
	}
	for path, played := range pages {
		assert.True(t, played, "no case opens %s", path)
	}
}

package mcp

import (
	"context"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/mcp/catalogue"
	"github.com/krometrail/krometrail/mcp/client"
)

func TestAdviceOfToolsThatAreNotListed(t *testing.T) {
	outcome := func() capability.Outcome {
		return capability.Outcome{
			Status: capability.Failed, Stage: "run",
			Err:      fault.New(fault.NotFound, "gone; list_downloads shows the rest").WithRecovery("observe_live shows the page; observe_live again"),
			Warnings: []*fault.Error{fault.New(fault.TargetHidden, "hidden").WithRecovery("activate_page, then set_cookies")},
			Notes:    []string{"an ordinary wait"}, Next: []string{"inspect_page"},
		}
	}
	full := newUnlisted(build(t, clock.System(), catalogue.Full, control.Operations{}.Ops()...).Catalogue())
	assert.Equal(t, outcome(), full.amend(outcome()))

	lean := newUnlisted(build(t, clock.System(), catalogue.Lean, control.Operations{}.Ops()...).Catalogue())
	given := outcome()
	out := lean.amend(given)
	assert.Equal(t, "observe_live shows the page; observe_live again (list_downloads needs the configuration tools=full; here: snapshot_page)", out.Err.Recovery)
	assert.Equal(t, "activate_page, then set_cookies (activate_page needs the configuration tools=full; set_cookies works as a batch step)", out.Warnings[0].Recovery)
	assert.Equal(t, []string{"an ordinary wait"}, out.Notes)
	assert.Equal(t, []string{"inspect_page (inspect_page works as a batch step)"}, out.Next)
	assert.Equal(t, outcome(), given, "what was given is unchanged")
	assert.Equal(t, out, lean.amend(out), "said once, even when a step's advice becomes its batch's")
}

func TestAnAnswerOfTheLeanSetAdvisesOnlyWhatIsListed(t *testing.T) {
	s := stage{run: func(context.Context, *greet) (capability.Outcome, error) {
		return capability.Outcome{}, fault.New(fault.InteractionFailed, "lost").WithRecovery("call observe_live")
	}}
	ops := append(control.Operations{}.Ops(), s.ops()...)
	server := build(t, clock.System(), catalogue.Lean, ops...)
	c, err := client.Dial(t.Context(), server)
	require.NoError(t, err)
	result := call(t, server, c, nil)
	assert.Contains(t, result.Text, "call observe_live (here: snapshot_page)")
	assert.Contains(t, string(result.Structured), "call observe_live (here: snapshot_page)")
	step := server.Execute(t.Context(), "greet", nil)
	assert.Equal(t, "call observe_live (here: snapshot_page)", step.Err.Recovery)
	require.NoError(t, c.Close())
}

// What is listed must not name what is not.
func TestNoListedTextNamesAnUnlistedTool(t *testing.T) {
	c := build(t, clock.System(), catalogue.Lean, control.Operations{}.Ops()...).Catalogue()
	texts := map[string]string{"instructions": instructions}
	for _, tool := range c.Tools() {
		if !tool.Hidden {
			texts[tool.Op.Name] = tool.Op.Summary + string(tool.Input)
		}
	}
	for _, name := range c.Hidden() {
		word := regexp.MustCompile(`\b` + name + `\b`)
		if name == "clear" || name == "toggle" {
			continue // ordinary words too
		}
		for where, text := range texts {
			assert.NotRegexp(t, word, text, where)
		}
	}
}

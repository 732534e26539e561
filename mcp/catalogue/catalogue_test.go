package catalogue

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func registry(t *testing.T, ops ...capability.Op) *capability.Registry {
	t.Helper()
	selection, err := capability.Select(nil, nil)
	require.NoError(t, err)
	r, err := capability.NewRegistry(selection, ops...)
	require.NoError(t, err)
	return r
}

func controlTools(t *testing.T, set Set) *Catalogue {
	t.Helper()
	c, err := New(registry(t, control.Operations{}.Ops()...), set)
	require.NoError(t, err)
	return c
}

// op makes an operation with the given request type.
func op[Req any](name string) capability.Op {
	return capability.Define[Req, struct{}](capability.Spec{
		Name: name, Capability: capability.Control, Kind: capability.Read, Lane: capability.Free, Summary: "s", Title: "t",
	}, func(context.Context, *Req) (capability.Outcome, error) { return capability.Outcome{}, nil })
}

func TestEveryControlToolIsComplete(t *testing.T) {
	for _, tool := range controlTools(t, Full).Tools() {
		d := tool.Descriptor()
		for _, hint := range []*bool{d.Annotations.ReadOnlyHint, d.Annotations.DestructiveHint, d.Annotations.IdempotentHint, d.Annotations.OpenWorldHint} {
			assert.NotNil(t, hint)
		}
		assert.NotEmpty(t, d.Description)
	}
}

func TestSchemaCarriesTheTags(t *testing.T) {
	tool, ok := controlTools(t, Full).Tool("click")
	require.True(t, ok)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(tool.Input, &schema))
	properties := schema["properties"].(map[string]any)
	assert.Equal(t, map[string]any{"type": "string", "enum": []any{"left", "middle", "right"}, "default": "left"}, properties["button"])
	assert.Equal(t, map[string]any{"type": "integer", "minimum": 1.0, "maximum": 3.0, "default": 1.0}, properties["count"])
	assert.Equal(t, map[string]any{"type": "string", "enum": []any{"concise", "expanded", "full"}}, properties["detail"])
	assert.Equal(t, map[string]any{"type": "boolean"}, properties["inline_images"])
	assert.Equal(t, false, schema["additionalProperties"])
	point := properties["point"].(map[string]any)
	assert.Equal(t, false, point["additionalProperties"])
	assert.Equal(t, []any{"x", "y"}, point["required"])

	batch, _ := controlTools(t, Full).Tool("batch")
	assert.Contains(t, string(batch.Input), `"minItems":1,"maxItems":64`)
	assert.Contains(t, string(batch.Input), `"arguments":{"type":"object"}`)
}

func TestDecode(t *testing.T) {
	c := controlTools(t, Full)
	for name, test := range map[string]struct{ tool, arguments, want string }{
		"unknown":             {"click", `{"reference":"e1@1"}`, "argument reference: is unknown to click"},
		"unknown, no words":   {"click", `{"a b/../secret":"e1@1"}`, "argument (a name): is unknown to click"},
		"unknown inside":      {"click", `{"point":{"x":1,"y":2,"z":3}}`, "argument point.z: is unknown to click"},
		"case matters":        {"click", `{"Ref":"e1@1"}`, "argument Ref: is unknown to click"},
		"unknown before type": {"click", `{"count":"secret","clicks":2}`, "argument clicks: is unknown to click"},
		"missing":             {"fill", `{"ref":"e1@1"}`, "argument value: is required"},
		"missing inside":      {"click", `{"point":{"x":1}}`, "argument point.y: is required"},
		"type":                {"click", `{"count":"secret"}`, "argument count: must be an integer"},
		"fraction":            {"click", `{"count":1.5}`, "argument count: must be an integer"},
		"integer as 2.0":      {"click", `{"count":2.0}`, "argument count: must be an integer in range, without fraction or exponent"},
		"null":                {"click", `{"ref":null}`, "argument ref: must be a string"},
		"enum":                {"click", `{"button":"secret"}`, "argument button: must be one of left, middle, right"},
		"element enum":        {"click", `{"modifiers":["alt","secret"]}`, "argument modifiers[1]: must be one of alt, control, shift, meta"},
		"minimum":             {"click", `{"count":0}`, "argument count: must be at least 1"},
		"maximum":             {"set_viewport", `{"device_scale_factor":9}`, "argument device_scale_factor: must be at most 8"},
		"too many elements":   {"upload_files", `{"files":["1","2","3","4","5","6","7","8","9"]}`, "argument files: must have at most 8 elements"},
		"too few elements":    {"batch", `{"steps":[]}`, "argument steps: must have at least 1 elements"},
		"path in a list":      {"batch", `{"steps":[{"tool":"click"},{"tool":7}]}`, "argument steps[1].tool: must be a string"},
		"length":              {"set_cookies", `{"cookies":[{"name":"` + strings.Repeat("é", 4097) + `","value":""}]}`, "argument cookies[0].name: must have at most 4096 characters"},
		"pattern":             {"start_browser", `{"profile":"../x"}`, "argument profile: must match ^[a-z0-9][a-z0-9_-]{0,63}$"},
		"identifier kind":     {"select_page", `{"target":"frm_0123456789ab"}`, "argument target: must be an identifier tgt_ followed by 12 characters, as answers give it"},
		"identifier length":   {"click", `{"target":"tgt_1"}`, "argument target: must be an identifier tgt_ followed by 12 characters, as answers give it"},
		"no object":           {"click", `[]`, "argument arguments: must be an object"},
		"twice":               {"click", `{"ref":"e1@1","ref":"e2@1"}`, "argument ref: is given twice"},
		"twice inside":        {"batch", `{"steps":[{"tool":"click","tool":"fill"}]}`, "argument steps[0].tool: is given twice"},
		"any argument":        {"stop_browser", `{"force":true}`, "argument force: is unknown to stop_browser"},
		"detail":              {"click", `{"detail":"everything"}`, "argument detail: must be one of concise, expanded, full"},
	} {
		t.Run(name, func(t *testing.T) {
			tool, ok := c.Tool(test.tool)
			require.True(t, ok)
			_, _, err := tool.Decode(json.RawMessage(test.arguments))
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
			assert.NotContains(t, err.Error(), "secret")
			assert.NotEmpty(t, fault.From(err).Recovery)
		})
	}
}

func TestDecodeFillsTheRequest(t *testing.T) {
	tool, _ := controlTools(t, Full).Tool("click")
	request, shown, err := tool.Decode(json.RawMessage(`{"ref":"e1@2","target":"tgt_0123456789ab","count":2,"detail":"full","inline_images":false}`))
	require.NoError(t, err)
	click := request.(*page.ClickRequest)
	assert.Equal(t, "e1@2", click.Ref)
	assert.EqualValues(t, "tgt_0123456789ab", click.Target)
	assert.Equal(t, 2, click.Count)
	assert.Equal(t, "full", shown.Detail)
	assert.False(t, *shown.InlineImages)

	for _, empty := range []string{"", " ", "{}"} {
		status, _ := controlTools(t, Full).Tool("browser_status")
		_, _, err := status.Decode(json.RawMessage(empty))
		require.NoError(t, err)
	}
}

func TestStepsTakeNoPresentation(t *testing.T) {
	tool, _ := controlTools(t, Full).Tool("click")
	_, err := tool.DecodeStep(json.RawMessage(`{"ref":"e1@2","detail":"full"}`))
	require.ErrorContains(t, err, "argument detail: belongs to the batch")
	_, err = tool.DecodeStep(json.RawMessage(`{"ref":"e1@2","inline_images":true}`))
	require.ErrorContains(t, err, "argument inline_images: belongs to the batch")
	request, err := tool.DecodeStep(json.RawMessage(`{"ref":"e1@2"}`))
	require.NoError(t, err)
	assert.Equal(t, "e1@2", request.(*page.ClickRequest).Ref)
}

func TestLeanHidesTools(t *testing.T) {
	c := controlTools(t, Lean)
	assert.Contains(t, c.Hidden(), "toggle")
	assert.NotContains(t, c.Hidden(), "click")
	tool, ok := c.Tool("toggle")
	require.True(t, ok)
	assert.True(t, tool.Hidden)
	assert.Empty(t, controlTools(t, Full).Hidden())
	_, err := New(registry(t), "some")
	require.Error(t, err)
}

type cyclic struct {
	Next *cyclic `json:"next,omitempty"`
}

func TestABadSchemaStopsTheStart(t *testing.T) {
	type badPattern struct {
		A string `json:"a,omitempty" pattern:"("`
	}
	type badBound struct {
		A int `json:"a,omitempty" min:"few"`
	}
	type badDefault struct {
		A int `json:"a,omitempty" default:"few"`
	}
	type badType struct {
		A json.RawMessage `json:"a,omitempty" type:"thing"`
	}
	type open struct {
		A map[string]string `json:"a,omitempty"`
	}
	type channel struct {
		A chan int `json:"a,omitempty"`
	}
	for name, bad := range map[string]capability.Op{
		"pattern": op[badPattern]("bad"), "bound": op[badBound]("bad"), "default": op[badDefault]("bad"), "type": op[badType]("bad"),
		"open object": op[open]("bad"), "cycle": op[cyclic]("bad"), "channel": op[channel]("bad"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(registry(t, bad), Full)
			require.ErrorContains(t, err, "tool bad")
		})
	}
}

func TestHouseRulesOfSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"root type":   `{"type":"string"}`,
		"open root":   `{"type":"object"}`,
		"combinator":  `{"type":"object","additionalProperties":false,"anyOf":[{}]}`,
		"reference":   `{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#"}}}`,
		"definitions": `{"type":"object","additionalProperties":false,"$defs":{}}`,
		"boolean":     `{"type":"object","additionalProperties":false,"properties":{"a":true}}`,
		"no JSON":     `{`,
		"meta-schema": `{"type":"object","additionalProperties":false,"properties":{"a":{"minimum":"x"}}}`,
	} {
		_, err := compileClosed("x", json.RawMessage(schema))
		require.Error(t, err, name)
	}
}

func TestAnswersAreHeldToTheirSchemas(t *testing.T) {
	click, _ := controlTools(t, Full).Tool("click")
	whole := func(changes map[string]any) map[string]any {
		answer := map[string]any{"tool": "click", "status": "succeeded", "result": map[string]any{"anything": 1}}
		for name, value := range changes {
			if answer[name] = value; value == nil {
				delete(answer, name)
			}
		}
		return answer
	}
	reason := map[string]any{"code": "not_found", "message": "gone", "retry": "never"}
	diagnostics := map[string]any{"correlation_id": "abc", "stage": "run"}
	for name, good := range map[string]map[string]any{
		"plain":    {},
		"warned":   {"warnings": []any{reason}, "notes": []any{"a fact"}},
		"degraded": {"status": "degraded", "diagnostics": diagnostics, "interaction": map[string]any{"id": "int_1"}},
		"failed":   {"status": "failed", "error": reason, "diagnostics": diagnostics, "result": map[string]any{}},
	} {
		require.NoError(t, click.CheckOutput(whole(good)), name)
	}
	for name, bad := range map[string]map[string]any{
		"no tool": {"tool": nil}, "no status": {"status": nil}, "no result": {"result": nil},
		"another tool": {"tool": "fill"}, "unknown status": {"status": "fine"}, "list as result": {"result": []any{}},
		"unknown member": {"more": 1}, "another kind's member": {"range_handle": "rng_0"},
		"failed without a reason":       {"status": "failed", "diagnostics": diagnostics},
		"reason without retry":          {"status": "failed", "diagnostics": diagnostics, "error": map[string]any{"code": "x", "message": "y"}},
		"degraded without diagnostics":  {"status": "degraded"},
		"diagnostics with a success":    {"diagnostics": diagnostics},
		"reason with a success":         {"error": reason},
		"diagnostics without the stage": {"status": "degraded", "diagnostics": map[string]any{"correlation_id": "abc"}},
		"warnings that are none":        {"warnings": []any{}},
		"text as warning":               {"warnings": []any{"careful"}},
	} {
		require.Error(t, click.CheckOutput(whole(bad)), name)
	}
}

func TestTheLeanSetListsNoOutputSchemas(t *testing.T) {
	for set, listed := range map[Set]bool{Full: true, Lean: false} {
		for _, tool := range controlTools(t, set).Tools() {
			raw, err := json.Marshal(tool.Descriptor())
			require.NoError(t, err)
			var d struct {
				Output *struct{ Required []string } `json:"outputSchema"`
			}
			require.NoError(t, json.Unmarshal(raw, &d))
			require.Equal(t, listed, d.Output != nil, tool.Op.Name)
			if listed {
				require.Equal(t, []string{"tool", "status", "result"}, d.Output.Required)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	selection, _ := capability.Select(nil, nil)
	registry, _ := capability.NewRegistry(selection, control.Operations{}.Ops()...)
	c, err := New(registry, Full)
	require.NoError(f, err)
	for _, seed := range []string{`{}`, `{"ref":"e1@1"}`, `{"steps":[{"tool":"click","arguments":{"point":{"x":1,"y":2}}}]}`, `{"a":{"a":1,"a":2}}`, `[`, `{"count":1e9999}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		for _, tool := range c.Tools() {
			request, _, err := tool.Decode(json.RawMessage(arguments))
			if err == nil {
				require.NotNil(t, request)
				continue
			}
			require.Equal(t, fault.InvalidInput, fault.CodeOf(err))
		}
	})
}

package stdio

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
)

// sizedTools makes n tools whose descriptors are about size bytes each.
func sizedTools(n, size int) []mcp.Tool {
	var tools []mcp.Tool
	for i := range n {
		tools = append(tools, mcp.NewToolWithRawSchema(fmt.Sprintf("tool_%c%c", 'a'+i/26, 'a'+i%26), strings.Repeat("d", size), json.RawMessage(`{"type":"object"}`)))
	}
	return tools
}

// names pages through the catalogue and checks the bounds on the way.
func (w *wire) names() (names []string, pages int) {
	w.t.Helper()
	params := ""
	for {
		w.send(call(v26, "1", "tools/list", params))
		var r reply
		line := w.line()
		require.NoError(w.t, json.Unmarshal([]byte(line), &r))
		require.Nil(w.t, r.Error)
		require.LessOrEqual(w.t, len(r.Result), 192<<10)
		assert.Equal(w.t, "private", field[string](w.t, r.Result, "cacheScope"))
		assert.Equal(w.t, 60000, field[int](w.t, r.Result, "ttlMs"))
		assert.Equal(w.t, "complete", field[string](w.t, r.Result, "resultType"))
		tools := field[[]map[string]any](w.t, r.Result, "tools")
		require.NotEmpty(w.t, tools)
		require.LessOrEqual(w.t, len(tools), 8)
		for _, tool := range tools {
			names = append(names, tool["name"].(string))
		}
		pages++
		next := field[string](w.t, r.Result, "nextCursor")
		if next == "" {
			return names, pages
		}
		params = fmt.Sprintf(`"cursor":%q`, next)
	}
}

func TestModernToolPages(t *testing.T) {
	for name, test := range map[string]struct {
		tools []mcp.Tool
		pages int
	}{
		"one page":            {sizedTools(2, 10), 1}, // with the test server's own six
		"full last page":      {sizedTools(10, 10), 2},
		"a page and one more": {sizedTools(11, 10), 3},
		"bounded by bytes":    {sizedTools(4, 100<<10), 4},
	} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, wireOptions{extra: test.tools})
			names, pages := w.names()
			assert.Len(t, names, len(test.tools)+6)
			assert.IsIncreasing(t, names)
			assert.Equal(t, test.pages, pages)
			_, err := w.close()
			require.NoError(t, err)
		})
	}
}

func TestCursorsBelongToOneProcessAndCatalogue(t *testing.T) {
	cursor := func(extra []mcp.Tool) (*wire, string) {
		w := dial(t, wireOptions{extra: extra})
		return w, field[string](t, w.ask(call(v26, "1", "tools/list", "")).Result, "nextCursor")
	}
	a, first := cursor(sizedTools(20, 10))
	b, second := cursor(sizedTools(20, 10))
	assert.NotEqual(t, first, second)
	for _, bad := range []string{second, "", "x", strings.ToLower(first), first + "A", cursorOf(nil, nil, 8)} {
		r := a.wantError(call(v26, "2", "tools/list", fmt.Sprintf(`"cursor":%q`, bad)), -32602)
		assert.Contains(t, r.Error.Message, "without a cursor")
	}
	a.wantError(call(v26, "2", "tools/list", `"cursor":null`), -32602)
	a.wantError(call(v26, "2", "tools/list", `"cursor":8`), -32602)
	assert.Nil(t, a.ask(call(v26, "3", "tools/list", fmt.Sprintf(`"cursor":%q`, first))).Error)
	for _, w := range []*wire{a, b} {
		_, err := w.close()
		require.NoError(t, err)
	}
}

func TestLegacyToolListIsWhole(t *testing.T) {
	for _, version := range []string{v25, v18} {
		w := dialAs(t, version, wireOptions{extra: sizedTools(30, 10<<10)})
		r := w.ask(call(version, "1", "tools/list", ""))
		require.Nil(t, r.Error)
		assert.Len(t, field[[]any](t, r.Result, "tools"), 36)
		for _, member := range []string{"nextCursor", "ttlMs", "cacheScope", "resultType", "_meta"} {
			assert.NotContains(t, string(r.Result), `"`+member+`"`)
		}
		w.wantError(call(version, "2", "tools/list", `"cursor":""`), -32602)
		w.wantError(call(version, "2", "tools/list", `"cursor":null`), -32602)
		_, err := w.close()
		require.NoError(t, err)
	}
}

func TestAnOversizedDescriptorFailsModernListingOnly(t *testing.T) {
	w := dial(t, wireOptions{extra: sizedTools(1, 200<<10)})
	r := w.wantError(call(v26, "1", "tools/list", ""), -32603)
	assert.Contains(t, r.Error.Message, "tool_aa")
	assert.Nil(t, w.ask(call(v26, "2", "tools/call", `"name":"tool_aa"`)).Error)
	w.ask(initialize(v25))
	assert.Nil(t, w.ask(call(v25, "3", "tools/list", "")).Error)
	_, err := w.close()
	require.NoError(t, err)
}

func TestNoToolsAtAll(t *testing.T) {
	loop, err := New(NewProtocol(Identity{Name: "empty"}), Identity{Name: "empty"}, clock.System())
	require.NoError(t, err)
	assert.Contains(t, string(loop.tools.first), `"tools":[]`)
	assert.JSONEq(t, `{"tools":[]}`, string(loop.tools.legacy))
}

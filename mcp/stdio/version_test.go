package stdio

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInitializeNegotiates(t *testing.T) {
	for asked, settled := range map[string]string{
		v25: v25, v18: v18, "2025-03-26": v25, "2024-11-05": v25, v26: v25, "nonsense": v25,
	} {
		t.Run(asked, func(t *testing.T) {
			w := dial(t, wireOptions{})
			r := w.ask(initialize(asked))
			require.Nil(t, r.Error)
			assert.Equal(t, settled, field[string](t, r.Result, "protocolVersion"))
			assert.Equal(t, "how to", field[string](t, r.Result, "instructions"))
			assert.NotContains(t, string(r.Result), "resultType")
			capabilities := field[map[string]any](t, r.Result, "capabilities")
			assert.Equal(t, map[string]any{"logging": map[string]any{}, "resources": map[string]any{}, "tools": map[string]any{}}, capabilities)
			_, err := w.close()
			require.NoError(t, err)
		})
	}
}

func TestInitializeNeedsAVersion(t *testing.T) {
	w := dial(t, wireOptions{})
	w.wantError(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, -32602)
	w.wantError(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, -32602)
	w.wantError(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, -32602)
	w.wantError(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":7}}`, -32602)
	w.wantError(call(v25, "1", "tools/list", ""), -32602) // still not initialized
	_, err := w.close()
	require.NoError(t, err)
}

func TestDiscover(t *testing.T) {
	w := dial(t, wireOptions{})
	r := w.ask(call(v26, "1", "server/discover", ""))
	require.Nil(t, r.Error)
	assert.Equal(t, []string{v26, v25, v18}, field[[]string](t, r.Result, "supportedVersions"))
	assert.Equal(t, "complete", field[string](t, r.Result, "resultType"))
	assert.Equal(t, "private", field[string](t, r.Result, "cacheScope"))
	assert.Contains(t, string(r.Result), `"ttlMs":0`)
	assert.Contains(t, string(r.Result), `"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"}`)
	assert.Equal(t, "how to", field[string](t, r.Result, "instructions"))
	_, err := w.close()
	require.NoError(t, err)
}

func TestModernRequestsNeedTheirMetadata(t *testing.T) {
	const version, capabilities = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"
	w := dial(t, wireOptions{})
	for _, initialized := range []bool{false, true} {
		if initialized {
			w.ask(initialize(v25))
		}
		for _, method := range []string{"server/discover", "tools/list", "tools/call", "unheard/of"} {
			request := func(meta string) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":"echo","_meta":%s}}`, method, meta)
			}
			w.wantError(request(`{"`+version+`":"2026-07-28"}`), -32602)
			w.wantError(request(`{"`+version+`":"2026-07-28","`+capabilities+`":null}`), -32602)
			w.wantError(request(`{"`+version+`":"2026-07-28","`+capabilities+`":[]}`), -32602)
			w.wantError(request(`{"`+version+`":7,"`+capabilities+`":{}}`), -32602)
			w.wantError(request(`{"`+capabilities+`":{}}`), -32602)
			w.wantError(request(`[]`), -32602)
			for _, unknown := range []string{"2027-01-01", v25, v18, "2024-11-05", ""} {
				r := w.wantError(request(`{"`+version+`":"`+unknown+`","`+capabilities+`":{}}`), -32022)
				assert.Equal(t, []any{v26, v25, v18}, r.Error.Data["supported"])
				assert.Equal(t, unknown, r.Error.Data["requested"])
			}
		}
	}
	_, err := w.close()
	require.NoError(t, err)
	assert.Empty(t, w.tools.entered)
}

func TestNothingIsServedBeforeInitializeButPing(t *testing.T) {
	w := dial(t, wireOptions{})
	for _, method := range []string{"tools/list", "tools/call", "resources/read", "server/discover", "unheard/of", "logging/setLevel"} {
		w.wantError(call(v25, "1", method, ""), -32602)
	}
	assert.Nil(t, w.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`).Error)
	_, err := w.close()
	require.NoError(t, err)
}

func TestMethodsOfOneEraOnly(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		modern := version == v26
		for method, params := range map[string]string{
			"ping": "", "logging/setLevel": `"level":"info"`,
			"server/discover": "", "subscriptions/listen": `"notifications":{}`,
		} {
			isModern := method == "server/discover" || method == "subscriptions/listen"
			if isModern != modern {
				w.wantError(call(version, "1", method, params), -32601)
			}
		}
		for _, method := range []string{
			"prompts/list", "prompts/get", "completion/complete", "tasks/list", "resources/subscribe", "unheard/of", "",
		} {
			w.wantError(call(version, "2", method, ""), -32601)
		}
		if modern {
			w.wantError(call(v26, "3", "initialize", `"protocolVersion":"2026-07-28"`), -32601)
		} else {
			assert.JSONEq(t, `{}`, string(w.ask(call(version, "4", "ping", "")).Result))
			assert.JSONEq(t, `{}`, string(w.ask(call(version, "5", "logging/setLevel", `"level":"info"`)).Result))
			w.wantError(call(version, "6", "logging/setLevel", `"level":"loud"`), -32602)
		}
		_, err := w.close()
		require.NoError(t, err)
	})
}

func TestBothErasOnOnePipe(t *testing.T) {
	w := dial(t, wireOptions{})
	assert.Contains(t, string(w.ask(call(v26, "1", "tools/call", `"name":"echo"`)).Result), "resultType")
	w.ask(initialize(v18))
	assert.NotContains(t, string(w.ask(call(v18, "2", "tools/call", `"name":"echo"`)).Result), "resultType")
	assert.Contains(t, string(w.ask(call(v26, "3", "tools/call", `"name":"echo"`)).Result), "resultType")
	assert.NotContains(t, string(w.ask(call(v18, "4", "tools/list", "")).Result), "ttlMs")
	_, err := w.close()
	require.NoError(t, err)
}

func TestRequestsBehindInitializeInOneWrite(t *testing.T) {
	w := dial(t, wireOptions{})
	w.send(initialize(v25), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, call(v25, "2", "tools/list", ""))
	assert.Equal(t, `"init"`, string(w.reply().ID))
	r := w.reply()
	assert.Equal(t, "2", string(r.ID))
	assert.Nil(t, r.Error)
	_, err := w.close()
	require.NoError(t, err)
}

package wiretest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestCheckerTellsMessagesOfTheProtocolFromOthers(t *testing.T) {
	ask := map[string]string{
		"list": `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`,
		"call": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a",` + meta + `}}`,
		"init": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		"ping": `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	}
	for _, c := range []struct {
		asked, got string
		good       bool
	}{
		{"list", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}}`, true},
		{"list", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}`, false},
		{"list", `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}}`, false},
		{"list", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"a"}]}}`, false},
		{"call", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"a"}]}}`, true},
		{"call", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text"}]}}`, false},
		{"call", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, false},
		{"call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`, true},
		{"call", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`, true},
		{"call", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, false},
		{"call", `{"jsonrpc":"2.0","id":1.5,"error":{"code":-32600,"message":"no"}}`, false},
		{"call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}`, false},
		{"call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["a"],"requested":"b"}}}`, true},
		{"call", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}`, true},
		{"call", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`, false},
		{"call", `{"jsonrpc":"2.0","method":"notifications/unheard","params":{}}`, false},
		{"call", `not JSON`, false},
		{"init", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}`, true},
		{"init", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}`, false},
		{"ping", `{"jsonrpc":"2.0","id":1,"result":{}}`, true},
	} {
		checker, err := New()
		require.NoError(t, err)
		checker.Sent([]byte(ask[c.asked]))
		err = checker.Got([]byte(c.got))
		assert.Equal(t, c.good, err == nil, "%s: %v", c.got, err)
	}
}

package stdio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIDsComeBackExactlyAsSent(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		for _, id := range []string{
			`0`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `"a"`, `""`, `"\u0041\n"`, `"1"`, `"häß"`,
		} {
			w.send(call(version, id, "tools/call", `"name":"echo","arguments":{"a":1}`))
			line := w.line()
			assert.Contains(t, line, `"id":`+id+`,`)
			assert.Contains(t, line, `{\"a\":1}`)
			w.send(call(version, id, "tools/call", `"name":"nothing"`))
			assert.Contains(t, w.line(), `"id":`+id+`,`)
		}
		for _, id := range []string{`1.5`, `1.0`, `1e3`, `null`, `true`, `[]`, `{}`} {
			r := w.wantError(call(version, id, "tools/list", ""), -32600)
			assert.Nil(t, r.ID)
		}
		_, err := w.close()
		require.NoError(t, err)
	})
}

func TestMalformedMessages(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		for line, code := range map[string]int{
			`{`:                -32700,
			`nonsense`:         -32700,
			`{"a":1}}`:         -32700,
			"\"\xff\"":         -32700,
			"{\"id\":\"\xff\"": -32700,
			`[]`:               -32600,
			`[` + call(version, "1", "tools/list", "") + `]`: -32600,
			`5`:                        -32600,
			`"text"`:                   -32600,
			`null`:                     -32600,
			`{}`:                       -32600,
			`{"jsonrpc":"2.0"}`:        -32600,
			`{"jsonrpc":"2.0","id":1}`: -32600,
			`{"jsonrpc":"1.0","id":1,"method":"ping"}`:              -32600,
			`{"id":1,"method":"ping"}`:                              -32600,
			`{"jsonrpc":"2.0","id":1,"method":7}`:                   -32600,
			`{"jsonrpc":"2.0","id":1,"Method":"ping"}`:              -32600,
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`:  -32602,
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`: -32602,
		} {
			w.wantError(line, code)
		}
		// None of these is answered.
		w.send("", "  \r", `{"jsonrpc":"2.0","method":"notifications/unheard"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`,
			`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`,
			`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`)
		assert.Nil(t, w.ask(call(version, "9", "tools/list", "")).Error)
		_, err := w.close()
		require.NoError(t, err)
		assert.Empty(t, w.tools.entered)
	})
}

func TestLineLimit(t *testing.T) {
	w := dialAs(t, v25, wireOptions{limit: &limits{line: 100_000, unread: maxUnread, page: maxPageBytes}})
	frame := len(call(v25, "1", "tools/call", `"name":"echo","arguments":{"a":""}`))
	sized := func(n int) string {
		return call(v25, "1", "tools/call", `"name":"echo","arguments":{"a":"`+strings.Repeat("x", n-frame)+`"}`)
	}
	assert.Nil(t, w.ask(sized(100_000)).Error)
	r := w.wantError(sized(100_001), -32600)
	assert.Nil(t, r.ID)
	w.wantError(strings.Repeat("x", 1_000_000), -32600)
	assert.Nil(t, w.ask(sized(99_999)).Error)
	// The last line is served without its newline, even a long one.
	go func() {
		_, _ = w.in.Write([]byte(sized(80_000)))
		_ = w.in.Close()
	}()
	assert.Nil(t, w.reply().Error)
	require.NoError(t, <-w.done)
}

func TestTenMebibytesOfArguments(t *testing.T) {
	w := dial(t, wireOptions{})
	r := w.ask(call(v26, "1", "tools/call", `"name":"echo","arguments":{"a":"`+strings.Repeat("x", 10<<20)+`"}`))
	require.Nil(t, r.Error)
	assert.Greater(t, len(r.Result), 10<<20)
	_, err := w.close()
	require.NoError(t, err)
}

func TestDuplicateIDInFlight(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		w.send(call(version, `"\u0041"`, "tools/call", `"name":"block"`))
		assert.Equal(t, "block", <-w.tools.entered)
		r := w.wantError(call(version, `"A"`, "tools/list", ""), -32600)
		assert.Equal(t, `"A"`, string(r.ID))
		close(w.tools.block)
		assert.Nil(t, w.reply().Error)
		// Afterwards the id is free again.
		assert.Nil(t, w.ask(call(version, `"A"`, "tools/list", "")).Error)
		_, err := w.close()
		require.NoError(t, err)
	})
}

func TestToolCallsAreCheckedBeforeTheToolRuns(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		for _, params := range []string{
			``, `"name":7`, `"name":"echo","arguments":[]`, `"name":"echo","arguments":"x"`,
			`"name":"unheard"`, `"Name":"echo"`,
			`"name":"echo","requestState":"x"`, `"name":"echo","inputResponses":{}`, `"name":"echo","requestState":null`,
		} {
			w.wantError(call(version, "1", "tools/call", params), -32602)
		}
		w.wantError(call(version, "1", "resources/read", `"uri":"test://thing/here","requestState":"x"`), -32602)
		assert.Empty(t, w.tools.entered)
		r := w.wantError(call(version, "1", "tools/call", `"name":"<script>"`), -32602)
		assert.NotContains(t, r.Error.Message, "script")
		assert.Nil(t, w.ask(call(version, "2", "tools/call", `"name":"echo","arguments":null`)).Error)
		_, err := w.close()
		require.NoError(t, err)
	})
}

func TestPanicsAreInternalErrors(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		w.send(call(version, "1", "tools/call", `"name":"panic"`))
		line := w.line()
		if version != v26 {
			assert.Contains(t, line, `"method":"notifications/message"`)
			line += w.line()
		}
		assert.Contains(t, line, `"code":-32603`)
		assert.Contains(t, line, `"correlation_id":"`)
		assert.NotContains(t, line, "secret")
		assert.Nil(t, w.ask(call(version, "2", "tools/call", `"name":"echo"`)).Error)
		_, err := w.close()
		require.NoError(t, err)
	})
}

func TestLogMessagesFollowTheWantedLevel(t *testing.T) {
	w := dialAs(t, v25, wireOptions{})
	w.ask(call(v25, "1", "logging/setLevel", `"level":"critical"`))
	w.wantError(call(v25, "2", "tools/call", `"name":"panic"`), -32603)
	modern := func(level string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"panic","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":%q}}}`, level)
	}
	assert.Equal(t, "notifications/message", w.ask(modern("debug")).Method)
	assert.NotNil(t, w.reply().Error)
	w.wantError(modern("loud"), -32602)
	_, err := w.close()
	require.NoError(t, err)
}

func TestSubscriptionsListen(t *testing.T) {
	w := dial(t, wireOptions{})
	w.send(call(v26, `"sub-1"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]}`))
	assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub-1"},"notifications":{}}}`, w.line())
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":"sub-1","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"sub-1","io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"}}}}`, w.line())
	w.wantError(call(v26, "1", "subscriptions/listen", ""), -32602)
	_, err := w.close()
	require.NoError(t, err)
}

func TestAnIDIsFreeOnceItsResponseIsRead(t *testing.T) {
	w := dial(t, wireOptions{})
	for range 500 {
		require.Nil(t, w.ask(call(v26, "1", "tools/call", `"name":"echo"`)).Error)
	}
	_, err := w.close()
	require.NoError(t, err)
}

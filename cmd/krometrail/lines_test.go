package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// request is a line of this connection's version. params is the inside of the object.
func (p *process) request(id, method, params string) string {
	if p.version == modern {
		params = strings.TrimPrefix(params+","+modernMeta, ",")
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

// probe asks for something cheap; whatever was written before its answer is returned.
func (p *process) probe() (before []message) {
	p.t.Helper()
	p.next++
	id := fmt.Sprintf(`"probe-%d"`, p.next)
	p.line(p.request(id, "resources/list", ""))
	for {
		m := p.read()
		if string(m.ID) == id {
			require.Nil(p.t, m.Error)
			return before
		}
		before = append(before, m)
	}
}

// lines sends what a line can be; each is answered by itself and the program lives on.
func lines(t *testing.T, p *process) {
	for _, id := range []string{`0`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `"a"`, `""`, `"\u0041\n"`, `"1"`, `"häß"`} {
		p.line(p.request(id, "resources/list", ""))
		m := p.read()
		assert.Nil(t, m.Error, id)
		assert.Equal(t, id, string(m.ID))
	}
	const parse, invalid, params, method = -32700, -32600, -32602, -32601
	for _, c := range []struct {
		line string
		code int
		id   string
	}{
		{`{`, parse, ""}, {"\"\xff\"", parse, ""}, {"\xef\xbb\xbf{}", parse, ""}, {"{\"id\":1}\x00", parse, ""},
		{`[]`, invalid, ""}, {`[` + p.request("1", "ping", "") + `]`, invalid, ""}, {`null`, invalid, ""}, {`{}`, invalid, ""},
		{p.request("1.5", "tools/list", ""), invalid, ""}, {p.request("1.0", "tools/list", ""), invalid, ""},
		{p.request("null", "tools/list", ""), invalid, ""}, {p.request("[]", "tools/list", ""), invalid, ""},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, invalid, "1"}, {`{"jsonrpc":"2.0","id":1,"method":7}`, invalid, "1"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, params, "1"},
		{p.request("1", "unheard/of", ""), method, "1"}, {p.request("1", "prompts/list", ""), method, "1"},
		{p.request("1", "tools/call", `"name":"unheard"`), params, "1"},
		{p.request("1", "tools/call", `"name":"browser_status","requestState":"x"`), params, "1"},
		{p.request("1", "tools/call", `"name":"browser_status","inputResponses":{}`), params, "1"},
		{p.request("1", "resources/read", `"uri":"krometrail://evidence/a","requestState":"x"`), params, "1"},
		{p.request("1", "tools/list", `"cursor":""`), params, "1"},
		{p.request("1", "tools/call", `"name":"browser_status","_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}`), -32022, "1"},
	} {
		if c.code == -32022 {
			c.line = strings.Replace(c.line, ","+modernMeta, "", 1)
		}
		p.line(c.line)
		m := p.read()
		require.NotNil(t, m.Error, c.line)
		assert.Equal(t, c.code, m.Error.Code, c.line)
		assert.Equal(t, c.id, string(m.ID), c.line)
	}
	// None of these is answered; a carriage return before the line's end does not matter.
	p.write("\n\r\n  \n" + `{"jsonrpc":"2.0","method":"notifications/unheard"}` + "\r\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}` + "\n" +
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"stop_browser"}}` + "\n")
	assert.Empty(t, p.probe())
	p.line(p.request("7", "resources/list", "") + "\r")
	assert.Equal(t, "7", string(p.read().ID))
	p.end()
}

// long is a call that outlasts the test unless something ends it.
func (p *process) long(id, more string) string {
	return p.request(id, "tools/call", `"name":"wait","arguments":{"elapsed_ms":119000,"timeout_ms":120000}`+more)
}

func (p *process) cancel(id string) {
	p.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
}

// inFlight needs a browser: cancellation at every time, ids twice, progress for who asked.
func inFlight(t *testing.T, p *process) {
	// Right behind the request, in one write.
	p.write(p.long(`"a"`, "") + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}` + "\n")
	assert.Empty(t, p.probe(), "a cancelled request is not answered")

	// While it runs and reports: the first report shows that it runs.
	token := `,"_meta":{"progressToken":"tok"}`
	if p.version == modern {
		token = "" // _meta is the request's own
	}
	long := p.long(`"b"`, token)
	if p.version == modern {
		long = strings.Replace(long, `"_meta":{`, `"_meta":{"progressToken":"tok",`, 1)
	}
	p.line(long)
	report := p.read()
	require.Equal(t, "notifications/progress", report.Method)
	assert.Contains(t, string(report.Params), `"progressToken":"tok"`)

	// The same id again while it is in flight.
	p.line(p.request(`"b"`, "resources/list", ""))
	refused := p.read()
	for refused.Method == "notifications/progress" {
		refused = p.read()
	}
	require.NotNil(t, refused.Error)
	assert.Equal(t, -32600, refused.Error.Code)
	p.cancel(`"b"`)
	for _, m := range p.probe() {
		assert.Equal(t, "notifications/progress", m.Method, "only what was on its way already")
	}
	assert.Empty(t, p.probe())

	// After the end, twice, and what nobody asked.
	p.cancel(`"b"`)
	p.cancel(`"b"`)
	p.cancel(`12`)
	assert.Empty(t, p.probe())

	// Nobody who did not ask hears of progress, even of a call that lasts longer than the interval.
	p.line(p.request(`"c"`, "tools/call", `"name":"wait","arguments":{"elapsed_ms":1200}`))
	assert.Equal(t, `"c"`, string(p.read().ID))
}

// staleReference acts on a reference of a document that is gone.
func staleReference(t *testing.T, p *process, url string) {
	var found struct{ Ref string }
	require.NoError(t, json.Unmarshal(p.succeed("query_page", map[string]any{"query": `role=button name="Paint"`}).Envelope.Result, &found))
	require.NotEmpty(t, found.Ref)
	p.succeed("navigate_to", map[string]any{"url": url + "/again"})
	stale := p.call("click", map[string]any{"ref": found.Ref})
	require.True(t, stale.IsError)
	assert.Equal(t, "stale_reference", stale.Envelope.Error.Code)
	assert.Equal(t, "invalid_input", p.call("click", map[string]any{"ref": "e1"}).Envelope.Error.Code)
}

// endInFlight ends the program while a call runs: by a signal, or by the end of input, after which a short call is
// still answered. Each version takes another way.
func endInFlight(t *testing.T, p *process) {
	switch signal := map[string]os.Signal{modern: syscall.SIGTERM, "2025-11-25": os.Interrupt}[p.version]; signal {
	case nil:
		p.line(p.request(`"last"`, "tools/call", `"name":"wait","arguments":{"elapsed_ms":300}`))
		require.NoError(t, p.in.Close())
	default:
		p.line(p.long(`"last"`, ""))
		p.probe()
		require.NoError(t, p.command.Process.Signal(signal))
	}
	m := p.read()
	assert.Equal(t, `"last"`, string(m.ID), "what was in flight is answered")
	_, err := p.out.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, p.command.Wait())
	_ = p.in.Close()
}

// bothEras speaks two versions on one pipe; each request is answered in its own.
func bothEras(t *testing.T, p *process) {
	for range 3 {
		p.line(p.request("1", "tools/list", ""))
		legacy := p.read()
		assert.NotContains(t, string(legacy.Result), "resultType")
		p.line(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`)
		page := p.read()
		assert.Contains(t, string(page.Result), `"resultType":"complete"`)
		assert.Less(t, len(page.Result), len(legacy.Result))
	}
	p.end()
}

// cursors follows the pages of one process and offers one of them to another.
func cursors(t *testing.T, p, other *process) {
	var names []string
	cursor, borrowed := "", ""
	for {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		m := p.ask("tools/list", params)
		require.Nil(t, m.Error)
		var page struct {
			Tools      []struct{ Name string }
			NextCursor string
		}
		require.NoError(t, json.Unmarshal(m.Result, &page))
		require.NotEmpty(t, page.Tools)
		assert.LessOrEqual(t, len(page.Tools), 8)
		for _, tool := range page.Tools {
			names = append(names, tool.Name)
		}
		if page.NextCursor == "" {
			break
		}
		cursor, borrowed = page.NextCursor, page.NextCursor
	}
	assert.IsIncreasing(t, names)
	m := other.ask("tools/list", map[string]any{"cursor": borrowed})
	require.NotNil(t, m.Error)
	assert.Equal(t, -32602, m.Error.Code)
	p.end()
	other.end()
}

// lineLimit sends a line that is too long and one that just is not.
func lineLimit(t *testing.T, p *process) {
	const limit = 32 << 20
	p.line(strings.Repeat("x", limit+1))
	m := p.read()
	require.NotNil(t, m.Error)
	assert.Equal(t, -32600, m.Error.Code)
	frame := p.request("1", "tools/call", `"name":"browser_status","arguments":{"detail":""}`)
	p.line(strings.Replace(frame, `"detail":"`, `"detail":"`+strings.Repeat("x", limit-len(frame)), 1))
	assert.Equal(t, "1", string(p.read().ID))
	p.end()
}

// unread never reads what it asked for; the program takes everything, and ends.
func unread(t *testing.T, p *process) {
	for i := range 200 {
		p.line(`{"jsonrpc":"2.0","id":` + fmt.Sprint(i) + `,"method":"tools/call","params":{"name":"browser_status",` + modernMeta + `}}`)
	}
	require.NoError(t, p.in.Close())
	require.NoError(t, p.command.Wait())
}

// lastLine sends a request without the newline that would end it.
func lastLine(t *testing.T, p *process) {
	line := p.request("1", "resources/list", "")
	p.checker.Sent([]byte(line))
	_, err := io.WriteString(p.in, line)
	require.NoError(t, err)
	require.NoError(t, p.in.Close())
	assert.Equal(t, "1", string(p.read().ID))
	require.NoError(t, p.command.Wait())
}

var mutations = flag.Int("lines", 500, "mutated lines that the program must survive")

// mutatedLines changes good lines at random. After each one the program must still answer.
func mutatedLines(t *testing.T, p *process) {
	random := rand.New(rand.NewPCG(1, 2))
	good := []string{
		p.request("1", "tools/list", ""), p.request(`"a"`, "tools/call", `"name":"browser_status","arguments":{"detail":"full"}`),
		p.request("2", "tools/call", `"name":"batch","arguments":{"steps":[{"tool":"click","arguments":{"point":{"x":1,"y":2.5}}}]}`),
		p.request("3", "resources/read", `"uri":"krometrail://evidence/ses_0123456789ab/tgt_0123456789ab/frames/frm_0123456789ab"`),
		p.request("4", "tools/call", `"name":"resolve_temporal_range","arguments":{"last_ms":1000}`), p.request("5", "server/discover", ""),
		`{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
	}
	for i := range *mutations {
		id := fmt.Sprintf(`"probe-%d"`, i)
		line := mutate(random, good[random.IntN(len(good))])
		_, err := io.WriteString(p.in, line+"\n"+p.request(id, "resources/list", "")+"\n")
		require.NoError(t, err, line)
		for alive := false; !alive; {
			raw, err := p.out.ReadBytes('\n')
			require.NoError(t, err, line)
			var m message
			require.NoError(t, json.Unmarshal(raw, &m), "%s: %s", line, raw)
			alive = string(m.ID) == id
		}
	}
	p.end()
}

// mutate changes, removes, repeats or inserts a few bytes. Tools that would start a browser are not among the lines, and
// no mutation makes their names.
func mutate(random *rand.Rand, line string) string {
	const structure = `{}[]",:0123456789.eE-\ntrufals`
	text := []byte(line)
	for range 1 + random.IntN(6) {
		at := random.IntN(len(text) + 1)
		end := min(at+1+random.IntN(24), len(text))
		switch random.IntN(4) {
		case 0:
			text = append(text[:at:at], text[end:]...)
		case 1:
			text = append(text[:at:at], append([]byte{structure[random.IntN(len(structure))]}, text[at:]...)...)
		case 2:
			text = append(text[:at:at], append([]byte{byte(random.IntN(256))}, text[at:]...)...)
		default:
			text = append(text[:end:end], text[at:]...)
		}
	}
	return strings.ReplaceAll(string(text), "\n", "")
}

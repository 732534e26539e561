package stdio

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpus are lines worth mutating.
func corpus() []string {
	return []string{
		call(v26, "1", "tools/list", ""), call(v26, `"a"`, "tools/call", `"name":"echo","arguments":{"x":[1,2.5,null,"\ud83d\ude00"]}`),
		call(v26, "2", "resources/read", `"uri":"test://thing/here"`), call(v26, "3", "subscriptions/listen", `"notifications":{}`),
		call(v26, "4", "server/discover", ""), call(v26, "5", "tools/call", `"name":"panic"`),
		call(v25, "6", "tools/call", `"name":"steps","_meta":{"progressToken":1}`), call(v25, "7", "ping", ""),
		call(v18, "8", "logging/setLevel", `"level":"debug"`), initialize(v25), initialize(v18), cancelled("1"),
		`[{"jsonrpc":"2.0"}]`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	}
}

// alive sends the line and a probe behind it and reads up to the probe's answer.
func (w *wire) alive(line []byte) {
	w.t.Helper()
	probe := call(v26, `"probe"`, "tools/list", "")
	_, err := w.in.Write(append(append(bytes.Clone(line), '\n'), probe+"\n"...))
	require.NoError(w.t, err)
	for {
		text := w.line()
		var r reply
		require.NoError(w.t, json.Unmarshal([]byte(text), &r), text)
		require.Contains(w.t, text, `"jsonrpc":"2.0"`)
		require.True(w.t, r.Method != "" || (r.Error == nil) != (r.Result == nil), text)
		if string(r.ID) == `"probe"` && r.Error == nil {
			return
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, line := range corpus() {
		f.Add([]byte(line))
	}
	w := dial(f, wireOptions{unchecked: true, limit: &limits{line: 1 << 20, unread: maxUnread, page: maxPageBytes}})
	close(w.tools.block)
	go func() {
		for range w.tools.entered {
		}
	}()
	f.Cleanup(func() { close(w.tools.entered) })
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Contains(line, []byte(`probe`)) {
			t.Skip("would be taken for the probe")
		}
		w.t = t
		w.alive(line)
	})
}

// TestTenThousandMutatedLines is the fuzz target's work in a fixed amount, so that every run does it.
func TestTenThousandMutatedLines(t *testing.T) {
	w := dial(t, wireOptions{unchecked: true, limit: &limits{line: 1 << 20, unread: maxUnread, page: maxPageBytes}})
	close(w.tools.block)
	go func() {
		for range w.tools.entered {
		}
	}()
	random := rand.New(rand.NewPCG(1, 2))
	lines := corpus()
	for range 10_000 {
		w.alive(mutate(random, lines[random.IntN(len(lines))]))
	}
	_, err := w.close()
	require.NoError(t, err)
	close(w.tools.entered)
	assert.Empty(t, w.tools.ended)
}

// mutate changes, removes, repeats or inserts a few bytes, with a liking for JSON's own characters.
func mutate(random *rand.Rand, line string) []byte {
	const structure = `{}[]",:0123456789.eE-\ntrufals`
	text := []byte(line)
	for range random.IntN(6) {
		at := random.IntN(len(text) + 1)
		switch random.IntN(4) {
		case 0:
			text = append(text[:at:at], text[min(at+1+random.IntN(8), len(text)):]...)
		case 1:
			text = append(text[:at:at], append([]byte{structure[random.IntN(len(structure))]}, text[at:]...)...)
		case 2:
			text = append(text[:at:at], append([]byte{byte(random.IntN(256))}, text[at:]...)...)
		default:
			end := min(at+random.IntN(40), len(text))
			text = append(text[:end:end], text[at:]...)
		}
	}
	return bytes.ReplaceAll(text, []byte("\n"), nil)
}

package stdio

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
)

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"changed my mind"}}`
}

func TestCancellationReachesARunningCall(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		w.send(call(version, "7", "tools/call", `"name":"block"`))
		assert.Equal(t, "block", <-w.tools.entered)
		w.send(cancelled(`"7"`), cancelled("8")) // other ids: of no effect
		w.send(cancelled("7"))
		assert.Equal(t, fault.Cancelled, fault.CodeOf(<-w.tools.ended))
		rest, err := w.close()
		require.NoError(t, err)
		assert.Empty(t, rest, "nothing is written for a cancelled request")
	})
}

func TestCancellationRightBehindTheRequest(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		for i := range 200 {
			id := fmt.Sprint(i)
			w.send(call(version, id, "tools/call", `"name":"block"`), cancelled(id))
			assert.Equal(t, fault.Cancelled, fault.CodeOf(<-w.tools.ended))
		}
		rest, err := w.close()
		require.NoError(t, err)
		assert.Empty(t, rest)
	})
}

func TestALongCallHoldsNothingUp(t *testing.T) {
	w := dial(t, wireOptions{})
	for i := range 100 {
		w.send(call(v26, fmt.Sprint(i), "tools/call", `"name":"block"`))
	}
	assert.Nil(t, w.ask(call(v26, `"quick"`, "tools/call", `"name":"echo"`)).Error)
	assert.Nil(t, w.ask(call(v26, `"list"`, "tools/list", "")).Error)
	close(w.tools.block)
	rest, err := w.close()
	require.NoError(t, err)
	assert.Len(t, rest, 100)
}

func TestTooManyRequestsInFlightAreRefused(t *testing.T) {
	w := dial(t, wireOptions{})
	for i := range maxInFlight {
		w.send(call(v26, fmt.Sprint(i), "tools/call", `"name":"block"`))
	}
	w.wantError(call(v26, `"more"`, "tools/list", ""), codeOverload)
	w.send(cancelled("0"))
	<-w.tools.ended
	close(w.tools.block)
	rest, err := w.close()
	require.NoError(t, err)
	assert.Len(t, rest, maxInFlight-1)
}

func TestProgressComesBeforeTheResponseAndInOrder(t *testing.T) {
	everyVersion(t, func(t *testing.T, version string) {
		w := dialAs(t, version, wireOptions{})
		for _, token := range []string{`"tok\u0041"`, `12345678901234567890`} {
			meta := `"_meta":{"progressToken":` + token + `}`
			if version == v26 {
				meta = `"_meta":{"progressToken":` + token + `,` + modernMeta[len(`"_meta":{`):]
			}
			w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps",` + meta + `}}`)
			var last float64
			for {
				r := w.reply()
				if r.Method == "" {
					require.Nil(t, r.Error)
					break
				}
				assert.Equal(t, "notifications/progress", r.Method)
				assert.Equal(t, token, string(field[json.RawMessage](t, r.Params, "progressToken")))
				now := field[float64](t, r.Params, "progress")
				assert.Greater(t, now, last)
				last = now
			}
			assert.GreaterOrEqual(t, last, 50.0)
		}
		// Without a token nothing is sent.
		assert.Empty(t, w.ask(call(version, "2", "tools/call", `"name":"steps"`)).Method)
		_, err := w.close()
		require.NoError(t, err)
	})
}

func TestBadProgressToken(t *testing.T) {
	w := dialAs(t, v25, wireOptions{})
	w.wantError(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":{}}}}`, -32602)
	_, err := w.close()
	require.NoError(t, err)
	assert.Empty(t, w.tools.entered)
}

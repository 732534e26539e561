package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

const (
	session = id.Session("ses_000000000001")
	pageOne = id.Target("tgt_000000000001")
	pageTwo = id.Target("tgt_000000000002")
)

// bench is a writer without its goroutine.
type bench struct {
	*writer
	clock *coretest.Clock
	store *coretest.Store
	s     *stream
}

func newBench() *bench {
	c := coretest.NewClock(time.Unix(1_700_000_000, 0))
	start := clock.Begin(c)
	store, key := coretest.NewStore(), redact.NewKey()
	w := &writer{
		session: session, clock: start, sink: store, facts: store, log: slog.New(slog.DiscardHandler), queue: newQueue(), ledger: newLedger(session),
		times: newTimes(start), urls: newURLs(key), requests: newRequests(),
		followed: func(string) bool { return false }, showing: map[*stream]clock.SessionTime{},
	}
	return &bench{writer: w, clock: c, store: store, s: &stream{target: pageOne, session: "s1"}}
}

func (b *bench) say(method, params string) cdp.Event {
	return cdp.Event{Session: "s1", Method: method, Params: []byte(params), Received: b.clock.Mono()}
}

func (b *bench) stored(t testing.TB) []record.Event {
	t.Helper()
	b.write(b.queue.take())
	list, _, err := b.store.Events(context.Background(), record.EventQuery{Window: record.Window{SessionID: session, EndNS: 1 << 62, TargetID: pageOne}, Limit: 1 << 20})
	require.NoError(t, err)
	return list
}

func (b *bench) gaps(t testing.TB, target id.Target) []record.Gap {
	t.Helper()
	facts, err := b.store.Within(context.Background(), record.Window{SessionID: session, TargetID: target, EndNS: 1 << 62})
	require.NoError(t, err)
	return facts.Gaps
}

func TestAFullQueueBecomesAGap(t *testing.T) {
	b := newBench()
	one, two := &stream{target: pageOne}, &stream{target: pageTwo}
	for i := range queueShare + 10 {
		b.queue.offer(item{stream: one, message: b.say("Runtime.consoleAPICalled", "{}")}, clock.SessionTime(i), false)
	}
	b.queue.offer(item{stream: two, message: b.say("Runtime.consoleAPICalled", "{}")}, 1, false)
	b.queue.offer(item{stream: one, message: b.say("Inspector.targetCrashed", "{}")}, 1, true)
	queued, dropped := b.queue.state()
	assert.Equal(t, uint64(10), dropped, "one page's storm leaves room for other pages and for important facts")
	assert.Equal(t, queueShare+2, queued)
	b.write(b.queue.take())
	gaps := b.gaps(t, pageOne)
	require.Len(t, gaps, 1)
	assert.Equal(t, record.GapBrowserEventsDropped, gaps[0].Reason)
	assert.Equal(t, record.StreamEvents, gaps[0].Stream)
	assert.Equal(t, uint64(10), gaps[0].Count)
	assert.Equal(t, clock.SessionTime(queueShare), gaps[0].StartNS)
	assert.Equal(t, clock.SessionTime(queueShare+9), *gaps[0].EndNS)
	assert.Empty(t, b.gaps(t, pageTwo))
}

func TestTheQueueIsBoundedInBytes(t *testing.T) {
	q := newQueue()
	s := &stream{target: pageOne}
	big := item{stream: s, message: cdp.Event{Params: make([]byte, queueBytes/4)}}
	for range 6 {
		q.offer(big, 0, true)
	}
	queued, dropped := q.state()
	assert.Equal(t, 4, queued)
	assert.Equal(t, uint64(2), dropped)
	q.close()
	q.offer(big, 0, true)
	assert.False(t, q.sync(func() {}))
}

func TestTheLedgerIsBounded(t *testing.T) {
	l := newLedger(session)
	ids := map[id.Gap]bool{}
	var last record.Gap
	for i := range 1000 {
		at := clock.SessionTime(10 * i)
		last = l.enter(loss{target: pageOne, from: at, to: at + 1, count: 2, reason: record.GapBrowserEventsDropped})
		ids[last.ID] = true
	}
	assert.Len(t, ids, maxGaps+1)
	assert.Equal(t, record.GapLedgerSaturated, last.Reason)
	assert.Equal(t, uint64(2*(1000-maxGaps)), last.Count)
	assert.Equal(t, clock.SessionTime(9991), *last.EndNS)
	merged := newLedger(session)
	first := merged.enter(loss{target: pageOne, from: 1, to: 5, count: 1, reason: record.GapPersistenceRejected})
	again := merged.enter(loss{target: pageOne, from: 5, to: 9, count: 1, reason: record.GapPersistenceRejected})
	assert.Equal(t, first.ID, again.ID, "adjacent gaps of one reason are one")
	assert.Equal(t, uint64(2), again.Count)
}

func TestARefusedBatchBecomesAGap(t *testing.T) {
	b := newBench()
	refuse := true
	b.store.Fail = func(method string) error {
		if method == "AppendEvents" && refuse {
			return errors.New("no space")
		}
		return nil
	}
	b.clock.Advance(time.Second)
	b.handle(b.s, b.say("Runtime.consoleAPICalled", `{"type":"log","args":[]}`))
	assert.Empty(t, b.stored(t))
	refuse = false
	b.handle(b.s, b.say("Runtime.consoleAPICalled", `{"type":"log","args":[]}`))
	list := b.stored(t)
	require.Len(t, list, 1, "the recording goes on")
	assert.Equal(t, uint64(2), list[0].Sequence)
	gaps := b.gaps(t, pageOne)
	require.Len(t, gaps, 1)
	assert.Equal(t, record.GapPersistenceRejected, gaps[0].Reason)
	assert.Equal(t, uint64(1), b.counts.rejected)
	assert.NotNil(t, b.counts.failure)
}

func TestTimesOfEvents(t *testing.T) {
	b := newBench()
	b.clock.Advance(10 * time.Second)
	wall := float64(b.clock.Wall().UnixMilli())
	at := func(params string) record.Event {
		b.handle(b.s, b.say("Runtime.consoleAPICalled", params))
		newest := record.Event{}
		for _, e := range b.stored(t) {
			if e.Sequence > newest.Sequence {
				newest = e
			}
		}
		return newest
	}
	assert.Equal(t, clock.SessionTime(9900*time.Millisecond), at(fmt.Sprintf(`{"timestamp":%f}`, wall-100)).AtNS, "the page's own time")
	assert.Equal(t, clock.SessionTime(10*time.Second), at(fmt.Sprintf(`{"timestamp":%f}`, wall+100)).AtNS, "nothing happens after its message")
	assert.Equal(t, clock.SessionTime(2*time.Second), at(fmt.Sprintf(`{"timestamp":%f}`, wall-8000)).AtNS, "in a storm messages wait")
	b.s.since = clock.SessionTime(time.Second)
	old := at(fmt.Sprintf(`{"timestamp":%f}`, wall-60_000))
	assert.Equal(t, b.s.since, old.AtNS, "what was said before the page was listened to")
	assert.Contains(t, string(old.Payload), `"before_attachment":true`)
	b.clock.JumpWall(time.Hour)
	assert.Equal(t, clock.SessionTime(10*time.Second), at(fmt.Sprintf(`{"timestamp":%f}`, wall+3600_000)).AtNS, "a jump of the wall clock is followed")

	b.handle(b.s, b.say("Network.requestWillBeSent", fmt.Sprintf(`{"requestId":"1","timestamp":500,"wallTime":%f,"request":{"method":"GET","url":"https://h.example/"}}`, wall/1000+3600)))
	b.clock.Advance(time.Second)
	b.handle(b.s, b.say("Network.responseReceived", `{"requestId":"1","timestamp":500.25,"response":{"status":200}}`))
	b.handle(b.s, b.say("Network.loadingFinished", `{"requestId":"1","timestamp":500.125,"encodedDataLength":7}`))
	list := b.stored(t)
	n := len(list)
	assert.InDelta(t, 250e6, float64(list[n-2].AtNS-list[n-3].AtNS), 1e3, "Chrome's monotonic clock is mapped")
	assert.Equal(t, list[n-2].AtNS, list[n-1].AtNS, "the stages of a request keep their order")
	assert.Contains(t, string(list[n-2].Payload), `"duration_ms":250`)
}

func TestUnknownShapesAreCounted(t *testing.T) {
	b := newBench()
	b.handle(b.s, b.say("Runtime.consoleAPICalled", `{"type":7}`))
	b.handle(b.s, b.say("Network.requestWillBeSent", `[]`))
	b.handle(b.s, b.say("Network.somethingNew", `{}`))
	assert.Empty(t, b.stored(t))
	assert.Equal(t, uint64(2), b.counts.malformed)
}

func TestBoundsOfAPayload(t *testing.T) {
	b := newBench()
	var frames []map[string]any
	for range 40 {
		frames = append(frames, map[string]any{"functionName": strings.Repeat("f", 5000), "url": "https://" + strings.Repeat("h", 300) + ".example/x.js", "lineNumber": 1, "columnNumber": 2})
	}
	var args []map[string]any
	for range 30 {
		args = append(args, map[string]any{"type": "string", "value": strings.Repeat("\u0001x", 4000)})
	}
	params, err := json.Marshal(map[string]any{"type": "log", "args": args, "stackTrace": map[string]any{"callFrames": frames}})
	require.NoError(t, err)
	b.handle(b.s, b.say("Runtime.consoleAPICalled", string(params)))
	list := b.stored(t)
	require.Len(t, list, 1)
	assert.LessOrEqual(t, len(list[0].Payload), maxPayload)
	var p map[string]any
	require.NoError(t, json.Unmarshal(list[0].Payload, &p))
	assert.InEpsilon(t, 30.0, p["argument_count"], 1e-9)
	assert.InEpsilon(t, 14.0, p["omitted_arguments"], 1e-9)
	assert.Equal(t, true, p["truncated"])
	stack, _ := p["stack"].([]any)
	assert.InEpsilon(t, float64(40-len(stack)), p["omitted_frames"], 1e-9)
}

func TestFormatting(t *testing.T) {
	text := func(s string) remote { v, _ := json.Marshal(s); return remote{Type: "string", Value: v} }
	number := remote{Type: "number", Value: []byte("42")}
	for _, c := range []struct {
		args []remote
		want string
	}{
		{nil, ""},
		{[]remote{text("a"), number, {Type: "undefined"}, {Type: "object", Subtype: "null"}, {Type: "number", Unserializable: "NaN"}}, "a 42 undefined null NaN"},
		{[]remote{text("%c%s is %d%% of %o %x %"), text("color:red"), text("x"), number, {Type: "object", Description: "Foo"}, text("rest")}, "x is 42% of Foo %x % rest"},
		{[]remote{text("%s and %s"), text("one")}, "one and %s"},
		{[]remote{text("password"), text("hunter2"), text("x")}, "password [redacted] x"},
		{[]remote{text("api_key ="), text("hunter2")}, "api_key = [redacted]"},
		{[]remote{{Type: "function", Description: "function f(){secret}"}}, "[function]"},
		{[]remote{{Type: "object", Description: "Object", Preview: &preview{Description: "Object", Overflow: true, Properties: []property{{"a", "string", "x"}, {"token", "string", "hunter2"}, {"f", "function", ""}}}}}, `{a: "x", token: [redacted], f: [function], …}`},
		{[]remote{{Type: "object", Preview: &preview{Description: "Map(1)", Subtype: "map", Entries: []previewEntry{{Key: &preview{Description: "secret"}, Value: preview{Description: "hunter2"}}}}}}, "Map(1) {secret => [redacted]}"},
		{[]remote{{Type: "object", Preview: &preview{Description: "Set(1)", Subtype: "set", Entries: []previewEntry{{Value: preview{Description: "x"}}}}}}, "Set(1) {x}"},
	} {
		assert.Equal(t, c.want, message(c.args))
	}
}

func TestSeverities(t *testing.T) {
	assert.Equal(t, []record.Severity{record.Error, record.Error, record.Warning, record.Debug, record.Info},
		[]record.Severity{consoleSeverity("error"), consoleSeverity("assert"), consoleSeverity("warning"), consoleSeverity("debug"), consoleSeverity("table")})
	assert.Equal(t, []record.Severity{record.Error, record.Warning, record.Debug, record.Info},
		[]record.Severity{logSeverity("error"), logSeverity("warning"), logSeverity("verbose"), logSeverity("info")})
	assert.Equal(t, []record.Severity{record.Error, record.Warning, record.Info}, []record.Severity{statusSeverity(503), statusSeverity(404), statusSeverity(301)})
}

func TestRequestsAreForgottenInTheEnd(t *testing.T) {
	r := newRequests()
	for i := range 3 * maxInflight {
		k := fmt.Sprint(i)
		r.add(k, &inflight{kind: "fetch"})
		if i%2 == 0 {
			r.end(k)
		}
	}
	assert.LessOrEqual(t, len(r.known), maxInflight)
	assert.LessOrEqual(t, len(r.order), 2*maxInflight)
	assert.Equal(t, "fetch", r.get(fmt.Sprint(3*maxInflight-1)).kind)
	assert.Empty(t, r.get("0").kind)
}

func TestTokens(t *testing.T) {
	assert.Equal(t, "net::ERR_FAILED", token("net::ERR_FAILED"))
	assert.Equal(t, "other", token("has blanks"))
	assert.Equal(t, "other", token(strings.Repeat("x", 200)))
	assert.Equal(t, "text/html", mimeType("Text/HTML; charset=utf-8"))
	assert.Empty(t, requestID(strings.Repeat("x", 65)))
}

// Whatever a page sends, an event is bounded JSON, and a value in a place that is never collected does not come out.
func TestRandomMessages(t *testing.T) {
	methods := append(append(append(append([]string{}, wordMessages...), loadMessages...), pageMessages...), factMessages...)
	rapid.Check(t, func(t *rapid.T) {
		b := newBench()
		secret := rapid.StringMatching(`[b-df-hj-np-tv-z0-9]{12,20}`).Draw(t, "secret")
		method := rapid.SampledFrom(methods).Draw(t, "method")
		words := rapid.StringN(0, 300, -1).Draw(t, "words")
		raw, _ := json.Marshal(map[string]any{
			"requestId": "1.1", "timestamp": rapid.Float64().Draw(t, "ts"), "wallTime": 1, "type": "Fetch", "errorText": secret, "result": true, "message": words, "userInput": secret,
			"request":  map[string]any{"url": "https://h.example/" + secret + "?" + secret, "method": secret, "headers": map[string]any{"Cookie": secret, secret: secret}, "postData": secret},
			"response": map[string]any{"url": "https://u:" + secret + "@h.example/", "status": 200, "statusText": secret, "headers": map[string]any{"Set-Cookie": secret}, "headersText": secret, "mimeType": secret, "protocol": secret, "remoteIPAddress": secret},
			"entry":    map[string]any{"source": "network", "text": words, "url": "data:text/plain," + secret}, "args": []any{map[string]any{"type": "string", "value": words}},
			"exceptionDetails": map[string]any{"text": words, "url": "blob:null/" + secret, "exception": map[string]any{"type": "string", "value": words}}, "frameId": secret, "loaderId": secret, "name": secret,
		})
		b.handle(b.s, b.say(method, string(raw)))
		b.write(b.queue.take())
		list, _, _ := b.store.Events(context.Background(), record.EventQuery{Window: record.Window{SessionID: session, TargetID: pageOne, StartNS: -1 << 62, EndNS: 1 << 62}, Limit: 10})
		for _, e := range list {
			if len(e.Payload) > maxPayload || !json.Valid(e.Payload) || strings.Contains(string(e.Payload), secret) {
				t.Fatalf("%s: %s", method, e.Payload)
			}
		}
	})
}

func FuzzHandle(f *testing.F) {
	f.Add("Runtime.consoleAPICalled", `{"type":"log","args":[{"type":"object","preview":{"properties":[{"name":"a"}]}}],"stackTrace":{"callFrames":[{}]}}`)
	f.Add("Network.requestWillBeSent", `{"requestId":"1","request":{"url":"x"},"redirectResponse":{"timing":{}}}`)
	f.Add("Runtime.exceptionThrown", `{"exceptionDetails":{"exception":{"type":"object","subtype":"error","description":"E\n    at x"},"stackTrace":{}}}`)
	f.Fuzz(func(t *testing.T, method, params string) {
		b := newBench()
		b.handle(b.s, b.say(method, params))
		b.write(b.queue.take())
	})
}

func BenchmarkEventConsole(b *testing.B) {
	w := newBench()
	w.sink = discard{}
	e := w.say("Runtime.consoleAPICalled", `{"type":"log","args":[{"type":"string","value":"Rendered 12 rows of table orders in 3.5 ms"},{"type":"number","value":42,"description":"42"}],"executionContextId":1,"timestamp":1700000000000.5,"stackTrace":{"callFrames":[{"functionName":"render","scriptId":"7","url":"https://shop.example/assets/app.js","lineNumber":10,"columnNumber":4}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		w.handle(w.s, e)
	}
}

type discard struct{}

func (discard) AppendEvents(context.Context, []record.Event) error { return nil }

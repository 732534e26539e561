package input_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/control"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/require"
)

// BenchmarkAction compares each action with the bare commands it cannot do without, in the same run: the input itself
// and two animation frames. added-ms is what finding, checking, guarding and settling cost on top; observed-ms is the
// observation.
func BenchmarkAction(b *testing.B) {
	x := newBench(b)
	s := browsertest.Page(b, `<!doctype html><title>bench</title><button id=b style="position:absolute;left:20px;top:20px;width:100px;height:30px">Go</button><input id=i style="position:absolute;left:20px;top:80px">`+strings.Repeat(`<p>Row <a href="#x">link</a> <button>act</button></p>`, 60))
	move := map[string]any{"type": "mouseMoved", "x": 70, "y": 35, "button": "none"}
	press := map[string]any{"type": "mousePressed", "x": 70, "y": 35, "button": "left", "buttons": 1, "clickCount": 1}
	release := map[string]any{"type": "mouseReleased", "x": 70, "y": 35, "button": "left", "clickCount": 1}
	for _, c := range []struct {
		operation string
		request   func() any
		bare      func()
	}{
		{"click", func() any { return &core.ClickRequest{Locator: core.Locator{CSS: "#b"}} }, func() { send(b, s, "Input.dispatchMouseEvent", move, press, release) }},
		{"hover", func() any { return &core.HoverRequest{Locator: core.Locator{CSS: "#b"}} }, func() { send(b, s, "Input.dispatchMouseEvent", move) }},
		{"fill", func() any { return &core.FillRequest{Element: core.Element{CSS: "#i"}, Value: "some text"} }, func() {
			send(b, s, "Runtime.evaluate", map[string]any{"expression": "i.focus(), i.select()"})
			send(b, s, "Input.insertText", map[string]any{"text": "some text"})
		}},
		{"press_keys", func() any { return &core.PressRequest{Keys: []string{"Escape"}} }, func() {
			send(b, s, "Input.dispatchKeyEvent", map[string]any{"type": "rawKeyDown", "key": "Escape"}, map[string]any{"type": "keyUp", "key": "Escape"})
		}},
	} {
		b.Run(c.operation, func(b *testing.B) { benchAction(b, x, s, c.operation, c.request, c.bare) })
	}
}

func benchAction(b *testing.B, x *bench, s *page.Session, operation string, request func() any, bare func()) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var floor, ours, observed time.Duration
	var bytes int
	for b.Loop() {
		at := time.Now()
		bare()
		send(b, s, "Runtime.evaluate", map[string]any{"expression": "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))", "awaitPromise": true})
		floor += time.Since(at)

		at = time.Now()
		a := control.Action{Operation: operation, TargetID: s.Target(), Request: request(), Observe: true}
		p, err := x.driver.Resolve(ctx, a)
		require.NoError(b, err)
		_, err = x.driver.Dispatch(ctx, a, p, func() {})
		require.NoError(b, err)
		settled, err := x.driver.Settle(ctx, a, p)
		require.NoError(b, err)
		ours += time.Since(at)

		at = time.Now()
		o, err := x.driver.Observe(ctx, a, p, settled)
		require.NoError(b, err)
		observed += time.Since(at)
		if o.Tree != nil {
			bytes = len(strings.Join(o.Tree.Concise().Lines(), "\n"))
		} else if raw, err := json.Marshal(o.Same); err == nil {
			bytes = len(raw)
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(ms(floor), "floor-ms")
	b.ReportMetric(ms(ours-floor), "added-ms")
	b.ReportMetric(ms(observed), "observed-ms")
	b.ReportMetric(float64(bytes), "structure-bytes")
}

func send(b *testing.B, s *page.Session, method string, params ...map[string]any) {
	b.Helper()
	var pending []*page.Pending
	for _, p := range params {
		sent, err := s.Start(b.Context(), method, p)
		require.NoError(b, err)
		pending = append(pending, sent)
	}
	for _, p := range pending {
		require.NoError(b, p.Wait(nil))
	}
}

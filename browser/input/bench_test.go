package input_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/control"
	core "github.com/krometrail/krometrail/core/page"
)

// BenchmarkAction compares each action with the bare commands it cannot do without, in the same run: the input itself
// and two animation frames. added-ms is what finding, checking, guarding and settling cost on top; observed-ms is the
// observation.
func BenchmarkAction(b *testing.B) {
	x := newBench(b)
	s := browsertest.Page(b, benchPage())
	upload := filepath.Join(b.TempDir(), "report.txt")
	require.NoError(b, os.WriteFile(upload, []byte("x"), 0o600))
	for _, c := range []struct {
		operation string
		request   func() any
		bare      func()
	}{
		{"click", func() any { return &core.ClickRequest{Locator: core.Locator{CSS: "#b"}} }, func() { send(b, s, "Input.dispatchMouseEvent", moveTo(70, 35), pressAt(70, 35), releaseAt(70, 35)) }},
		{"hover", func() any { return &core.HoverRequest{Locator: core.Locator{CSS: "#b"}} }, func() { send(b, s, "Input.dispatchMouseEvent", moveTo(70, 35)) }},
		{"drag", func() any {
			return &core.DragRequest{From: core.Locator{CSS: "#k"}, To: core.Locator{CSS: "#b"}, Steps: 10}
		}, func() {
			send(b, s, "Input.dispatchMouseEvent", moveTo(270, 95), pressAt(270, 95))
			for i := 1; i <= 10; i++ {
				send(b, s, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": 270 - 20*i, "y": 95 - 6*i, "button": "left", "buttons": 1})
			}
			send(b, s, "Input.dispatchMouseEvent", releaseAt(70, 35))
		}},
		{"scroll", func() any { return &core.ScrollRequest{Locator: core.Locator{CSS: "#s"}, DY: 1} }, func() {
			send(b, s, "Runtime.evaluate", map[string]any{"expression": "s.scrollBy(0, 1)"})
		}},
		{"fill", func() any { return &core.FillRequest{Element: core.Element{CSS: "#i"}, Value: "some text"} }, func() {
			send(b, s, "Runtime.evaluate", map[string]any{"expression": "i.focus(), i.select()"})
			send(b, s, "Input.insertText", map[string]any{"text": "some text"})
		}},
		{"clear", func() any { return &core.ClearRequest{Element: core.Element{CSS: "#i"}} }, func() {
			send(b, s, "Runtime.evaluate", map[string]any{"expression": "i.focus(), i.select()"})
			send(b, s, "Input.dispatchKeyEvent", keyOf("rawKeyDown", "Delete"), keyOf("keyUp", "Delete"))
		}},
		{"type_text", func() any { return &core.TypeRequest{Element: core.Element{CSS: "#i"}, Text: "some"} }, func() {
			send(b, s, "Runtime.evaluate", map[string]any{"expression": "i.focus()"})
			for _, key := range []string{"s", "o", "m", "e"} {
				send(b, s, "Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": key}, keyOf("keyUp", key))
			}
		}},
		{"press_keys", func() any { return &core.PressRequest{Keys: []string{"Escape"}} }, func() {
			send(b, s, "Input.dispatchKeyEvent", keyOf("rawKeyDown", "Escape"), keyOf("keyUp", "Escape"))
		}},
		{"select_option", func() any {
			v := "2"
			return &core.SelectRequest{Element: core.Element{CSS: "#o"}, Value: &v}
		}, func() {
			send(b, s, "Runtime.evaluate", map[string]any{"expression": "o.value = '2', o.dispatchEvent(new Event('change'))"})
		}},
		{"toggle", func() any { return &core.ToggleRequest{Element: core.Element{CSS: "#c"}, State: "flip"} }, func() { send(b, s, "Input.dispatchMouseEvent", moveTo(407, 87), pressAt(407, 87), releaseAt(407, 87)) }},
		{"upload_files", func() any {
			return &core.UploadRequest{Element: core.Element{CSS: "#f"}, Files: []string{upload}}
		}, func() {
			var found struct {
				Result struct {
					ID string `json:"objectId"`
				} `json:"result"`
			}
			require.NoError(b, s.Send(b.Context(), "Runtime.evaluate", map[string]any{"expression": "f"}, &found))
			send(b, s, "DOM.setFileInputFiles", map[string]any{"files": []string{upload}, "objectId": found.Result.ID})
		}},
		{"evaluate", func() any { return &core.EvaluateRequest{Expression: "1 + 1"} }, func() { send(b, s, "Runtime.evaluate", map[string]any{"expression": "1 + 1", "returnByValue": true}) }},
	} {
		b.Run(c.operation, func(b *testing.B) { benchAction(b, x, s, c.operation, c.request, c.bare) })
	}
}

func benchPage() string {
	at := func(x, y int) string { return fmt.Sprintf("style=\"position:absolute;left:%dpx;top:%dpx\"", x, y) }
	return `<!doctype html><title>bench</title><button id=b style="position:absolute;left:20px;top:20px;width:100px;height:30px">Go</button><input id=i ` + at(20, 80) +
		`><div id=k style="position:absolute;left:250px;top:75px;width:40px;height:40px;background:#cde;user-select:none"></div><input type=checkbox id=c ` + at(400, 80) +
		`><select id=o ` + at(500, 80) + `><option value=1>one<option value=2>two</select><input type=file id=f ` + at(600, 80) +
		`><div id=s style="position:absolute;left:900px;top:20px;width:100px;height:80px;overflow:auto"><div style="height:90000px"></div></div><div style="height:120px"></div>` +
		strings.Repeat(`<p>Row <a href="#x">link</a> <button>act</button></p>`, 60)
}

func moveTo(x, y int) map[string]any {
	return map[string]any{"type": "mouseMoved", "x": x, "y": y, "button": "none"}
}

func pressAt(x, y int) map[string]any {
	return map[string]any{"type": "mousePressed", "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
}

func releaseAt(x, y int) map[string]any {
	return map[string]any{"type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1}
}

func keyOf(kind, key string) map[string]any { return map[string]any{"type": kind, "key": key} }

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

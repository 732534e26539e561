package input_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/cdptest"
	"github.com/krometrail/krometrail/browser/input"
	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// scripted is a page whose browser does what the test says.
type scripted struct {
	peer    *cdptest.Peer
	clock   *coretest.Clock
	page    *page.Session
	session id.Session
	facts   *coretest.Store
	runner  *control.Runner
}

// answers of the page's script by method; the zero value of a method not listed is {}.
var answers = map[string]string{
	"find": `{"count":1,"node":1}`, "state": `{"connected":true,"role":"button","tag":"button","visible":true}`,
	"aim": `{"x":10,"y":10}`, "arm": `{"ok":true}`, "disarm": `{"hit":true,"seen":4,"clicks":1}`, "rendezvous": `true`,
	"walk": `"{\"depth\":[0],\"role\":[\"button\"],\"name\":[\"Go\"],\"value\":[\"\"],\"states\":[0],\"flags\":[1],\"serial\":[1],\"url\":[\"\"],\"title\":\"T\",\"address\":\"about:blank\"}"`,
}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	peer, transport := cdptest.OverPipe(t)
	x := &scripted{peer: peer, clock: coretest.NewClock(time.Unix(1_900_000_000, 0)), session: id.New[id.Session]()}
	peer.Handle("Runtime.callFunctionOn", func(c cdptest.Command) cdptest.Reply {
		var p struct {
			Arguments []struct {
				Value json.RawMessage `json:"value"`
			} `json:"arguments"`
		}
		if c.Decode(&p) != nil || len(p.Arguments) < 2 {
			return cdptest.Fail(-32602, "unexpected")
		}
		var method string
		_ = json.Unmarshal(p.Arguments[1].Value, &method)
		answer := answers[method]
		if answer == "" {
			answer = "{}"
		}
		return cdptest.Reply{Result: map[string]any{"result": map[string]any{"value": json.RawMessage(`{"value":` + answer + `}`)}}}
	})
	peer.Handle("Page.captureScreenshot", func(cdptest.Command) cdptest.Reply {
		return cdptest.Reply{Result: map[string]any{"data": picture(t)}}
	})
	client := cdp.NewClient(transport, x.clock)
	t.Cleanup(func() { _ = client.Close() })
	root := page.NewBrowser(client, x.clock, page.Versions{Browser: cdptest.Product, Protocol: cdptest.Protocol})
	x.facts = coretest.NewStore()
	x.page = page.New(page.Config{
		Browser: root, CDPSession: "session-x", CDPTarget: "x", Target: id.New[id.Target](), Session: x.session,
		Clock: clock.Begin(x.clock), Facts: x.facts, URLs: redact.NewKey(),
	})
	t.Cleanup(x.page.Detach)
	registry := snapshot.NewRegistry()
	observer := observe.New(x, registry, observe.NewRing())
	driver := input.NewDriver(input.Deps{Pages: x, Tabs: x, Downloads: noDownloads{}, Snapshots: registry, Observer: observer})
	x.runner = control.NewRunner(driver, x, x.facts, nil, slog.New(slog.DiscardHandler))
	return x
}

// picture is a real one of the scripted viewport's size.
func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 1280, 720)), nil))
	return b.Bytes()
}

func (x *scripted) Page(id.Target) (*page.Session, error)             { return x.page, nil }
func (x *scripted) PageCursor() string                                { return "p0" }
func (x *scripted) MarkAction()                                       {}
func (x *scripted) PagesSince(string) ([]core.NewPage, error)         { return nil, nil }
func (x *scripted) EnsureForeground(context.Context, id.Target) error { return nil }
func (x *scripted) Current() (id.Session, clock.Session, error) {
	return x.session, x.page.Clock(), nil
}
func (x *scripted) GapsSince(id.Target, clock.SessionTime) []id.Gap { return nil }
func (x *scripted) CaptureFailure(id.Target) error                  { return nil }
func (x *scripted) WaitForPage(context.Context, core.WaitForPageRequest) (core.NewPageResult, error) {
	return core.NewPageResult{}, nil
}

// click clicks the page's one button through the whole life of an interaction.
func (x *scripted) click(t *testing.T) (capability.Outcome, error) {
	t.Helper()
	return x.act(t, "click", &core.ClickRequest{Locator: core.Locator{CSS: "button"}})
}

func (x *scripted) act(t *testing.T, operation string, request any) (capability.Outcome, error) {
	t.Helper()
	kind := control.Kind{Operation: operation, Observe: true, PageAffecting: true}
	return x.runner.Do(t.Context(), kind, x.page.Target(), request)
}

// kinds are actions with one press, a move, a row of moves, and keys.
func kinds() map[string]any {
	button := core.Locator{CSS: "button"}
	return map[string]any{
		"click": &core.ClickRequest{Locator: button, Button: "left", Count: 1}, "hover": &core.HoverRequest{Locator: button},
		"drag":       &core.DragRequest{From: button, To: core.Locator{Point: &core.Point{X: 30, Y: 30, Space: core.SpaceViewport}}, Steps: 3},
		"press_keys": &core.PressRequest{Keys: []string{"Escape"}},
	}
}

var inputs = []string{"Input.dispatchMouseEvent", "Input.dispatchKeyEvent"}

// TestNoKindOfInputSuggestsToRepeat: once the first input may have reached the page, a lost connection is told
// without advice to act again and stays on the record; a refused picture only degrades.
func TestNoKindOfInputSuggestsToRepeat(t *testing.T) {
	for operation, request := range kinds() {
		t.Run(operation+"/connection lost", func(t *testing.T) {
			x := newScripted(t)
			for _, method := range inputs {
				x.peer.Handle(method, func(cdptest.Command) cdptest.Reply {
					go x.peer.Drop()
					return cdptest.Hang()
				})
			}
			out, err := x.act(t, operation, request)
			require.NoError(t, err)
			assert.Equal(t, capability.Degraded, out.Status)
			require.NotNil(t, out.Err)
			assert.Equal(t, fault.BrowserDisconnected, out.Err.Code)
			assert.Equal(t, fault.Never, out.Err.Retry)
			stored := x.record(t)
			require.NotNil(t, stored)
			assert.NotEqual(t, record.Succeeded, stored.Outcome)
		})
		t.Run(operation+"/screenshot refused", func(t *testing.T) {
			x := newScripted(t)
			x.peer.Handle("Page.captureScreenshot", func(cdptest.Command) cdptest.Reply { return cdptest.Fail(-32000, "no frame") })
			out, err := x.act(t, operation, request)
			require.NoError(t, err)
			assert.Equal(t, capability.Degraded, out.Status)
			require.NotNil(t, out.Err)
			assert.Equal(t, fault.ScreenshotFailed, out.Err.Code)
			assert.Equal(t, fault.Never, out.Err.Retry)
			assert.Equal(t, record.Degraded, x.record(t).Outcome)
		})
	}
}

// record is the interaction as it is stored at last, nil when none is.
func (x *scripted) record(t *testing.T) *record.Interaction {
	t.Helper()
	list, err := x.facts.Interactions(t.Context(), x.session, "", 10)
	require.NoError(t, err)
	if len(list) == 0 {
		return nil
	}
	require.Len(t, list, 1)
	return &list[0]
}

func TestAnUndisturbedActionSucceeds(t *testing.T) {
	x := newScripted(t)
	out, err := x.click(t)
	require.NoError(t, err)
	assert.Empty(t, out.Status, "%v", out.Err)
	assert.Equal(t, record.Succeeded, x.record(t).Outcome)
	require.Len(t, out.Pictures, 1)
}

func TestARefusedScreenshotDegradesTheAnswer(t *testing.T) {
	x := newScripted(t)
	x.peer.Handle("Page.captureScreenshot", func(cdptest.Command) cdptest.Reply { return cdptest.Fail(-32000, "no frame: private detail") })
	out, err := x.click(t)
	require.NoError(t, err, "a proven dispatch never becomes an error")
	assert.Equal(t, capability.Degraded, out.Status)
	assert.Equal(t, fault.ScreenshotFailed, out.Err.Code)
	assert.Equal(t, fault.Never, out.Err.Retry, "nothing suggests to act again")
	assert.NotContains(t, fmt.Sprint(out.Err), "private")
	assert.Equal(t, record.Degraded, x.record(t).Outcome)
	result, ok := out.Result.(control.Result)
	require.True(t, ok)
	assert.NotNil(t, result.Tree, "the rest of the observation stands")
}

func TestAConnectionLostAfterTheDispatchDegradesTheAnswer(t *testing.T) {
	x := newScripted(t)
	x.peer.Handle("Input.dispatchMouseEvent", func(c cdptest.Command) cdptest.Reply {
		var p struct {
			Type string `json:"type"`
		}
		_ = c.Decode(&p)
		if p.Type == "mouseReleased" {
			go x.peer.Drop()
			return cdptest.Hang()
		}
		return cdptest.Reply{}
	})
	out, err := x.click(t)
	require.NoError(t, err)
	assert.Equal(t, capability.Degraded, out.Status)
	assert.Equal(t, fault.BrowserDisconnected, out.Err.Code)
	assert.Equal(t, fault.Never, out.Err.Retry)
	stored := x.record(t)
	require.NotNil(t, stored, "what was dispatched is on the record")
	assert.Equal(t, record.Degraded, stored.Outcome)
}

func TestAConnectionLostBeforeTheDispatchLeavesNoRecord(t *testing.T) {
	x := newScripted(t)
	x.peer.Drop()
	out, err := x.click(t)
	assert.Equal(t, fault.BrowserDisconnected, fault.CodeOf(err))
	require.NotNil(t, out.Interaction)
	assert.Nil(t, out.Interaction.DispatchedNS, "never a zero time")
	assert.Nil(t, x.record(t))
}

func TestAnInputThatIsNeverAnsweredDegradesTheAnswer(t *testing.T) {
	x := newScripted(t)
	x.peer.Handle("Input.dispatchMouseEvent", func(cdptest.Command) cdptest.Reply { return cdptest.Hang() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.peer.Await(3, "Input.dispatchMouseEvent")
		x.clock.Advance(page.DefaultDeadline + time.Second)
	}()
	out, err := x.click(t)
	<-done
	require.NoError(t, err)
	assert.Equal(t, capability.Degraded, out.Status)
	assert.Equal(t, fault.PageUnresponsive, out.Err.Code)
	assert.Equal(t, fault.Never, out.Err.Retry)
	assert.NotNil(t, x.record(t))
}

func TestAHungRendererLosesTheObservationOnly(t *testing.T) {
	x := newScripted(t)
	old := answers["walk"]
	defer func() { answers["walk"] = old }()
	answers["walk"] = `"not a structure"`
	out, err := x.click(t)
	require.NoError(t, err)
	assert.Equal(t, capability.Degraded, out.Status)
	assert.Equal(t, fault.PageObservationFailed, out.Err.Code)
}

func TestADialogDuringTheDispatchIsAnOutcome(t *testing.T) {
	x := newScripted(t)
	x.peer.Handle("Input.dispatchMouseEvent", func(c cdptest.Command) cdptest.Reply {
		x.peer.Event(c.Session, "Page.javascriptDialogOpening", map[string]any{"type": "confirm", "message": "Sure?"})
		return cdptest.Hang()
	})
	out, err := x.click(t)
	require.NoError(t, err)
	assert.Empty(t, out.Status)
	result, ok := out.Result.(control.Result)
	require.True(t, ok)
	assert.Equal(t, "confirm", result.Dialog.Type)
	assert.Equal(t, record.Succeeded, x.record(t).Outcome)
}

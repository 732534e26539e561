package page_test

import (
	"testing"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequestsNameTheArgumentThatBreaksARule(t *testing.T) {
	ref := page.Element{Ref: "e1@1"}
	empty := ""
	for _, c := range []struct {
		request interface{ Validate() error }
		path    string
	}{
		{&page.ClickRequest{}, "ref"},
		{&page.ClickRequest{Locator: page.Locator{Ref: "e1@1", CSS: "b"}}, "css"},
		{&page.ClickRequest{Locator: page.Locator{Ref: "e1@1", Point: &page.Point{}}}, "point"},
		{&page.ClickRequest{Locator: page.Locator{Ref: "42"}}, "ref"},
		{&page.ClickRequest{Locator: page.Locator{Query: "x"}}, "query"},
		{&page.ClickRequest{Locator: page.Locator{Ref: "e1@1"}, Button: "fourth"}, "button"},
		{&page.ClickRequest{Locator: page.Locator{Ref: "e1@1"}, Count: 4}, "count"},
		{&page.ClickRequest{Locator: page.Locator{Ref: "e1@1"}, Modifiers: []string{"hyper"}}, "modifiers[0]"},
		{&page.ClickRequest{Locator: page.Locator{Point: &page.Point{X: -1}}}, "point"},
		{&page.ClickRequest{Locator: page.Locator{Point: &page.Point{Space: "moon"}}}, "point.space"},
		{&page.FillRequest{Element: ref, Mode: "prepend"}, "mode"},
		{&page.TypeRequest{Element: ref}, "text"},
		{&page.PressRequest{}, "keys"},
		{&page.PressRequest{Keys: []string{"Enter", "Foo"}}, "keys[1]"},
		{&page.PressRequest{Keys: []string{"Enter"}, HoldMS: 9000}, "hold_ms"},
		{&page.SelectRequest{Element: ref}, "value"},
		{&page.SelectRequest{Element: ref, Value: &empty, Label: &empty}, "value"},
		{&page.ToggleRequest{Element: ref, State: "half"}, "state"},
		{&page.DragRequest{From: page.Locator{Ref: "e1@1"}}, "to.ref"},
		{&page.ScrollRequest{}, "dy"},
		{&page.ScrollRequest{DY: 10, ToRef: "e1@1"}, "dx"},
		{&page.UploadRequest{Element: ref}, "files"},
		{&page.HandleDialogRequest{Action: "maybe"}, "action"},
		{&page.HandleDialogRequest{Action: "dismiss", PromptText: &empty}, "prompt_text"},
		{&page.ScreenshotRequest{Of: "region"}, "rect"},
		{&page.ScreenshotRequest{Rect: &page.Rect{}}, "rect"},
		{&page.ScreenshotRequest{Of: "viewport", Element: ref}, "ref"},
		{&page.ScreenshotRequest{Quality: 5}, "quality"},
		{&page.EvaluateRequest{}, "expression"},
		{&page.EvaluateRequest{Expression: "1", Args: []page.EvaluateArg{{}}}, "args[0]"},
		{&page.EvaluateRequest{Expression: "1", Frames: "main"}, "frames"},
		{&page.SnapshotRequest{Frames: "some"}, "frames"},
		{&page.QueryRequest{}, "query"},
		{&page.WaitRequest{}, "elapsed_ms"},
		{&page.WaitRequest{Text: "a", ElapsedMS: 5}, "text"},
		{&page.WaitRequest{ElapsedMS: 5, Absent: true}, "absent"},
		{&page.WaitRequest{Ref: "e1@1", State: "shiny"}, "state"},
		{&page.WaitRequest{Expression: "1", PollMS: 1}, "poll_ms"},
		{&page.BatchRequest{}, "steps"},
		{&page.BatchRequest{Steps: []page.Step{{Tool: "batch"}}}, "steps[0].tool"},
		{&page.SetCookiesRequest{}, "cookies"},
		{&page.SetCookiesRequest{Cookies: []page.Cookie{{}}}, "cookies[0].name"},
		{&page.WaitForDownloadRequest{}, "after"},
		{&page.CancelDownloadRequest{DownloadID: "tgt_0123456789ab"}, "download_id"},
	} {
		err := c.request.Validate()
		require.Error(t, err, "%+v", c.request)
		assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
		assert.Contains(t, err.Error(), "argument "+c.path+":", "%+v", c.request)
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	click := page.ClickRequest{Locator: page.Locator{CSS: "b"}}
	require.NoError(t, click.Validate())
	assert.Equal(t, "left", click.Button)
	assert.Equal(t, 1, click.Count)
	wait := page.WaitRequest{CSS: "b"}
	require.NoError(t, wait.Validate())
	assert.Equal(t, page.WaitState, wait.Condition())
	assert.Equal(t, []any{"attached", 25000, 100}, []any{wait.State, wait.TimeoutMS, wait.PollMS})
	shot := page.ScreenshotRequest{Rect: &page.Rect{Width: 1, Height: 1}}
	require.NoError(t, shot.Validate())
	assert.Equal(t, "region", shot.Of)
}

func TestReferencesOfRequestsNameTheirPage(t *testing.T) {
	drag := page.DragRequest{From: page.Locator{Ref: "e1@1"}, To: page.Locator{Query: "role=button within=e2@1"}}
	assert.Equal(t, []string{"e1@1", "e2@1"}, drag.PageRefs())
	scroll := page.ScrollRequest{ToRef: "e3@1"}
	assert.Equal(t, []string{"e3@1"}, scroll.PageRefs())
	evaluate := page.EvaluateRequest{Args: []page.EvaluateArg{{Ref: "e4@1"}, {}}}
	assert.Equal(t, []string{"e4@1"}, evaluate.PageRefs())
}

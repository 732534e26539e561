package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	_ "image/jpeg" // frames
	_ "image/png"  // artifacts
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/cmd/harness"
)

// flash is a page whose square shows another colour for 100 ms, 300 ms after a click, and then what it showed before.
const flash = `<!doctype html><title>Flash</title><style>body{margin:0;background:#fff}#s{width:400px;height:400px;background:#2040c0}</style>
<button onclick="setTimeout(()=>s.style.background='#e01020',300);setTimeout(()=>s.style.background='#2040c0',400)">Go</button><div id="s"></div>`

// bundled is what these tests read of a bundle.
type bundled struct {
	Status string `json:"status"`
	Result struct {
		Header  string `json:"header"`
		Quality struct {
			CarryIn string `json:"carry_in"`
		} `json:"capture_quality"`
	} `json:"result"`
	RangeHandle string `json:"range_handle"`
	Range       struct {
		StartNS int64 `json:"start_ns"`
	} `json:"range"`
	Resources []struct{ Role, URI, Name string } `json:"resources"`
}

func bundle(t *testing.T, arguments map[string]any) bundled {
	t.Helper()
	arguments["detail"] = "full"
	var b bundled
	require.NoError(t, json.Unmarshal(answer(t, "temporal_debug_bundle", arguments).Structured, &b))
	require.Equal(t, "succeeded", b.Status, "%s", b.Result.Header)
	return b
}

func picture(t *testing.T, uri string) image.Image {
	t.Helper()
	content, err := shared.program.Client.ReadResource(t.Context(), uri)
	require.NoError(t, err)
	img, _, err := image.Decode(bytes.NewReader(content.Data))
	require.NoError(t, err)
	return img
}

// shows counts pixels near a colour; JPEG and scaling move values a little.
func shows(img image.Image, r, g, b int) int {
	count := 0
	near := func(a uint32, b int) bool { d := int(a>>8) - b; return d > -28 && d < 28 }
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if pr, pg, pb, _ := img.At(x, y).RGBA(); near(pr, r) && near(pg, g) && near(pb, b) {
				count++
			}
		}
	}
	return count
}

func TestAStateOf100MillisecondsIsInTheFramesAndInTheStoryboard(t *testing.T) {
	target := open(t, flash)
	e := call(t, "click", map[string]any{"target": target, "query": `role=button name="Go"`})
	require.Equal(t, "succeeded", e.Status, "%+v", e.Error)
	b := bundle(t, map[string]any{"target": target, "after_ms": 1000})
	require.NotEmpty(t, b.Resources)
	assert.Equal(t, "storyboard", b.Resources[0].Name)
	assert.Greater(t, shows(picture(t, b.Resources[0].URI), 0xe0, 0x10, 0x20), 500, "the storyboard shows the red square")

	var fetched struct {
		Resources []struct{ URI string } `json:"resources"`
	}
	require.NoError(t, json.Unmarshal(answer(t, "fetch_source_frames", map[string]any{"range_handle": b.RangeHandle, "max_frames": 64}).Structured, &fetched))
	red := 0
	for _, f := range fetched.Resources {
		if shows(picture(t, f.URI), 0xe0, 0x10, 0x20) > 50_000 {
			red++
		}
	}
	assert.Positive(t, red, "of %d frames none shows the red square", len(fetched.Resources))
}

// A page that is left alone sends no frames; the one from before the range is what it looked like.
func TestAPageLeftAloneHasItsBaseline(t *testing.T) {
	target := open(t, flash)
	require.Equal(t, "succeeded", call(t, "wait", map[string]any{"target": target, "elapsed_ms": 10_000}).Status)
	require.Equal(t, "succeeded", call(t, "click", map[string]any{"target": target, "query": `role=button name="Go"`}).Status)
	b := bundle(t, map[string]any{"target": target, "before_ms": 0, "after_ms": 800})
	require.NotEmpty(t, b.Result.Quality.CarryIn)
	var frame struct {
		Result struct {
			Frames []struct {
				PresentedNS int64 `json:"presented_ns"`
			} `json:"frames"`
		} `json:"result"`
	}
	require.NoError(t, json.Unmarshal(answer(t, "fetch_source_frames", map[string]any{"frame_ids": []string{b.Result.Quality.CarryIn}}).Structured, &frame))
	require.Len(t, frame.Result.Frames, 1)
	assert.Less(t, frame.Result.Frames[0].PresentedNS, b.Range.StartNS)
}

func TestEvidenceOutlivesItsPage(t *testing.T) {
	target := open(t, flash)
	e := call(t, "click", map[string]any{"target": target, "query": `role=button name="Go"`})
	require.Equal(t, "succeeded", e.Status)
	before := bundle(t, map[string]any{"interaction_id": e.Interaction.ID})
	require.Equal(t, "succeeded", call(t, "close_page", map[string]any{"target": target}).Status)
	after := bundle(t, map[string]any{"interaction_id": e.Interaction.ID})
	assert.Equal(t, before.Resources[0].URI, after.Resources[0].URI, "the same picture is found again")
}

// After the browser was stopped, a question without arguments is about the last action on the page that was selected.
func TestTheDefaultQuestionAfterStop(t *testing.T) {
	program, err := harness.Start(t.Context(), harness.Options{DataDir: t.TempDir(), Env: os.LookupEnv})
	require.NoError(t, err)
	defer func() { require.NoError(t, program.Stop(context.WithoutCancel(t.Context()))) }()
	var b bundled
	for _, step := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"open_page", map[string]any{"url": shared.site.URL + "/text?html=" + url.QueryEscape(flash)}},
		{"click", map[string]any{"query": `role=button name="Go"`}},
		{"wait", map[string]any{"elapsed_ms": 800}},
		{"stop_browser", map[string]any{}},
		{"temporal_debug_bundle", map[string]any{"after_ms": 600, "detail": "full"}},
	} {
		result, err := program.Client.CallTool(t.Context(), step.tool, step.arguments)
		require.NoError(t, err)
		require.False(t, result.Failed, "%s: %s", step.tool, result.Text)
		require.NoError(t, json.Unmarshal(result.Structured, &b))
	}
	assert.Contains(t, b.Result.Header, "about click")
	assert.NotEmpty(t, b.Resources)
}

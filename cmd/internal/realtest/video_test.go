package realtest

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/mcp/client"
	"github.com/krometrail/krometrail/temporal/video"
	"github.com/krometrail/krometrail/visual"
)

// TestVideoShowsTheFrames takes the pictures out of a clip again and compares them with the recorded frames that the
// manifest names.
func TestVideoShowsTheFrames(t *testing.T) {
	for _, program := range []string{"ffmpeg", "ffprobe"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program)
		}
	}
	p := startWithVideo(t)
	p.do(t, "open_page", args{"url": p.site.URL + "/flash.html?ms=100"})
	p.do(t, "click", args{"query": "role=button name=Save"})
	p.do(t, "wait", args{"text": "PASS"})
	for _, policy := range []string{"real_time", "model_optimized"} {
		a := p.do(t, "generate_temporal_video", args{"policy": policy})
		var made evidence.VideoResult
		a.result(t, &made)
		clip := made.Clips[0]
		var m video.Manifest
		require.NoError(t, json.Unmarshal(p.read(t, clip.ManifestURI), &m))
		file := filepath.Join(t.TempDir(), "clip.mp4")
		require.NoError(t, os.WriteFile(file, p.read(t, clip.URI), 0o600))

		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=codec_type,codec_name", "-of", "csv=p=0", file).Output()
		require.NoError(t, err)
		assert.Equal(t, "h264,video", strings.TrimSpace(string(out)), "one picture stream, no sound")

		pattern := filepath.Join(filepath.Dir(file), "%03d.png")
		require.NoError(t, exec.Command("ffmpeg", "-v", "error", "-i", file, "-fps_mode", "passthrough", pattern).Run())
		shown := 0
		for i, e := range m.Plan.Entries {
			require.Equal(t, visual.EntryFrame, e.Kind)
			data, err := os.ReadFile(strings.Replace(pattern, "%03d", leading(i+1), 1))
			require.NoError(t, err)
			frame := p.do(t, "fetch_source_frames", args{"frame_ids": []string{string(e.Frame)}})
			assert.Less(t, difference(decode(t, data), decode(t, frame.Images[0].Data)), 4.0, "%s %d", policy, i)
			shown++
		}
		assert.Equal(t, clip.Frames, shown)
		again := p.do(t, "generate_temporal_video", args{"policy": policy})
		assert.Contains(t, again.Text, string(clip.Artifact.ID)+" (hit)")
	}
}

// startWithVideo starts the program until its trial of ffmpeg is in time, which a very busy machine may prevent.
func startWithVideo(t *testing.T) *program {
	t.Helper()
	for range 10 {
		p := start(t)
		tools, err := p.ListTools(t.Context())
		require.NoError(t, err)
		if slices.ContainsFunc(tools, func(tool client.Tool) bool { return tool.Name == "generate_temporal_video" }) {
			return p
		}
	}
	t.Fatal("ffmpeg never qualified")
	return nil
}

func leading(n int) string { return fmt.Sprintf("%03d", n) }

// difference is the mean difference of the pixels.
func difference(a, b image.Image) float64 {
	sum, n := 0, 0
	for y := 0; y < b.Bounds().Dy(); y += 2 {
		for x := 0; x < b.Bounds().Dx(); x += 2 {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			for _, d := range []int{int(r1>>8) - int(r2>>8), int(g1>>8) - int(g2>>8), int(b1>>8) - int(b2>>8)} {
				sum += max(d, -d)
				n++
			}
		}
	}
	return float64(sum) / float64(n)
}

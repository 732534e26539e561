package crashtest

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/mcp/client"
	"github.com/krometrail/krometrail/storage"
)

func ffmpeg(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Skip("no ffmpeg")
	}
	return path
}

// startWithVideo starts the program until its trial of ffmpeg is in time, which a very busy machine may prevent.
func (p *place) startWithVideo(t *testing.T) *program {
	t.Helper()
	for range 10 {
		r := p.start(t)
		tools, err := r.ListTools(t.Context())
		require.NoError(t, err)
		if slices.ContainsFunc(tools, func(tool client.Tool) bool { return tool.Name == "generate_temporal_video" }) {
			return r
		}
		r.finish(t)
	}
	t.Fatal("ffmpeg never qualified")
	return nil
}

// recordNoise records what takes an encoder a while.
func (r *program) recordNoise(t *testing.T) {
	t.Helper()
	r.must(t, "open_page", args{"url": site(t) + "/noise"}, nil)
	r.must(t, "wait", args{"elapsed_ms": 1500}, nil)
}

// newest is the request of a video of the last ms of the recording.
func (r *program) newest(t *testing.T, ms int64, more args) args {
	t.Helper()
	var now struct {
		SessionID string `json:"session_id"`
		Selected  string `json:"selected"`
		NowNS     int64  `json:"now_ns"`
	}
	r.must(t, "browser_status", args{}, &now)
	request := args{"session_id": now.SessionID, "target": now.Selected, "start_ns": max(0, now.NowNS-ms*1_000_000), "end_ns": now.NowNS, "policy": "real_time"}
	maps.Copy(request, more)
	return request
}

// encoding asks for a video and returns while its ffmpeg runs. The request ends with ctx; its error comes from done.
func encoding(ctx context.Context, t *testing.T, p *place, r *program) (done chan error) {
	t.Helper()
	for range 5 {
		done = make(chan error, 1)
		request := r.newest(t, 3000, nil)
		go func() {
			answer, err := r.CallTool(ctx, "generate_temporal_video", request)
			if answer.Failed {
				err = errors.New(answer.Text)
			}
			done <- err
		}()
		eventually(t, "an encoder runs", func() bool { return len(done) > 0 || len(processes(t, p.data)) > 0 })
		if len(done) == 0 {
			return done
		}
		require.NoError(t, <-done, "finished before anybody saw the encoder")
	}
	t.Fatal("no encoder was ever seen")
	return nil
}

func unfinished(t *testing.T, root string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(root, storage.ScratchDir, "*"))
	require.NoError(t, err)
	hidden, err := filepath.Glob(filepath.Join(root, storage.ScratchDir, ".*"))
	require.NoError(t, err)
	return append(left, hidden...)
}

// A video that is cancelled while it is encoded leaves no process and no partial file, and the next one is made.
func TestACancelledVideoLeavesNothing(t *testing.T) {
	ffmpeg(t)
	p := newPlace(t)
	r := p.startWithVideo(t)
	root := p.liveRoot(t)
	r.recordNoise(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := encoding(ctx, t, p, r)
	require.NotEmpty(t, unfinished(t, root))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	eventually(t, "no encoder is left", func() bool { return len(processes(t, p.data)) == 0 })
	eventually(t, "no partial file is left", func() bool { return len(unfinished(t, root)) == 0 })
	published, err := filepath.Glob(filepath.Join(root, "artifacts", "*"))
	require.NoError(t, err)
	assert.Empty(t, published)

	r.must(t, "generate_temporal_video", r.newest(t, 500, args{"max_width": 160}), nil)
	assert.Empty(t, unfinished(t, root))
	r.finish(t)
}

// A program that is killed while it encodes takes its encoder with it. What it left of the clip goes with the recovery
// of its root, and with the root.
func TestKilledWhileEncoding(t *testing.T) {
	ffmpeg(t)
	p := newPlace(t)
	r := p.startWithVideo(t)
	root := p.liveRoot(t)
	r.recordNoise(t)
	g := dig(t, root)
	require.NotNil(t, g)
	done := encoding(t.Context(), t, p, r)
	r.kill()
	require.Error(t, <-done)
	require.NotEmpty(t, unfinished(t, root))
	require.True(t, g.examine(t), "nobody else is there to remove the root")
	eventually(t, "no encoder is left", func() bool { return len(processes(t, p.data)) == 0 })

	next := p.start(t)
	next.must(t, "browser_status", args{}, nil)
	eventually(t, "the abandoned root is gone", func() bool {
		_, err := os.Stat(root)
		return os.IsNotExist(err)
	})
	next.finish(t)
}

// An ffmpeg that is gone after the start is named, with what to do; pictures are still made.
func TestAnEncoderThatIsGoneIsNamed(t *testing.T) {
	real, bin := ffmpeg(t), t.TempDir()
	link := filepath.Join(bin, "ffmpeg")
	require.NoError(t, os.Symlink(real, link))
	p := newPlace(t, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	r := p.startWithVideo(t)
	r.must(t, "open_page", args{"url": site(t) + "/quiet"}, nil)
	_, err := r.recorded()
	require.NoError(t, err)
	r.must(t, "generate_temporal_video", r.newest(t, 3000, nil), nil)
	require.NoError(t, os.Remove(link))
	assert.Equal(t, "encoder_unavailable", r.failure(t, "generate_temporal_video", r.newest(t, 3000, args{"max_width": 200})))
	_, err = r.recorded()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(real, link))
	r.must(t, "generate_temporal_video", r.newest(t, 3000, args{"max_width": 200}), nil)
	r.finish(t)
}

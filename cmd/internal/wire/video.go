package wire

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/ffmpeg"
	"github.com/krometrail/krometrail/temporal/video"
)

// qualifyBudget is how long the start waits for the encoder's trial, which usually takes a fifth of a second and runs
// beside the rest of the start. An ffmpeg that is slower than this is not offered.
const qualifyBudget = 3 * time.Second

// trial is the qualification of the user's ffmpeg, running beside the rest of the start.
type trial struct {
	done  chan struct{}
	ended verdict
}

// verdict is a qualified encoder, or why there is none.
type verdict struct {
	encoder *ffmpeg.Encoder
	reason  string
}

// startTrial begins the qualification, once the store has emptied the folder it is made in. It ends by itself within
// qualifyBudget.
func startTrial(c *config.Config, store *storage.Store, env Env, clk clock.Clock, log *slog.Logger) (*trial, error) {
	t := &trial{done: make(chan struct{})}
	selection, err := capability.Select(c.Capabilities, nil)
	if err != nil {
		return nil, err
	}
	if !selection.Enabled(capability.TemporalVideo) {
		close(t.done)
		return t, nil
	}
	go func() {
		defer close(t.done)
		t.ended = qualify(store.Scratch(), env, clk)
		if t.ended.encoder == nil {
			log.Info("temporal-video omitted", "reason", t.ended.reason)
			return
		}
		log.Info("temporal-video qualified", "encoder", t.ended.encoder.Name(), "build", t.ended.encoder.Build())
	}()
	return t, nil
}

// wait returns the verdict.
func (t *trial) wait() verdict {
	<-t.done
	return t.ended
}

func qualify(folder string, env Env, clk clock.Clock) verdict {
	path := onPath(env)
	if path == "" {
		return verdict{reason: "no ffmpeg on PATH; install one with an H.264 encoder and restart"}
	}
	ctx, cancel := clock.WithTimeout(context.Background(), clk, qualifyBudget)
	defer cancel()
	encoder, err := ffmpeg.Qualify(ctx, ffmpeg.Options{Path: path, Directory: folder, Clock: clk, Environment: encoderEnvironment(env)})
	var unqualified *ffmpeg.UnqualifiedError
	switch {
	case err == nil:
		return verdict{encoder: encoder}
	case errors.As(err, &unqualified):
		return verdict{reason: unqualified.Error()}
	}
	return verdict{reason: "ffmpeg did not finish its trial within " + qualifyBudget.String()}
}

// onPath finds ffmpeg as a shell would.
func onPath(env Env) string {
	list, _ := env("PATH")
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, "ffmpeg")); err == nil {
			return path
		}
	}
	return ""
}

// encoderEnvironment is what hardware encoders need to find their drivers.
func encoderEnvironment(env Env) []string {
	var kept []string
	for _, name := range []string{"LD_LIBRARY_PATH", "LIBVA_DRIVER_NAME", "LIBVA_DRIVERS_PATH", "CUDA_VISIBLE_DEVICES", "DISPLAY"} {
		if value, ok := env(name); ok {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}

// newVideo returns nil when no encoder qualified.
func newVideo(t *trial, a *artifact.Service, store *storage.Store, clk clock.Clock) *video.Service {
	v := t.wait()
	if v.encoder == nil {
		return nil
	}
	return video.New(a, store, clips{v.encoder, store}, clk)
}

// clips lets the video service encode with ffmpeg, within the store's budget.
type clips struct {
	encoder *ffmpeg.Encoder
	store   *storage.Store
}

var _ video.Encoder = clips{}

// Identity implements video.Encoder.
func (c clips) Identity() video.Identity {
	return video.Identity{Build: c.encoder.Build(), Encoder: c.encoder.Name(), Parameters: c.encoder.Parameters()}
}

// Encode implements video.Encoder. The unfinished file counts as used until it is discarded.
func (c clips) Encode(ctx context.Context, j video.Job) (video.Clip, error) {
	most := ffmpeg.DefaultLimits().Bytes
	if j.MaxBytes > 0 {
		most = min(most, j.MaxBytes)
	}
	granted, release, warnings, err := c.store.Reserve(most)
	if err != nil {
		return video.Clip{Warnings: warnings}, err
	}
	made, err := c.encoder.Encode(ctx, ffmpeg.Request{
		Width: j.Width, Height: j.Height, Durations: j.Durations, Picture: j.Picture, Directory: c.store.Scratch(),
		MaxBytes: granted, Progress: j.Progress,
	})
	if err != nil {
		release()
		return video.Clip{Warnings: warnings}, err
	}
	discard := func() error {
		defer release()
		return made.Discard()
	}
	return video.Clip{
		Open: func() (io.ReadCloser, error) { return os.Open(made.Path) }, Discard: discard, Warnings: warnings,
		Bytes: made.Bytes, SHA256: hex.EncodeToString(made.SHA256[:]), MediaType: made.MediaType,
		Width: made.Width, Height: made.Height, Times: made.Times, Length: made.Length,
	}, nil
}

// Video provides the clips.
var Video = fx.Module("video", fx.Provide(startTrial, newVideo))

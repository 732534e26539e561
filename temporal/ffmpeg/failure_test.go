//go:build unix

package ffmpeg_test

import (
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/temporal/ffmpeg"
)

func (s *stage) options() ffmpeg.Options {
	self, err := os.Executable()
	require.NoError(s.t, err)
	return ffmpeg.Options{Path: self, Directory: s.clips, Environment: s.environment()}
}

// qualify qualifies the fake while it lets the real ffmpeg work.
func (s *stage) qualify(change func(*ffmpeg.Options)) *ffmpeg.Encoder {
	s.t.Helper()
	s.play("real")
	o := s.options()
	if change != nil {
		change(&o)
	}
	e, err := ffmpeg.Qualify(s.t.Context(), o)
	require.NoError(s.t, err)
	s.noneLeft()
	return e
}

func (s *stage) request(pictures int) ffmpeg.Request {
	durations := make([]time.Duration, pictures)
	for i := range durations {
		durations[i] = time.Duration(100+i) * time.Millisecond
	}
	return ffmpeg.Request{
		Width: 320, Height: 200, Durations: durations, Directory: s.clips,
		Picture: func(_ context.Context, i int) (*image.RGBA, error) { return still(320, 200, i), nil },
	}
}

func TestQualificationNamesBuildAndEncoder(t *testing.T) {
	for mode, want := range map[string]string{"real": "libx264", "second-encoder": "libopenh264", "old-version": "libx264"} {
		t.Run(mode, func(t *testing.T) {
			s := newStage(t, mode)
			e, err := ffmpeg.Qualify(t.Context(), s.options())
			require.NoError(t, err)
			assert.Equal(t, want, e.Name())
			assert.Equal(t, "ffmpeg version 9.9-fake Copyright (c) nobody", e.Build())
			if mode == "old-version" {
				assert.Contains(t, e.Parameters(), "-vsync")
			}
			s.noneLeft()
			clip, err := e.Encode(t.Context(), s.request(3))
			require.NoError(t, err)
			assert.Equal(t, want, clip.Encoder)
		})
	}
}

func TestWhatCannotMakeAClipIsUnqualified(t *testing.T) {
	for mode, want := range map[string]string{
		"not-ffmpeg": "not_ffmpeg", "no-encoder": "no_h264_encoder", "fail": "encode_failed: libx264: encoder: exit status 1",
		"deaf": "before all pictures were read", "empty": "no pictures", "garbage": "it is cut", "chatty": "the last words",
		"greedy": "video_bytes", "constant-rate": "samples, not 5", "rounded-times": "encode_failed", "other-size": "size is 64 x 48, not 256 x 144",
		"fewer-pictures": "it has 2 samples, not 5", "full-chroma": "profile 244", "index-behind": "index is not in front",
		"with-audio": "2 tracks", "other-codec": "encode_failed",
	} {
		t.Run(mode, func(t *testing.T) {
			s := newStage(t, mode)
			_, err := ffmpeg.Qualify(t.Context(), s.options())
			var u *ffmpeg.UnqualifiedError
			require.ErrorAs(t, err, &u)
			assert.Contains(t, u.Error(), want)
			assert.Less(t, len(u.Error()), 600)
			for _, secret := range []string{"/srv", "hunter2", "\x1b", "\n", s.dir} {
				assert.NotContains(t, u.Error(), secret)
			}
			s.noneLeft()
		})
	}
}

func TestMissingExecutables(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte("ffmpeg version 7"), 0o600))
	for path, want := range map[string]ffmpeg.Reason{
		filepath.Join(dir, "none"): ffmpeg.NotFound, dir: ffmpeg.NotExecutable, text: ffmpeg.NotExecutable,
	} {
		_, err := ffmpeg.Qualify(t.Context(), ffmpeg.Options{Path: path, Directory: dir})
		var u *ffmpeg.UnqualifiedError
		require.ErrorAs(t, err, &u)
		assert.Equal(t, want, u.Reason)
		assert.NotContains(t, err.Error(), dir)
	}
}

func TestAProgramThatHangsInQualificationIsGivenUp(t *testing.T) {
	for _, mode := range []string{"hang-version", "hang"} {
		t.Run(mode, func(t *testing.T) {
			s := newStage(t, mode)
			clk := coretest.NewClock(time.Unix(0, 0))
			o := s.options()
			o.Clock = clk
			result := make(chan error, 1)
			go func() {
				_, err := ffmpeg.Qualify(t.Context(), o)
				result <- err
			}()
			s.awaitFakes(1)
			clk.Advance(20 * time.Second)
			var u *ffmpeg.UnqualifiedError
			require.ErrorAs(t, <-result, &u)
			assert.Equal(t, ffmpeg.TimedOut, u.Reason)
			s.allDead()
			s.noneLeft()
		})
	}
}

func TestQualificationEndsWithItsContext(t *testing.T) {
	s := newStage(t, "hang-version")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("shutdown")
	result := make(chan error, 1)
	go func() {
		_, err := ffmpeg.Qualify(ctx, s.options())
		result <- err
	}()
	s.awaitFakes(1)
	cancel(why)
	require.ErrorIs(t, <-result, why)
	s.allDead()
}

func TestFailuresOfAnEncode(t *testing.T) {
	for mode, want := range map[string]string{
		"fail": "cannot encode", "deaf": "before all pictures were read", "garbage": "it is cut", "chatty": "the last words",
		"constant-rate": "samples, not 41", "other-size": "size is 64 x 48", "fewer-pictures": "it has 2 samples, not 41", "with-audio": "2 tracks",
	} {
		t.Run(mode, func(t *testing.T) {
			s := newStage(t, "")
			e := s.qualify(nil)
			s.play(mode)
			_, err := e.Encode(t.Context(), s.request(40))
			require.Equal(t, fault.ArtifactGenerationFailed, fault.CodeOf(err), "%v", err)
			assert.NotContains(t, err.Error(), "hunter2")
			assert.NotContains(t, err.Error(), "status")
			cause := errors.Unwrap(fault.From(err)).Error()
			assert.Less(t, len(cause), 700)
			assert.Contains(t, cause, want)
			s.noneLeft()
			s.play("real")
			_, err = e.Encode(t.Context(), s.request(2))
			require.NoError(t, err, "a failure is not for ever")
		})
	}
}

func TestCancelLeavesNoProcessAndNoFile(t *testing.T) {
	for mode, processes := range map[string]int{"hang": 1, "slow": 1, "hang-with-child": 2} {
		t.Run(mode, func(t *testing.T) {
			s := newStage(t, "")
			e := s.qualify(nil)
			s.play(mode)
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() {
				_, err := e.Encode(ctx, s.request(50))
				result <- err
			}()
			s.awaitFakes(processes)
			cancel()
			err := <-result
			require.Equal(t, fault.Cancelled, fault.CodeOf(err), "%v", err)
			s.allDead()
			s.noneLeft()
		})
	}
}

func TestCancelOfTheRealEncoderMidWay(t *testing.T) {
	e := qualified(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := request(t, 640, 360, make([]time.Duration, 500)...)
	for i := range r.Durations {
		r.Durations[i] = 20 * time.Millisecond
	}
	r.Progress = func(done, _ int) {
		if done == 250 {
			cancel()
		}
	}
	_, err := e.Encode(ctx, r)
	require.Equal(t, fault.Cancelled, fault.CodeOf(err), "%v", err)
	left, err := os.ReadDir(r.Directory)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWhatAnEncoderLeavesBehindIsEnded(t *testing.T) {
	s := newStage(t, "")
	e := s.qualify(nil)
	s.play("leave-child")
	clip, err := e.Encode(t.Context(), s.request(2))
	require.NoError(t, err)
	require.FileExists(t, clip.Path)
	s.awaitFakes(1)
	s.allDead()
}

func TestWallClockLimit(t *testing.T) {
	s := newStage(t, "")
	clk := coretest.NewClock(time.Unix(0, 0))
	e := s.qualify(func(o *ffmpeg.Options) { o.Clock = clk })
	s.play("slow")
	result := make(chan error, 1)
	go func() {
		_, err := e.Encode(t.Context(), s.request(50))
		result <- err
	}()
	s.awaitFakes(1)
	clk.Advance(60 * time.Second)
	requireLimit(t, <-result, "video_wall_ms", 60_000)
	s.allDead()
	s.noneLeft()
}

func requireLimit(t *testing.T, err error, subject string, limit int64) {
	t.Helper()
	require.Equal(t, fault.ResourceLimitExceeded, fault.CodeOf(err), "%v", err)
	got := fault.From(err).Limit
	require.NotNil(t, got)
	assert.Equal(t, subject, got.Subject)
	assert.Equal(t, limit, got.Limit)
	assert.Greater(t, got.Actual, got.Limit)
}

func TestSizeLimit(t *testing.T) {
	s := newStage(t, "")
	e := s.qualify(nil)
	r := s.request(200)
	r.MaxBytes = 20_000
	_, err := e.Encode(t.Context(), r)
	requireLimit(t, err, "video_bytes", 20_000)
	s.noneLeft()

	s.play("greedy")
	r.MaxBytes = 1 << 20
	_, err = e.Encode(t.Context(), r)
	requireLimit(t, err, "video_bytes", 1<<20)
	s.noneLeft()
}

func TestLimitsThatAreKnownBefore(t *testing.T) {
	s := newStage(t, "")
	e := s.qualify(nil)
	s.play("fail") // nothing of this gets so far
	for _, c := range []struct {
		subject string
		limit   int64
		change  func(*ffmpeg.Request)
	}{
		{"video_width_px", 1920, func(r *ffmpeg.Request) { r.Width = 1921 }},
		{"video_height_px", 1080, func(r *ffmpeg.Request) { r.Height = 1200 }},
		{"video_presentation_ms", 60_000, func(r *ffmpeg.Request) { r.Durations[0] = 61 * time.Second }},
		{"video_pictures", 4096, func(r *ffmpeg.Request) { r.Durations = s.request(4097).Durations }},
	} {
		r := s.request(3)
		c.change(&r)
		_, err := e.Encode(t.Context(), r)
		requireLimit(t, err, c.subject, c.limit)
	}
	for name, change := range map[string]func(*ffmpeg.Request){
		"no pictures": func(r *ffmpeg.Request) { r.Durations = nil },
		"no time":     func(r *ffmpeg.Request) { r.Durations[1] = 0 },
		"negative":    func(r *ffmpeg.Request) { r.Durations[1] = -time.Second },
		"no size":     func(r *ffmpeg.Request) { r.Width = 0 },
		"too fine":    func(r *ffmpeg.Request) { r.Durations[1] = 100 * time.Nanosecond },
	} {
		r := s.request(3)
		change(&r)
		_, err := e.Encode(t.Context(), r)
		require.Equal(t, fault.Internal, fault.CodeOf(err), name)
	}
}

func TestAnEncoderThatIsGoneOrReplacedIsUnavailable(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"gone": func(t *testing.T, path string) { t.Helper(); require.NoError(t, os.Remove(path)) },
		"replaced": func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
		},
		"not executable any more": func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.Chmod(path, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ffmpeg")
			data, err := os.ReadFile(realFFmpeg(t))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, data, 0o700))
			e, err := ffmpeg.Qualify(t.Context(), ffmpeg.Options{Path: path, Directory: t.TempDir()})
			require.NoError(t, err)
			change(t, path)
			r := request(t, 64, 64, time.Second)
			_, err = e.Encode(t.Context(), r)
			require.Equal(t, fault.EncoderUnavailable, fault.CodeOf(err), "%v", err)
			f := fault.From(err)
			assert.Equal(t, fault.AfterRecovery, f.Retry)
			assert.Contains(t, f.Recovery, "restart")
			left, err := os.ReadDir(r.Directory)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestOneEncoderAtATime(t *testing.T) {
	s := newStage(t, "")
	e := s.qualify(nil)
	s.play("hang")
	first, stopFirst := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := e.Encode(first, s.request(1))
		result <- err
	}()
	s.awaitFakes(1)
	// The second one waits and starts nothing, so its own end is all that can happen to it.
	second, stopSecond := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	r := s.request(1)
	r.Picture = func(context.Context, int) (*image.RGBA, error) {
		t.Error("a second encoder runs")
		return still(320, 200, 0), nil
	}
	go func() {
		_, err := e.Encode(second, r)
		waiting <- err
	}()
	stopSecond()
	require.Equal(t, fault.Cancelled, fault.CodeOf(<-waiting))
	stopFirst()
	require.Equal(t, fault.Cancelled, fault.CodeOf(<-result))
	s.play("real")
	_, err := e.Encode(t.Context(), s.request(1))
	require.NoError(t, err)
	s.allDead()
}

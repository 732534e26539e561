package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
)

const (
	// probeWall bounds each run of a qualification, qualifyWall all of them together.
	probeWall   = 10 * time.Second
	qualifyWall = 20 * time.Second
	// buildBytes bounds the build line that manifests carry.
	buildBytes = 200
)

// Reason is a class of why an executable does not qualify.
type Reason string

// The reasons.
const (
	NotFound      Reason = "not_found"       // no such file
	NotExecutable Reason = "not_executable"  // a file that cannot be started
	NotFFmpeg     Reason = "not_ffmpeg"      // it does not say that it is ffmpeg
	TimedOut      Reason = "timed_out"       // it does not answer in time
	NoEncoder     Reason = "no_h264_encoder" // it lists no H.264 encoder that is known here
	EncodeFailed  Reason = "encode_failed"   // it lists one, but none makes a correct clip
)

// UnqualifiedError says why an executable cannot make clips. Its text has no path in it and may be logged.
type UnqualifiedError struct {
	Reason Reason
	// Detail is a bounded, sanitized line about the attempt with the best listed encoder, possibly empty.
	Detail string
}

func (u *UnqualifiedError) Error() string {
	if u.Detail == "" {
		return "ffmpeg is not qualified: " + string(u.Reason)
	}
	return "ffmpeg is not qualified: " + string(u.Reason) + ": " + u.Detail
}

// Options say how to qualify and run an ffmpeg.
type Options struct {
	// Path of the executable.
	Path string
	// Directory for the clip of the test, which is removed again. It must exist.
	Directory string
	// Environment that every process gets, in the form of os.Environ; empty means none. Hardware encoders may need some.
	Environment []string
	// Limits of every clip; the zero value means DefaultLimits.
	Limits Limits
	// Clock for all deadlines; nil means that of the system.
	Clock clock.Clock
}

// Qualify finds out whether the executable can make a correct clip: it asks for its build line and its encoders, and
// makes a tiny clip of uneven durations with each known H.264 encoder until one is correct. It takes at most 20 s. A
// failure is an *UnqualifiedError, or the cause of ctx.
func Qualify(ctx context.Context, o Options) (*Encoder, error) {
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	bounded, cancel := clock.WithTimeout(ctx, o.Clock, qualifyWall)
	defer cancel()
	e, err := qualify(bounded, o)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return e, err
}

func qualify(ctx context.Context, o Options) (*Encoder, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, &UnqualifiedError{Reason: NotFound}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &UnqualifiedError{Reason: NotFound}
	}
	if !info.Mode().IsRegular() {
		return nil, &UnqualifiedError{Reason: NotExecutable}
	}
	// An empty list would mean the environment of this process.
	env := append([]string{"LC_ALL=C"}, o.Environment...)
	e := &Encoder{
		program: program{path: path, env: env}, identity: info, limits: o.Limits, clock: o.Clock,
		spelling: spellingNew, turn: make(chan struct{}, 1),
	}
	if err := e.readBuild(ctx); err != nil {
		return nil, err
	}
	candidates, err := e.candidates(ctx)
	if err != nil {
		return nil, err
	}
	return e.choose(ctx, candidates, o.Directory)
}

// ask runs the program without input for its words.
func (e *Encoder) ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := clock.WithTimeout(ctx, e.clock, probeWall)
	defer cancel()
	out, err := e.program.run(ctx, append([]string{"-nostdin", "-hide_banner"}, args...), func(io.Writer) error { return nil })
	return string(out), err
}

func (e *Encoder) readBuild(ctx context.Context) error {
	out, err := e.ask(ctx, "-version")
	var exit *exitError
	if err != nil && !errors.As(err, &exit) {
		return unqualified(err)
	}
	line, _, _ := strings.Cut(out, "\n")
	if err != nil || !strings.HasPrefix(line, "ffmpeg version ") {
		return &UnqualifiedError{Reason: NotFFmpeg}
	}
	e.build = strings.TrimSpace(strings.ToValidUTF8(line[:min(len(line), buildBytes)], ""))
	return nil
}

func (e *Encoder) candidates(ctx context.Context) ([]recipe, error) {
	out, err := e.ask(ctx, "-encoders")
	if err != nil {
		return nil, unqualified(err)
	}
	found := listed(out)
	if len(found) == 0 {
		return nil, &UnqualifiedError{Reason: NoEncoder}
	}
	return found, nil
}

// choose keeps the first recipe that makes a correct clip.
func (e *Encoder) choose(ctx context.Context, candidates []recipe, dir string) (*Encoder, error) {
	var first error
	for _, r := range candidates {
		e.recipe = r
		err := e.try(ctx, dir)
		var exit *exitError
		if errors.As(err, &exit) && e.spelling == spellingNew && strings.Contains(string(exit.stderr), "fps_mode") {
			e.spelling = spellingOld
			err = e.try(ctx, dir)
		}
		if err == nil {
			return e, nil
		}
		if first == nil {
			first = fmt.Errorf("%s: %w", r.name, rootOf(err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, unqualified(first)
}

// try makes a tiny clip to learn how this build ends a stream, and when that is not as announced another one that must
// be exact.
func (e *Encoder) try(ctx context.Context, dir string) error {
	e.closing = usualSample
	learned := e.closing
	err := e.makeTiny(ctx, dir, func(t *track, plan schedule, width, height int) error {
		closing, ok := plan.learn(t)
		if ok {
			learned, plan.end = closing, t.end
		}
		return t.check(plan, width, height)
	})
	if err != nil || learned == e.closing {
		return err
	}
	e.closing = learned
	return e.makeTiny(ctx, dir, (*track).check)
}

// makeTiny makes a clip of uneven durations and removes it again.
func (e *Encoder) makeTiny(ctx context.Context, dir string, verify verdictOn) error {
	const width, height = 256, 144
	still := image.NewRGBA(image.Rect(0, 0, width, height))
	r := Request{
		Width: width, Height: height, Directory: dir,
		Durations: []time.Duration{40 * time.Millisecond, 17001 * time.Microsecond, 500 * time.Millisecond, 150 * time.Millisecond},
		Picture: func(_ context.Context, i int) (*image.RGBA, error) {
			for at := 0; at < len(still.Pix); at += 4 {
				still.Pix[at], still.Pix[at+1], still.Pix[at+2] = uint8(at>>2+60*i), uint8(at>>10), uint8(90*i)
			}
			return still, nil
		},
	}
	plan, err := newSchedule(r.Durations, e.closing)
	if err != nil {
		return err
	}
	clip, err := e.encode(ctx, r, plan, Limits{Bytes: 1 << 20, Wall: probeWall}, verify)
	if err != nil {
		return err
	}
	return clip.Discard()
}

// unqualified classifies what a probe ran into.
func unqualified(err error) error {
	var start *startError
	var limit *fault.Error
	switch {
	case errors.As(err, &start):
		return &UnqualifiedError{Reason: NotExecutable}
	case errors.Is(err, context.DeadlineExceeded):
		return &UnqualifiedError{Reason: TimedOut}
	case errors.As(err, &limit) && limit.Limit != nil && limit.Limit.Subject == "video_wall_ms":
		return &UnqualifiedError{Reason: TimedOut}
	}
	return &UnqualifiedError{Reason: EncodeFailed, Detail: diagnostic([]byte(err.Error()))}
}

// rootOf returns the cause of a fault that is worth a log line: what the process or its file says.
func rootOf(err error) error {
	var exit *exitError
	var file clipError
	switch {
	case errors.As(err, &exit):
		return exit
	case errors.As(err, &file):
		return file
	}
	return err
}

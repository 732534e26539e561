package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
)

// watchEvery is how often the size of the growing file is looked at.
const watchEvery = 200 * time.Millisecond

// Encoder makes clips with a qualified ffmpeg, one at a time. It is safe for concurrent use and holds no process and
// no goroutine between calls.
type Encoder struct {
	program  program
	identity os.FileInfo
	build    string
	recipe   recipe
	spelling string
	// closing is how long the last sample of a stream lasts with this build, in ticks. Versions differ: the duration that
	// the picture was given, the usual one, or none.
	closing int64
	limits  Limits
	clock   clock.Clock
	turn    chan struct{}
}

// Build returns the first line of ffmpeg -version.
func (e *Encoder) Build() string { return e.build }

// Name returns the name of the H.264 encoder, for example libx264.
func (e *Encoder) Name() string { return e.recipe.name }

// Parameters returns the encoding arguments that every clip is made with, without paths. With Build and Name they
// decide what a clip looks like, so they belong into the key of a cache.
func (e *Encoder) Parameters() []string { return e.recipe.parameters(e.spelling) }

// Encode makes a clip. It waits while another clip is made. Errors are faults:
// resource_limit_exceeded with its limit, cancelled, encoder_unavailable when the executable is gone or another one than
// was qualified, artifact_generation_failed when it fails or its file is not the clip that was asked for; and what
// Picture returned. After an error no process runs and no file is left.
func (e *Encoder) Encode(ctx context.Context, r Request) (*Clip, error) {
	plan, err := newSchedule(r.Durations, e.closing)
	if err != nil {
		return nil, err
	}
	limits := e.limits
	if r.MaxBytes > 0 {
		limits.Bytes = min(limits.Bytes, r.MaxBytes)
	}
	if err := limits.check(r, plan.length()); err != nil {
		return nil, err
	}
	if r.Width < 1 || r.Height < 1 {
		return nil, fmt.Errorf("ffmpeg: pictures of %d x %d", r.Width, r.Height)
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, cancelled(context.Cause(ctx))
	}
	if err := e.unchanged(); err != nil {
		return nil, err
	}
	return e.encode(ctx, r, plan, limits, (*track).check)
}

// unchanged reports an executable that is gone or replaced: nothing is known about that one.
func (e *Encoder) unchanged() error {
	now, err := os.Stat(e.program.path)
	switch {
	case err != nil:
		return unavailable(err)
	case !os.SameFile(now, e.identity) || now.Size() != e.identity.Size() || !now.ModTime().Equal(e.identity.ModTime()):
		return unavailable(errors.New("the executable was replaced after it was qualified"))
	}
	return nil
}

// encode makes the file, and takes it away again when anything fails.
func (e *Encoder) encode(ctx context.Context, r Request, plan schedule, limits Limits, verify verdictOn) (*Clip, error) {
	f, err := os.CreateTemp(r.Directory, ".clip-*.mp4")
	if err != nil {
		return nil, persistence("create", err)
	}
	clip, err := e.fill(ctx, f, r, plan, limits, verify)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = persistence("write", closeErr)
	}
	if err != nil {
		if removeErr := os.Remove(f.Name()); removeErr != nil {
			err = errors.Join(err, removeErr)
		}
		return nil, err
	}
	return clip, nil
}

// verdictOn says whether a file that was made by a schedule is right.
type verdictOn func(t *track, plan schedule, width, height int) error

func (e *Encoder) fill(ctx context.Context, f *os.File, r Request, plan schedule, limits Limits, verify verdictOn) (*Clip, error) {
	if err := e.produce(ctx, f, r, plan, limits); err != nil {
		return nil, err
	}
	n, sum, err := digest(f)
	if err != nil {
		return nil, persistence("write", err)
	}
	if n > limits.Bytes {
		return nil, exceeded("video_bytes", n, limits.Bytes, 0)
	}
	found, err := inspect(f, n)
	if err == nil {
		err = verify(found, plan, even(r.Width), even(r.Height))
	}
	if err != nil {
		return nil, failed(err)
	}
	return &Clip{
		Path: f.Name(), Bytes: n, SHA256: sum, Width: even(r.Width), Height: even(r.Height), Times: plan.times(),
		Length: plan.length(), Build: e.build, Encoder: e.recipe.name, Parameters: e.Parameters(), MediaType: "video/mp4",
	}, nil
}

// Reasons for which an encode is ended from here.
var (
	errWall  = errors.New("ffmpeg: too slow")
	errBytes = errors.New("ffmpeg: file too large")
)

// produce runs ffmpeg under the limits of time and size.
func (e *Encoder) produce(ctx context.Context, f *os.File, r Request, plan schedule, limits Limits) error {
	running, stop := context.WithCancelCause(ctx)
	began := e.clock.Mono()
	timer := e.clock.AfterFunc(limits.Wall, func() { stop(errWall) })
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		e.watch(running, f, limits.Bytes, stop)
	}()
	_, err := e.program.run(running, e.recipe.arguments(e.spelling, f.Name(), limits.Bytes), feed(running, r, plan))
	timer.Stop()
	stop(nil)
	<-watched
	if errors.Is(err, errWall) {
		took := max(e.clock.Mono()-began, limits.Wall+time.Millisecond)
		return exceeded("video_wall_ms", took.Milliseconds(), limits.Wall.Milliseconds(), 0)
	}
	return explain(ctx, err, f, limits)
}

// watch ends the encode when the file grows above its limit.
func (e *Encoder) watch(ctx context.Context, f *os.File, limit int64, stop context.CancelCauseFunc) {
	for clock.Wait(ctx, e.clock, watchEvery) == nil {
		if info, err := f.Stat(); err == nil && info.Size() > limit {
			stop(errBytes)
		}
	}
}

// explain turns the end of a run into a fault.
func explain(ctx context.Context, err error, f *os.File, limits Limits) error {
	var start *startError
	var picture *pictureError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &picture) && ctx.Err() == nil:
		return picture.cause
	case errors.Is(err, errBytes):
		return exceeded("video_bytes", fileSize(f, limits.Bytes), limits.Bytes, 0)
	case ctx.Err() != nil:
		return cancelled(context.Cause(ctx))
	case fileSize(f, 0) >= limits.Bytes:
		// ffmpeg stops reading at the size it was given, and some versions call that an error.
		return exceeded("video_bytes", fileSize(f, limits.Bytes), limits.Bytes, 0)
	case errors.As(err, &start):
		return unavailable(err)
	}
	return failed(err)
}

// fileSize returns the size of f, or one more than least when that is not known to be larger.
func fileSize(f *os.File, least int64) int64 {
	info, err := f.Stat()
	if err != nil || info.Size() <= least {
		return least + 1
	}
	return info.Size()
}

// pictureError is an error of Request.Picture, or a picture that does not fit.
type pictureError struct{ cause error }

func (e *pictureError) Error() string { return e.cause.Error() }
func (e *pictureError) Unwrap() error { return e.cause }

// feed returns a function that writes the pictures of a request as Matroska.
func feed(ctx context.Context, r Request, plan schedule) func(io.Writer) error {
	return func(w io.Writer) error {
		out := matroska{w}
		picture := newPlanes(r.Width, r.Height)
		if err := out.begin(picture.width, picture.height); err != nil {
			return err
		}
		for i, at := range plan.samples {
			if i < plan.pictures {
				if err := picture.load(ctx, r, i); err != nil {
					return &pictureError{err}
				}
			}
			if err := out.picture(at.at, at.duration, picture.data); err != nil {
				return err
			}
			if r.Progress != nil && i < plan.pictures {
				r.Progress(i+1, plan.pictures)
			}
		}
		return nil
	}
}

// load fetches and converts picture i.
func (p *planes) load(ctx context.Context, r Request, i int) error {
	img, err := r.Picture(ctx, i)
	if err != nil {
		return err
	}
	if img.Rect.Dx() != r.Width || img.Rect.Dy() != r.Height {
		return fmt.Errorf("ffmpeg: picture %d is %v, not %d x %d", i, img.Rect.Size(), r.Width, r.Height)
	}
	p.convert(img)
	return nil
}

func unavailable(cause error) error {
	return fault.New(fault.EncoderUnavailable, "the ffmpeg that was qualified at start-up is not available any more").
		WithRecovery("restore ffmpeg and restart krometrail").Because(cause)
}

func failed(cause error) error {
	return fault.New(fault.ArtifactGenerationFailed, "ffmpeg could not make the video").
		WithRecovery("use a storyboard or a region filmstrip of the same range").Because(cause)
}

func cancelled(cause error) error {
	return fault.New(fault.Cancelled, "the video was cancelled before it was complete").Because(cause)
}

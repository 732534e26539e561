package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

const (
	stderrBytes = 8 << 10
	stdoutBytes = 256 << 10
	// reapDelay bounds the wait for output of a process that is gone while something it started holds the pipe.
	reapDelay = time.Second
)

// program is an executable and the environment it gets.
type program struct {
	path string
	env  []string
}

// startError says that the process could not be started.
type startError struct{ cause error }

func (e *startError) Error() string { return "start encoder: " + e.cause.Error() }
func (e *startError) Unwrap() error { return e.cause }

// exitError says that the process failed by itself.
type exitError struct {
	cause  error
	stderr []byte
}

func (e *exitError) Error() string {
	return fmt.Sprintf("encoder: %v: %s", e.cause, diagnostic(e.stderr))
}
func (e *exitError) Unwrap() error { return e.cause }

// run starts the program, lets feed write to its standard input and returns what it wrote to its standard output. When
// run returns, the process and its group are gone. An end of ctx gives its cause, an error of feed is returned as it is.
func (p program) run(ctx context.Context, args []string, feed func(io.Writer) error) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, p.path, args...) //nolint:gosec // the user's own ffmpeg with arguments that are fixed here
	stdout, stderr := &head{max: stdoutBytes}, &tail{max: stderrBytes}
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.env, stdout, stderr, reapDelay
	ownGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, &startError{err}
	}
	cmd.Cancel = func() error {
		// Closing ends a write that nobody will ever read.
		return errors.Join(killGroup(cmd), stdin.Close())
	}
	if err := cmd.Start(); err != nil {
		if context.Cause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &startError{err}
	}
	feedErr := feed(pipe{stdin})
	if feedErr != nil && !errors.Is(feedErr, errPipe) {
		cancel(feedErr)
	}
	_ = stdin.Close()
	err = cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		// It ended well; only something it started still holds its standard error.
		err = nil
	}
	// The leader is gone; this ends what it may have left in its group.
	_ = killGroup(cmd)
	return stdout.data, verdict(ctx, err, feedErr, stderr.data)
}

// verdict names the first reason of a failure.
func verdict(ctx context.Context, waited, fed error, stderr []byte) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if waited != nil {
		return &exitError{cause: waited, stderr: stderr}
	}
	if fed != nil {
		return &exitError{cause: errors.New("exit status 0 before all pictures were read"), stderr: stderr}
	}
	return nil
}

// errPipe marks a write that failed because the process reads no more; its exit tells why.
var errPipe = errors.New("the encoder reads no more")

// pipe tells errors of the pipe from those of whoever fills it.
type pipe struct{ w io.Writer }

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if err != nil {
		return n, fmt.Errorf("%w: %w", errPipe, err)
	}
	return n, nil
}

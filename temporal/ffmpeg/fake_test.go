//go:build unix

package ffmpeg_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// This test binary is also the fake encoder. The file that FAKE_MODE names says how it behaves, so that it can qualify
// first and misbehave later; FAKE_REAL is the real ffmpeg; FAKE_ALIVE is a named pipe that every process of the fake
// keeps open.
func TestMain(m *testing.M) {
	if path := os.Getenv("FAKE_MODE"); path != "" {
		mode, err := os.ReadFile(path)
		if err != nil {
			os.Exit(70)
		}
		os.Exit(fake(string(mode), os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

const (
	fakeBuild    = "ffmpeg version 9.9-fake Copyright (c) nobody\nbuilt with nothing\n"
	fakeEncoders = "Encoders:\n V..... = Video\n ------\n V....D libx264  one\n V....D libvpx  two\n"
)

func fake(mode string, args []string) int {
	switch {
	case slices.Contains(args, "-version"):
		return fakeVersion(mode)
	case slices.Contains(args, "-encoders"):
		list := fakeEncoders
		switch mode {
		case "second-encoder":
			list += " V....D libopenh264  three\n"
		case "no-encoder":
			list = " V....D libvpx  two\n A....D libx264  not video\n"
		}
		fmt.Fprint(os.Stdout, list)
		return 0
	case mode == "sleeper":
		return fakeHang()
	}
	return fakeEncode(mode, args, strings.TrimPrefix(args[len(args)-1], "file:"))
}

func fakeVersion(mode string) int {
	switch mode {
	case "not-ffmpeg":
		fmt.Fprintln(os.Stdout, "avconv version 1")
	case "hang-version":
		return fakeHang()
	default:
		fmt.Fprint(os.Stdout, fakeBuild)
	}
	return 0
}

func fakeEncode(mode string, args []string, output string) int {
	switch mode {
	case "fail":
		fmt.Fprintln(os.Stderr, "Error opening /srv/private.mkv\npassword=hunter2 \x1b[31mcannot encode")
		return 1
	case "hang":
		return fakeHang()
	case "hang-with-child":
		return fakeFamily()
	case "slow":
		// Reads a little, and then never again.
		_, _ = io.CopyN(io.Discard, os.Stdin, 100_000)
		return fakeHang()
	case "deaf":
		return 0
	case "empty":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "garbage":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return exitOf(os.WriteFile(output, []byte(strings.Repeat("not a video ", 1000)), 0o600))
	case "greedy":
		return fakeGreedy(output)
	case "chatty":
		for range 1000 {
			fmt.Fprint(os.Stderr, strings.Repeat("x", 10_000))
		}
		fmt.Fprint(os.Stderr, " the last words")
		return 3
	case "leave-child":
		leaveChild()
		return runReal(args)
	}
	return fakeLie(mode, args)
}

// fakeLie lets the real ffmpeg make another clip than was asked for.
func fakeLie(mode string, args []string) int {
	name := args[slices.Index(args, "-c:v")+1]
	change := func(old string, with ...string) {
		if i := slices.Index(args, old); i >= 0 {
			args = slices.Replace(args, i, i+1, with...)
		}
	}
	before := func(extra ...string) { args = slices.Insert(args, len(args)-4, extra...) }
	switch mode {
	case "real":
	case "second-encoder":
		if name == "libx264" {
			return 1
		}
		change("libopenh264", "libx264", "-bf", "0")
	case "old-version":
		if slices.Contains(args, "-fps_mode") {
			fmt.Fprintln(os.Stderr, "Unrecognized option 'fps_mode'.")
			return 1
		}
	case "constant-rate":
		change("passthrough", "cfr", "-r", "25")
		change("1:1000000", "1:25")
	case "rounded-times":
		change("1:1000000", "1:50")
	case "other-size":
		before("-s", "64x48")
	case "fewer-pictures":
		before("-frames:v", "2")
		status := runReal(args)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return status
	case "full-chroma":
		change("yuv420p", "yuv444p")
	case "index-behind":
		change("+faststart", "-faststart")
	case "with-audio":
		change("-an")
		change("-map", "-f", "lavfi", "-i", "sine=duration=1", "-map", "1:a", "-map")
		change("pipe", "pipe,file")
	case "other-codec":
		change("libx264", "mpeg4")
		change("-preset")
		change("veryfast")
		change("-crf")
		change("18")
	default:
		return 71
	}
	return runReal(args)
}

func runReal(args []string) int {
	cmd := exec.Command(os.Getenv("FAKE_REAL"), args...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	return exitOf(cmd.Run())
}

func exitOf(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// fakeHang says that it is alive and never ends by itself.
func fakeHang() int {
	alive, err := os.OpenFile(os.Getenv("FAKE_ALIVE"), os.O_WRONLY, 0)
	if err != nil {
		return 72
	}
	fmt.Fprint(alive, "+")
	fmt.Fprint(os.Stdout, "+")
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
	return 0
}

// fakeFamily hangs beside a child that holds every pipe of this process.
func fakeFamily() int {
	leaveChild()
	return fakeHang()
}

func leaveChild() {
	mode := filepath.Join(filepath.Dir(os.Getenv("FAKE_MODE")), "child")
	if os.WriteFile(mode, []byte("sleeper"), 0o600) != nil {
		return
	}
	child := exec.Command(os.Args[0], "sleep")
	child.Env = append(os.Environ(), "FAKE_MODE="+mode)
	child.Stdin, child.Stderr = os.Stdin, os.Stderr
	ready, err := child.StdoutPipe()
	if err == nil && child.Start() == nil {
		_, _ = io.ReadFull(ready, make([]byte, 1))
	}
}

// fakeGreedy writes until the disk is full or somebody stops it.
func fakeGreedy(output string) int {
	f, err := os.OpenFile(output, os.O_WRONLY, 0)
	if err != nil {
		return 1
	}
	for block := make([]byte, 64<<10); ; {
		if _, err := f.Write(block); err != nil {
			return 1
		}
	}
}

// stage is a place to run a fake on.
type stage struct {
	t     *testing.T
	dir   string
	clips string
	// alive reads the pipe; keep is its one writer here, which makes a read wait for the fake.
	alive, keep *os.File
}

func newStage(t *testing.T, mode string) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{t: t, dir: dir, clips: filepath.Join(dir, "clips")}
	require.NoError(t, os.Mkdir(s.clips, 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "alive"), 0o600))
	s.alive = s.open(syscall.O_RDONLY)
	s.keep = s.open(syscall.O_WRONLY)
	s.play(mode)
	return s
}

func (s *stage) open(flag int) *os.File {
	s.t.Helper()
	fd, err := syscall.Open(filepath.Join(s.dir, "alive"), flag|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	require.NoError(s.t, err)
	f := os.NewFile(uintptr(fd), "alive")
	s.t.Cleanup(func() { _ = f.Close() })
	return f
}

// awaitFakes returns once n processes of the fake hang.
func (s *stage) awaitFakes(n int) {
	s.t.Helper()
	_, err := io.ReadFull(s.alive, make([]byte, n))
	require.NoError(s.t, err)
}

// allDead returns once no process of the fake is left: the pipe then has no writer.
func (s *stage) allDead() {
	s.t.Helper()
	require.NoError(s.t, s.keep.Close())
	rest, err := io.ReadAll(s.alive)
	require.NoError(s.t, err)
	require.Empty(s.t, rest)
}

// play changes how the fake behaves from its next start on.
func (s *stage) play(mode string) {
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "mode"), []byte(mode), 0o600))
}

func (s *stage) environment() []string {
	return []string{"FAKE_MODE=" + filepath.Join(s.dir, "mode"), "FAKE_ALIVE=" + filepath.Join(s.dir, "alive"), "FAKE_REAL=" + realFFmpeg(s.t)}
}

// noneLeft fails unless nothing is in the directory of clips.
func (s *stage) noneLeft() {
	s.t.Helper()
	left, err := os.ReadDir(s.clips)
	require.NoError(s.t, err)
	require.Empty(s.t, left, "partial files")
}

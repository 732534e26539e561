// Package doctor checks an installation and explains what it finds.
package doctor

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/cmd/internal/diagnostics"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/storage/instance"
)

// Verdict is the weight of a finding.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warn    Verdict = "warn"
	Missing Verdict = "missing"
)

// Finding is the result of one check.
type Finding struct {
	Check   string
	Verdict Verdict
	Fact    string
	// Next is what to do, "" when nothing is needed.
	Next string
}

// Doctor runs the checks.
type Doctor struct {
	Config *config.Config
	Clock  clock.Clock
	Env    func(string) (string, bool)
}

// checkLimit bounds one external program.
const checkLimit = 15 * time.Second

// Examine runs every check in order.
func (d Doctor) Examine(ctx context.Context) []Finding {
	return []Finding{
		d.data(), d.budget(), d.browser(ctx), d.sandbox(), d.display(), sharedMemory(), d.ffmpeg(ctx),
	}
}

// Report writes findings for a person and returns a fault when something necessary is missing.
func Report(w io.Writer, findings []Finding) error {
	missing := 0
	for _, f := range findings {
		fmt.Fprintf(w, "%-8s %-14s %s\n", f.Verdict, f.Check, f.Fact)
		if f.Next != "" {
			fmt.Fprintf(w, "%-8s %-14s -> %s\n", "", "", f.Next)
		}
		if f.Verdict == Missing {
			missing++
		}
	}
	if missing > 0 {
		return fault.New(fault.Unsupported, "%d necessary things are missing", missing).
			WithRecovery("follow the arrows above and run krometrail doctor again")
	}
	return nil
}

// data makes and removes an instance root, as every start does.
func (d Doctor) data() Finding {
	f := Finding{Check: "data directory", Verdict: OK}
	var said diagnostics.Early
	in, err := instance.Create(d.Config.DataDir, slog.New(&said))
	if err != nil {
		problem := fault.From(err)
		f.Verdict, f.Fact, f.Next = Missing, problem.Message, problem.Recovery
		return f
	}
	root := in.Root()
	err = in.Close()
	_ = os.RemoveAll(root)
	f.Fact = d.Config.DataDir + " is writable and has working locks"
	if err != nil {
		f.Verdict, f.Fact = Warn, "the lock could not be released"
	}
	return withNotices(f, said.Warnings())
}

func (d Doctor) budget() Finding {
	f := Finding{Check: "disk budget", Verdict: OK, Fact: fmt.Sprintf("%.1f GB over all running instances", float64(d.Config.DiskBudget)/1e9)}
	free, ok := freeBytes(existing(d.Config.DataDir))
	if ok && free < d.Config.DiskBudget {
		f.Verdict = Warn
		f.Fact += fmt.Sprintf(", but only %.1f GB are free on its file system", float64(free)/1e9)
		f.Next = "free some space, or lower KROMETRAIL_DISK_BUDGET_BYTES"
	}
	return f
}

// existing is the nearest parent that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func (d Doctor) browser(ctx context.Context) Finding {
	f := Finding{Check: "browser", Verdict: OK}
	found, rows, err := chrome.Discover(ctx, chrome.Search{
		Environment: d.Config.Chrome, Clock: d.Clock,
		Getenv: func(name string) string { value, _ := d.Env(name); return value },
	})
	if err != nil {
		problem := fault.From(err)
		f.Verdict, f.Fact, f.Next = Missing, problem.Message, problem.Recovery
		return f
	}
	f.Fact = found.Path + " (found by " + rows[len(rows)-1].Source + ")"
	if version, ok := firstLine(ctx, found.Path, "--version"); ok {
		f.Fact += ", " + version
	}
	if found.Snap {
		f.Verdict, f.Next = Warn, "this is a snap build: its profiles can only live below its own folder; a packaged Chrome or Chromium has no such limit"
	}
	return f
}

// firstLine runs a program and returns the first line it prints.
func firstLine(ctx context.Context, program string, args ...string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).Output() //nolint:gosec // the browser or encoder in use
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), err == nil && line != ""
}

func (d Doctor) sandbox() Finding {
	off, reason := chrome.SandboxMode(d.Config.Sandbox).Resolve()
	if !off {
		return Finding{Check: "sandbox", Verdict: OK, Fact: "on"}
	}
	return Finding{Check: "sandbox", Verdict: Warn, Fact: "off: " + reason, Next: "run as an ordinary user to have pages confined"}
}

func (d Doctor) display() Finding {
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY"} {
		if value, ok := d.Env(name); ok && value != "" {
			return Finding{Check: "display", Verdict: OK, Fact: "present: the browser opens a window unless headless=true"}
		}
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return Finding{Check: "display", Verdict: OK, Fact: "the browser opens a window unless headless=true"}
	}
	return Finding{Check: "display", Verdict: OK, Fact: "none: the browser runs headless"}
}

func sharedMemory() Finding {
	if chrome.SmallSharedMemory() {
		return Finding{Check: "shared memory", Verdict: OK, Fact: "/dev/shm is small; the browser is told to use files instead"}
	}
	return Finding{Check: "shared memory", Verdict: OK, Fact: "enough"}
}

func (d Doctor) ffmpeg(ctx context.Context) Finding {
	f := Finding{Check: "ffmpeg", Verdict: OK}
	version, ok := firstLine(ctx, "ffmpeg", "-version")
	if !ok {
		f.Verdict, f.Fact = Warn, "not found: everything works but video clips"
		f.Next = "install ffmpeg with an H.264 encoder if clips are wanted, and restart"
		return f
	}
	f.Fact = version
	return f
}

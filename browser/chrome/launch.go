package chrome

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
)

// Causes of a failed launch, as they appear in messages.
const (
	CauseNoSandbox      = "no_usable_sandbox"
	CauseProfileInUse   = "profile_in_use"
	CauseNoDisplay      = "no_display"
	CauseMissingLibrary = "missing_library"
	CauseStorageFull    = "storage_full"
	CauseSnap           = "snap_confinement"
	CauseExited         = "exited_at_once"
	CauseNotExecutable  = "not_executable"
	CauseNoAnswer       = "no_answer"
)

// Config describes one launch.
type Config struct {
	Executable string
	// ProfileDir becomes the user data directory. It must exist.
	ProfileDir string
	Headless   bool
	NoSandbox  bool
	// SmallSharedMemory keeps shared memory out of /dev/shm, for containers that give it little room.
	SmallSharedMemory bool
	// SoftwareGL selects SwiftShader; only for machines without a GPU.
	SoftwareGL    bool
	Width, Height int
	ExtraArgs     []string
	// Env is the browser's environment; nil means that of this program.
	Env   []string
	Clock clock.Clock
}

const (
	// PoliteStop is how long a browser may take to close by itself.
	PoliteStop = 2 * time.Second
	// killLimit is how long the group may take to vanish after it was killed.
	killLimit = 3 * time.Second
	// reapLimit is how long the group's ended processes may take to be collected by whoever is their parent.
	reapLimit = 500 * time.Millisecond
	// pollGroup is the interval at which a killed group is looked at.
	pollGroup = 10 * time.Millisecond
)

// Process is a running browser. End must be called, also after it has exited by itself.
type Process struct {
	cmd       *exec.Cmd
	clock     clock.Clock
	transport *cdp.Pipe
	stderr    *ring
	rendering string
	exited    chan struct{}
	exitCode  int // valid once exited is closed

	endOnce sync.Once
	left    Leftover
}

// Leftover counts what remained of the process group when End returned.
type Leftover struct {
	// Alive processes of the group that could not be ended.
	Alive int
	// Zombies have ended, but their parent never collected them.
	Zombies int
}

// Launch starts a browser with a debugging pipe. It returns once the process runs; whether it answers
// shows on the transport. The browser ends when this program dies, however that happens.
func Launch(_ context.Context, c Config) (*Process, error) {
	pipes, err := newPipes()
	if err != nil {
		return nil, launchFault(CauseExited).Because(err)
	}
	cmd := command(c)
	p := &Process{cmd: cmd, clock: c.Clock, stderr: newRing(stderrRing), rendering: c.rendering(), exited: make(chan struct{})}
	cmd.Stderr = p.stderr
	// A descendant that keeps stderr open must not hold Wait for ever.
	cmd.WaitDelay = killLimit
	cmd.ExtraFiles = []*os.File{pipes.childIn, pipes.childOut}
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	pipes.closeChild()
	if err != nil {
		pipes.closeOurs()
		return nil, startFault(err)
	}
	p.transport = cdp.NewPipe(pipes.ourIn, pipes.ourOut)
	return p, nil
}

// Transport is the debugging pipe.
func (p *Process) Transport() cdp.Transport { return p.transport }

// PID is the process id of the browser, which is also its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Rendering names the GL choice: default or swiftshader.
func (p *Process) Rendering() string { return p.rendering }

// Exited is closed when the browser process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Failure returns the fault of a browser that ended or stayed silent before it could be used.
func (p *Process) Failure() *fault.Error {
	select {
	case <-p.exited:
		return launchFault(launchCause(p.stderr.String(), p.exitCode)).Because(p.lastWords())
	default:
		return launchFault(CauseNoAnswer).Because(p.lastWords())
	}
}

// lastWords is the redacted end of the browser's stderr, for the log.
func (p *Process) lastWords() error {
	return fmt.Errorf("the browser's stderr ends with: %q", p.stderr.Redacted(lastWords))
}

// End closes the debugging pipe, gives the browser polite time to exit, kills the whole process group and verifies
// that it is gone. It always returns within polite plus a few seconds; later calls return the first result.
func (p *Process) End(polite time.Duration) Leftover {
	p.endOnce.Do(func() {
		if polite > 0 {
			_ = p.waitExit(polite)
		}
		_ = p.transport.Close()
		p.left = p.endGroup()
		p.collectAdopted()
	})
	return p.left
}

// collectAdopted gives crash handlers a moment to notice that their browser is gone.
func (p *Process) collectAdopted() {
	ctx, cancel := clock.WithTimeout(context.Background(), p.clock, reapLimit)
	defer cancel()
	for reapAdopted() > 0 && clock.Wait(ctx, p.clock, pollGroup) == nil {
	}
}

func (p *Process) waitExit(d time.Duration) error {
	ctx, cancel := clock.WithTimeout(context.Background(), p.clock, d)
	defer cancel()
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *Process) endGroup() Leftover {
	ctx, cancel := clock.WithTimeout(context.Background(), p.clock, killLimit)
	defer cancel()
	start := p.clock.Mono()
	for {
		killGroup(p.PID())
		select {
		case <-p.exited:
			reapGroup(p.PID())
			left := countGroup(p.PID())
			if left.Alive == 0 && (left.Zombies == 0 || p.clock.Mono()-start > reapLimit) {
				return left
			}
		default:
		}
		if clock.Wait(ctx, p.clock, pollGroup) != nil {
			return countGroup(p.PID())
		}
	}
}

var errLaunchUnsupported = errors.New("launching is not supported on this system")

func startFault(err error) *fault.Error {
	if errors.Is(err, errLaunchUnsupported) {
		return fault.New(fault.Unsupported, "browsers can be launched on Linux and macOS only").
			WithRecovery("start Chrome with --remote-debugging-port and use attach_browser").Because(err)
	}
	if errors.Is(err, os.ErrPermission) {
		return launchFault(CauseNotExecutable).Because(err)
	}
	if errors.Is(err, os.ErrNotExist) {
		return fault.New(fault.BrowserNotFound, "the browser executable does not exist").
			WithRecovery("name an installed Chrome or Chromium with executable or KROMETRAIL_CHROME").Because(err)
	}
	return launchFault(CauseExited).Because(err)
}

var launchRecovery = map[string]string{
	CauseNoSandbox:      "allow unprivileged user namespaces, install the setuid sandbox helper, or set KROMETRAIL_SANDBOX=off when the machine itself is a sandbox",
	CauseProfileInUse:   `close the browser that uses the profile, name another profile, or use profile "temporary"`,
	CauseNoDisplay:      "start with headless=true or set DISPLAY",
	CauseMissingLibrary: "install the browser's missing system libraries through the package that provides it",
	CauseStorageFull:    "free space on the disk that holds the profile",
	CauseSnap:           "install Chrome or Chromium outside of snap and name it with executable or KROMETRAIL_CHROME",
	CauseExited:         "run krometrail doctor to see whether the browser starts at all",
	CauseNotExecutable:  "name an executable file",
	CauseNoAnswer:       "try again; if the machine is very busy, wait until it is quieter",
}

func launchFault(cause string) *fault.Error {
	code := fault.BrowserLaunchFailed
	if cause == CauseProfileInUse {
		code = fault.ProfileInUse
	}
	return fault.New(code, "the browser could not be started (%s)", cause).WithRecovery("%s", launchRecovery[cause])
}

//go:build unix

package chrome

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// command runs the browser in a process group of its own and with a umask that keeps the profile private.
// The shell is only there to set the umask, which Go cannot do for a child alone, and replaces itself.
func command(c Config) *exec.Cmd {
	args := append([]string{"-c", `umask 077; exec "$0" "$@"`, c.Executable}, c.arguments()...)
	cmd := exec.Command("/bin/sh", args...) //nolint:gosec,noctx // the executable is the operator's choice; End ends it
	cmd.Env = c.Env
	cmd.SysProcAttr = attributes()
	return cmd
}

// run starts the browser and waits for it on one locked thread: the parent-death signal fires when the
// thread that forked ends, so that thread has to live as long as the browser.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	adoptOrphans()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		close(p.exited)
		return
	}
	_ = p.cmd.Wait()
	p.exitCode = p.cmd.ProcessState.ExitCode()
	close(p.exited)
}

func killGroup(pgid int) { _ = syscall.Kill(-pgid, syscall.SIGKILL) }

// reapGroup collects the ended members of the group that are children of this process, which the
// orphans of the browser become on Linux.
func reapGroup(pgid int) {
	for {
		pid, err := syscall.Wait4(-pgid, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}

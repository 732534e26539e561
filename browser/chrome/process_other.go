//go:build !unix

package chrome

import (
	"os"
	"os/exec"
)

// command exists so that the package builds; launching needs inheritable pipes, see run.
func command(c Config) *exec.Cmd {
	cmd := exec.Command(c.Executable, c.arguments()...) //nolint:gosec,noctx // the executable is the operator's choice
	cmd.Env = c.Env
	return cmd
}

// run refuses: this system has no way to hand the debugging pipe to a child. Attaching works.
func (p *Process) run(started chan<- error) {
	started <- errLaunchUnsupported
	close(p.exited)
}

func widen(...*os.File)       {}
func killGroup(int)           {}
func reapGroup(int)           {}
func countGroup(int) Leftover { return Leftover{} }
func reapAdopted() int        { return 0 }

//go:build unix && !linux

package chrome

import (
	"errors"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// adoptOrphans does nothing: process 1 collects orphans here.
func adoptOrphans() {}

// widen does nothing: pipes grow by themselves here.
func widen(...*os.File) {}

// countGroup can only tell whether anything of the group is left.
func countGroup(pgid int) Leftover {
	if err := syscall.Kill(-pgid, 0); errors.Is(err, syscall.ESRCH) {
		return Leftover{}
	}
	return Leftover{Alive: 1}
}

// reapAdopted does nothing: process 1 collects orphans here.
func reapAdopted() int { return 0 }

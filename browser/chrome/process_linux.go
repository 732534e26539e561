//go:build linux

package chrome

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeSize asks for room for several frames, so that Chrome seldom waits for the reader to be scheduled.
const pipeSize = 1 << 20

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of the browser's orphans, so that it can collect them even
// where process 1 does not.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func widen(files ...*os.File) {
	for _, f := range files {
		if conn, err := f.SyscallConn(); err == nil {
			_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
		}
	}
}

// countGroup looks at /proc, because a signal cannot tell the living from zombies.
func countGroup(pgid int) Leftover {
	var left Leftover
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		state, group := parseStat(raw)
		if group != pgid {
			continue
		}
		if state == 'Z' || state == 'X' {
			left.Zombies++
		} else {
			left.Alive++
		}
	}
	return left
}

// reapAdopted collects crash handlers that ended as orphans. They leave the browser's group, so they are known by their
// name; nothing else in this program starts one, so nobody else waits for them. It returns how many have been adopted and not ended yet.
func reapAdopted() (ending int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parent := []byte(strconv.Itoa(os.Getpid()))
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(raw, []byte("(chrome_crashpad")) {
			continue
		}
		fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
		if len(fields) < 2 || !bytes.Equal(fields[1], parent) {
			continue
		}
		if fields[0][0] != 'Z' {
			ending++
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
	return ending
}

// parseStat reads state and process group of /proc/<pid>/stat. The command name in parentheses may hold
// anything, so the fields are counted from its last parenthesis.
func parseStat(raw []byte) (state byte, group int) {
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return 0, 0
	}
	fields := bytes.Fields(raw[end+1:])
	if len(fields) < 3 {
		return 0, 0
	}
	group, _ = strconv.Atoi(string(fields[2]))
	return fields[0][0], group
}

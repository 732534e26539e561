package chrome

import (
	"os"
	"strconv"
	"strings"
)

// readOwner reads the note of Own.
func readOwner(path string) (pid int, start string, ok bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, "", false
	}
	first, second, found := strings.Cut(strings.TrimSpace(string(raw)), " ")
	pid, err = strconv.Atoi(first)
	return pid, second, found && err == nil && pid > 1
}

// isOurs reports whether the process is still the noted one: same number, same start, same profile. Numbers are
// reused, so none of these is enough alone.
func isOurs(pid int, start, profileDir string) bool {
	now, ok := processStart(pid)
	return ok && now == start && strings.Contains(processArguments(pid), "--user-data-dir="+profileDir)
}

// lockedByLiving reads Chrome's own profile lock, a symbolic link to host-pid.
func lockedByLiving(path string) bool {
	link, err := os.Readlink(path)
	if err != nil {
		return false
	}
	at := strings.LastIndexByte(link, '-')
	if at < 0 {
		return false
	}
	host, err := os.Hostname()
	if err != nil || link[:at] != host {
		return false // another host name: a renamed container, whose processes are gone
	}
	pid, err := strconv.Atoi(link[at+1:])
	if err != nil {
		return false
	}
	return strings.Contains(processArguments(pid), "--user-data-dir=")
}

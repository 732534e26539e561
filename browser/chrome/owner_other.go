//go:build !linux

package chrome

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// psLimit bounds one look at the process table.
const psLimit = 2 * time.Second

func ps(pid int, column string) string {
	ctx, cancel := context.WithTimeout(context.Background(), psLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-o", column+"=", "-p", strconv.Itoa(pid)).Output() //nolint:gosec // fixed command, numeric argument
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// processStart returns the start time of a process; ok is false when it does not exist.
func processStart(pid int) (start string, ok bool) {
	start = ps(pid, "lstart")
	return start, start != ""
}

func processArguments(pid int) string { return ps(pid, "args") }

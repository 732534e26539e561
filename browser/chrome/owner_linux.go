//go:build linux

package chrome

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// processStart returns the kernel's start time of a process; ok is false when it does not exist.
func processStart(pid int) (start string, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	end := bytes.LastIndexByte(raw, ')')
	fields := bytes.Fields(raw[end+1:])
	// Start time is field 22 of the file; state, field 3, is the first after the name.
	if end < 0 || len(fields) < 20 {
		return "", false
	}
	return string(fields[19]), true
}

func processArguments(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(raw), "\x00", " ")
}

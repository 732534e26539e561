package capture_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// tick is the unit of CPU times in /proc, which Linux fixes at 100 a second for user space.
const tick = 10 * time.Millisecond

// usage is CPU time used so far: by this process, by the browser's process group and by the whole machine.
type usage struct {
	at                    time.Time
	wall                  time.Duration
	own, browser, machine time.Duration
}

func takeUsage(group int) usage {
	var self syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &self)
	u := usage{at: time.Now(), own: time.Duration(self.Utime.Nano() + self.Stime.Nano())}
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		raw, _ := os.ReadFile(path)
		end := bytes.LastIndexByte(raw, ')')
		fields := bytes.Fields(raw[end+1:])
		if end < 0 || len(fields) < 13 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		u.browser += ticks(fields[11]) + ticks(fields[12])
	}
	raw, _ := os.ReadFile("/proc/stat")
	var user, nice, system int64
	_, _ = fmt.Sscanf(string(raw), "cpu %d %d %d", &user, &nice, &system)
	u.machine = time.Duration(user+nice+system) * tick
	return u
}

func ticks(field []byte) time.Duration {
	n, _ := strconv.ParseInt(string(field), 10, 64)
	return time.Duration(n) * tick
}

func (u usage) since(before usage) usage {
	return usage{
		wall: u.at.Sub(before.at), own: u.own - before.own, browser: u.browser - before.browser, machine: u.machine - before.machine,
	}
}

// external is the load of everything else, in percent of one core.
func (u usage) external() float64 {
	return max(0, 100*(u.machine-u.own-u.browser).Seconds()/u.wall.Seconds())
}

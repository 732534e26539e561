//go:build linux

package chrome

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// SmallSharedMemory reports whether /dev/shm is too small for Chrome, as it is in many containers.
func SmallSharedMemory() bool {
	var fs unix.Statfs_t
	if unix.Statfs("/dev/shm", &fs) != nil {
		return true
	}
	return uint64(fs.Blocks)*uint64(fs.Bsize) < minSharedMemory //nolint:unconvert // the types differ between architectures
}

// HasGPU reports whether the machine offers a render device.
func HasGPU() bool {
	devices, _ := filepath.Glob("/dev/dri/renderD*")
	return len(devices) > 0
}

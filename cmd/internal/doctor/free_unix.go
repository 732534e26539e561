//go:build linux || darwin

package doctor

import "golang.org/x/sys/unix"

// freeBytes is the space that an ordinary user can still take on dir's file system.
func freeBytes(dir string) (int64, bool) {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true //nolint:unconvert // Bsize is an uint32 on macOS
}

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// Datasync implements Syncer with fdatasync, which spares the timestamps.
func (f file) Datasync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == unix.EINTR {
			continue
		}
		return os.NewSyscallError("fdatasync", err)
	}
}

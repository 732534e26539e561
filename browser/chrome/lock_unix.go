//go:build unix

package chrome

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// fileLock is an advisory lock that ends with the process.
type fileLock struct {
	path string
	file *os.File
}

// acquireLock takes the lock or returns errLocked at once.
func acquireLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return &fileLock{path: path, file: file}, nil
}

func (l *fileLock) release() { _ = l.file.Close() }

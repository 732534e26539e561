//go:build !unix

package chrome

import "os"

// fileLock is a file that must not exist beforehand: without advisory locks a crash leaves it behind, and
// profiles are only used for launches, which this system does not offer.
type fileLock struct {
	path string
	file *os.File
}

func acquireLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if os.IsExist(err) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	return &fileLock{path: path, file: file}, nil
}

func (l *fileLock) release() {
	_ = l.file.Close()
	_ = os.Remove(l.path)
}

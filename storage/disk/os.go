package disk

import (
	"io/fs"
	"os"
	"runtime"
)

// Modes of everything storage makes: the owner alone may look.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// OpenDir opens the directory at path. Everything later goes through the retained handle, so renaming a
// parent or changing its permissions does not redirect or stop it.
func OpenDir(path string) (FS, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &tree{root: root}, nil
}

type tree struct{ root *os.Root }

func (t *tree) Create(name string) (File, error) {
	return t.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (t *tree) Open(name string) (File, error) { return t.open(name, os.O_RDWR) }

func (t *tree) open(name string, flag int) (File, error) {
	f, err := t.root.OpenFile(name, flag, fileMode)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (t *tree) Rename(from, to string) error { return t.root.Rename(from, to) }

func (t *tree) Remove(name string) error { return t.root.Remove(name) }

func (t *tree) Size(name string) (int64, error) {
	info, err := t.root.Lstat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (t *tree) Mkdir(name string) error { return t.root.Mkdir(name, dirMode) }

func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(t.root.FS(), name)
}

// SyncDir does nothing on Windows, which has no such operation: NTFS journals its name changes.
func (t *tree) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := t.root.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

func (t *tree) Close() error { return t.root.Close() }

type file struct{ *os.File }

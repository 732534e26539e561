// Package faultfs has the faulting file system: a disk.FS on a real directory that fails, shortens, delays
// or stops at chosen calls.
package faultfs

import (
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/krometrail/krometrail/storage/disk"
)

// Op is the kind of a call.
type Op string

// The kinds.
const (
	Create   Op = "create"
	Open     Op = "open"
	Write    Op = "write"
	Sync     Op = "sync"
	Datasync Op = "datasync"
	Truncate Op = "truncate"
	Rename   Op = "rename"
	Remove   Op = "remove"
	Size     Op = "size"
	Mkdir    Op = "mkdir"
	List     Op = "list"
	SyncDir  Op = "sync_directory"
	Read     Op = "read"
)

// Call is one call that is about to be made.
type Call struct {
	Op Op
	// Name is the path of the file; of a rename, the old one.
	Name string
	// Bytes is the length of a write.
	Bytes int
}

// In reports that the call concerns something in the folder.
func (c Call) In(folder string) bool {
	return strings.HasPrefix(c.Name, folder+"/") || c.Name == folder
}

// Base is the last element of the name.
func (c Call) Base() string { return path.Base(c.Name) }

// Fault is what shall happen to a call. The zero Fault lets it through.
type Fault struct {
	// Err is returned instead of making the call.
	Err error
	// Short makes a write store this many of its bytes before it returns Err.
	Short int
	// Then is called when the short write is done and before it returns, to end the process in the middle of it.
	Then func()
}

// FS is a disk.FS that asks a hook before each call. Methods and SetHook may be called concurrently.
type FS struct {
	disk.FS
	mu   sync.Mutex
	hook func(Call) Fault
}

// New returns a faulting file system over tree that lets everything through until SetHook.
func New(tree disk.FS) *FS { return &FS{FS: tree} }

// SetHook replaces the hook; nil lets everything through. The hook may block, to delay a call, and may end the
// process; it is called without a lock held.
func (f *FS) SetHook(hook func(Call) Fault) {
	f.mu.Lock()
	f.hook = hook
	f.mu.Unlock()
}

// FailNth is a hook that lets the nth matching call (from 1) and all later ones fail with err.
func FailNth(n int, match func(Call) bool, err error) func(Call) Fault {
	var mu sync.Mutex
	seen := 0
	return func(c Call) Fault {
		if !match(c) {
			return Fault{}
		}
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen >= n {
			return Fault{Err: err}
		}
		return Fault{}
	}
}

func (f *FS) ask(op Op, name string, bytes int) Fault {
	f.mu.Lock()
	hook := f.hook
	f.mu.Unlock()
	if hook == nil {
		return Fault{}
	}
	return hook(Call{Op: op, Name: name, Bytes: bytes})
}

// Create implements disk.Files.
func (f *FS) Create(name string) (disk.File, error) {
	return f.open(Create, name, f.FS.Create)
}

// Open implements disk.Files.
func (f *FS) Open(name string) (disk.File, error) { return f.open(Open, name, f.FS.Open) }

func (f *FS) open(op Op, name string, call func(string) (disk.File, error)) (disk.File, error) {
	if fault := f.ask(op, name, 0); fault.Err != nil {
		return nil, &fs.PathError{Op: string(op), Path: name, Err: fault.Err}
	}
	inner, err := call(name)
	if err != nil {
		return nil, err
	}
	return &file{File: inner, fs: f, name: name}, nil
}

// Rename implements disk.Files.
func (f *FS) Rename(from, to string) error {
	return f.plain(Rename, from, func() error { return f.FS.Rename(from, to) })
}

// Remove implements disk.Files.
func (f *FS) Remove(name string) error {
	return f.plain(Remove, name, func() error { return f.FS.Remove(name) })
}

// Size implements disk.Files.
func (f *FS) Size(name string) (size int64, err error) {
	err = f.plain(Size, name, func() (err error) { size, err = f.FS.Size(name); return err })
	return size, err
}

// Mkdir implements disk.Dirs.
func (f *FS) Mkdir(name string) error {
	return f.plain(Mkdir, name, func() error { return f.FS.Mkdir(name) })
}

// ReadDir implements disk.Dirs.
func (f *FS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.plain(List, name, func() (err error) { entries, err = f.FS.ReadDir(name); return err })
	return entries, err
}

// SyncDir implements disk.Dirs.
func (f *FS) SyncDir(name string) error {
	return f.plain(SyncDir, name, func() error { return f.FS.SyncDir(name) })
}

func (f *FS) plain(op Op, name string, call func() error) error {
	if fault := f.ask(op, name, 0); fault.Err != nil {
		return &fs.PathError{Op: string(op), Path: name, Err: fault.Err}
	}
	return call()
}

type file struct {
	disk.File
	fs   *FS
	name string
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if fault := f.fs.ask(Read, f.name, len(p)); fault.Err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fault.Err}
	}
	return f.File.ReadAt(p, off)
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	fault := f.fs.ask(Write, f.name, len(p))
	if fault.Err == nil {
		return f.File.WriteAt(p, off)
	}
	n, _ := f.File.WriteAt(p[:min(fault.Short, len(p))], off)
	if fault.Then != nil {
		fault.Then()
	}
	return n, &fs.PathError{Op: "write", Path: f.name, Err: fault.Err}
}

func (f *file) Sync() error { return f.fs.plain(Sync, f.name, f.File.Sync) }

func (f *file) Datasync() error { return f.fs.plain(Datasync, f.name, f.File.Datasync) }

func (f *file) Truncate(size int64) error {
	return f.fs.plain(Truncate, f.name, func() error { return f.File.Truncate(size) })
}

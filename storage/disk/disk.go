// Package disk is the file system as storage uses it: a handful of operations below one directory, small
// enough to be replaced by one that fails, delays or stops at a chosen call.
package disk

import (
	"io"
	"io/fs"
)

// FS is a directory tree. Names are relative, slash-separated and never leave the tree. Errors are those of
// package os and keep their system error for errors.Is. All methods may be called concurrently.
type FS interface {
	Files
	Dirs
}

// Files works on single files.
type Files interface {
	// Create makes a new file for reading and writing; it fails with fs.ErrExist when the name is taken.
	Create(name string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(name string) (File, error)
	// Rename moves a file or directory; an existing file at the new name is replaced.
	Rename(from, to string) error
	// Remove deletes a file or an empty directory.
	Remove(name string) error
	// Size returns the length of a file in bytes.
	Size(name string) (int64, error)
}

// Dirs works on directories.
type Dirs interface {
	// Mkdir makes a directory for the owner only; fs.ErrExist when it exists.
	Mkdir(name string) error
	// ReadDir lists a directory in name order; "." is the tree itself.
	ReadDir(name string) ([]fs.DirEntry, error)
	// SyncDir makes completed creations, renames and removals in a directory durable.
	SyncDir(name string) error
	// Close releases the tree. Open files stay usable.
	Close() error
}

// File is an open file. Writes name their offset, so the caller alone decides where a record lies.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Syncer
	Truncate(size int64) error
}

// Syncer makes written bytes durable.
type Syncer interface {
	// Sync writes data and all metadata to the device.
	Sync() error
	// Datasync writes data and the metadata needed to read it back.
	Datasync() error
}

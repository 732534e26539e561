//go:build failpoints && unix

package wire

import (
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/segment"
)

// failPoint names the step at which the process kills itself, for crash tests of the whole program, and which time it
// comes there, as in KROMETRAIL_FAILPOINT=append:7. The steps are those of brittle (append, rotate, seal, flush,
// publish, remove, sync_directory), those of the index (index.begin, index.commit, index.committed), and any.
const failPoint = "KROMETRAIL_FAILPOINT"

// withFailPoint puts the fail point that the environment names below the store of root.
func withFailPoint(root string, o storage.Options) (storage.Options, error) {
	wanted, text, ok := strings.Cut(os.Getenv(failPoint), ":")
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return o, nil
	}
	tree, err := disk.OpenDir(root)
	if err != nil {
		return o, err
	}
	var passed atomic.Int64
	reached := func(step string) bool {
		return (wanted == "any" || wanted == step) && passed.Add(1) == n
	}
	o.FS = brittle{tree, reached}
	o.Step = fatal(reached)
	return o, nil
}

func fatal(reached func(string) bool) func(string) {
	return func(step string) {
		if reached(step) {
			kill()
		}
	}
}

// kill ends the process without any of its clean-up.
func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// brittle is a file system that the process may die of before each call that changes something, and in the middle of
// each write.
type brittle struct {
	disk.FS
	reached func(step string) bool
}

// at is the step of a call below name: of in the folder of segments, publish elsewhere.
func (b brittle) at(of, name string) {
	if path.Dir(name) != segment.Dir {
		of = "publish"
	}
	fatal(b.reached)(of)
}

func (b brittle) Create(name string) (disk.File, error) {
	b.at("rotate", name)
	f, err := b.FS.Create(name)
	return brittleFile{f, b, name}, err
}

func (b brittle) Open(name string) (disk.File, error) {
	f, err := b.FS.Open(name)
	return brittleFile{f, b, name}, err
}

func (b brittle) Mkdir(name string) error { b.at("rotate", name); return b.FS.Mkdir(name) }

func (b brittle) Rename(from, to string) error { b.at("seal", from); return b.FS.Rename(from, to) }

func (b brittle) Remove(name string) error { fatal(b.reached)("remove"); return b.FS.Remove(name) }

func (b brittle) SyncDir(name string) error {
	fatal(b.reached)("sync_directory")
	return b.FS.SyncDir(name)
}

type brittleFile struct {
	disk.File
	tree brittle
	name string
}

func (f brittleFile) WriteAt(p []byte, off int64) (int, error) {
	step := "append"
	switch {
	case path.Dir(f.name) != segment.Dir:
		step = "publish"
	case len(p) == segment.HeaderSize:
		step = "rotate"
	case len(p) == segment.SealSize:
		step = "seal"
	}
	if f.tree.reached(step) {
		_, _ = f.File.WriteAt(p[:len(p)/2], off)
		kill()
	}
	return f.File.WriteAt(p, off)
}

func (f brittleFile) Sync() error { f.tree.at("seal", f.name); return f.File.Sync() }

func (f brittleFile) Datasync() error { f.tree.at("flush", f.name); return f.File.Datasync() }

func (f brittleFile) Truncate(size int64) error {
	f.tree.at("seal", f.name)
	return f.File.Truncate(size)
}

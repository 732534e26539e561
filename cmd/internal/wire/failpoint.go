//go:build failpoints && unix

package wire

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/faultfs"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/segment"
)

// failPoint names the step at which the process kills itself, for crash tests of the whole program, and which time it
// comes there, as in KROMETRAIL_FAILPOINT=append:7. The steps are those of stepOf, those of the index (index.begin,
// index.commit, index.committed), and any.
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
		return step != "" && (wanted == "any" || wanted == step) && passed.Add(1) == n
	}
	faulty := faultfs.New(tree)
	faulty.SetHook(func(c faultfs.Call) faultfs.Fault {
		switch {
		case !reached(stepOf(c)):
		case c.Op == faultfs.Write: // in the middle of it
			return faultfs.Fault{Err: syscall.EIO, Short: c.Bytes / 2, Then: kill}
		default:
			kill()
		}
		return faultfs.Fault{}
	})
	o.FS = faulty
	o.Step = func(step string) {
		if reached(step) {
			kill()
		}
	}
	return o, nil
}

// stepOf names what a call to the file system is part of, "" when it changes nothing.
func stepOf(c faultfs.Call) string {
	segments := c.In(segment.Dir)
	switch c.Op {
	case faultfs.Create, faultfs.Mkdir:
		if segments {
			return "rotate"
		}
		return "publish"
	case faultfs.Write:
		switch {
		case !segments:
			return "publish"
		case c.Bytes == segment.HeaderSize:
			return "rotate"
		case c.Bytes == segment.SealSize:
			return "seal"
		}
		return "append"
	case faultfs.Sync, faultfs.Rename:
		if segments {
			return "seal"
		}
		return "publish"
	case faultfs.Datasync, faultfs.Truncate:
		return "flush"
	case faultfs.Remove:
		return "remove"
	case faultfs.SyncDir:
		if segments || c.In(index.ArtifactsDir) {
			return "sync_directory"
		}
	}
	return ""
}

// kill ends the process without any of its clean-up.
func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

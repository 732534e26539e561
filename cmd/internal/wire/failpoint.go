//go:build failpoints

package wire

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/faultfs"
)

// failPoint names the step before which the process kills itself, for crash tests of the whole program: an operation of
// faultfs or a step of the index, or "any", and which one of them, as in FAILPOINT=rename:2.
const failPoint = "FAILPOINT"

// withFailPoint puts the fail point that the environment names below the store of root.
func withFailPoint(root string, o storage.Options) (storage.Options, error) {
	name, text, ok := strings.Cut(os.Getenv(failPoint), ":")
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return o, nil
	}
	tree, err := disk.OpenDir(root)
	if err != nil {
		return o, err
	}
	var passed atomic.Int64
	reach := func(step string) {
		if (name == "any" || name == step) && passed.Add(1) == n {
			kill()
		}
	}
	faulty := faultfs.New(tree)
	faulty.SetHook(func(c faultfs.Call) faultfs.Fault {
		reach(string(c.Op))
		return faultfs.Fault{}
	})
	o.FS, o.Step = faulty, reach
	return o, nil
}

// kill ends the process without any of its clean-up.
func kill() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

// Package instance gives each process its own root below the data directory, held under an advisory lock, and
// counts and clears the roots of others.
//
// A root is made and locked under a name that starts with a dot and then renamed, so nobody ever sees a root
// that is not locked by its maker. Only where exclusive ownership can be proved (Linux and macOS, by flock) is
// another process's root ever touched.
package instance

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"

	"github.com/krometrail/krometrail/core/fault"
)

const (
	// DirName is the folder of instance roots inside the data directory.
	DirName = "instances"
	// LockName is the lock file inside a root.
	LockName = "lock"

	newPrefix  = ".new-"
	deadPrefix = ".dead-"
	// createAttempts bounds retries when a peer clears a half-made root under our hands.
	createAttempts = 5
)

// Instance is a root that this process holds until Close.
type Instance struct {
	root   string
	name   string
	lock   *flock.Flock
	logger *slog.Logger

	mu       sync.Mutex // guards peers and counter
	peers    *peers
	counter  counter
	closed   bool
	closeErr error
}

// Create makes, locks and publishes a fresh root below dataDir, which is made when missing. Errors are
// persistence_failed faults: operation create, or the file system has no working advisory lock.
func Create(dataDir string, logger *slog.Logger) (*Instance, error) {
	base := filepath.Join(dataDir, DirName)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, createFault(err)
	}
	var err error
	for range createAttempts {
		var in *Instance
		if in, err = create(base, logger); err == nil {
			return in, nil
		}
		if !errors.Is(err, errDisturbed) {
			break
		}
	}
	return nil, asCreateFault(err)
}

// errDisturbed says that another process cleared our unfinished root; trying again is right.
var errDisturbed = errors.New("instance: unfinished root was cleared by a peer")

func create(base string, logger *slog.Logger) (*Instance, error) {
	name := newUUID()
	hidden := filepath.Join(base, newPrefix+name)
	if err := os.Mkdir(hidden, 0o700); err != nil {
		return nil, err
	}
	lock, err := acquire(hidden)
	if err != nil {
		_ = os.RemoveAll(hidden)
		return nil, err
	}
	root := filepath.Join(base, name)
	if err := os.Rename(hidden, root); err != nil {
		_ = lock.Close()
		if errors.Is(err, fs.ErrNotExist) {
			err = errDisturbed
		}
		return nil, err
	}
	in := &Instance{root: root, name: name, lock: lock, logger: logger}
	in.peers = openPeers(base, name, logger)
	return in, nil
}

// acquire takes the lock of an unfinished root and proves that locks exclude each other here.
func acquire(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, LockName)
	lock := flock.New(path, flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errDisturbed
	case err != nil:
		return nil, lockFault(err)
	case !held: // a peer probes the unfinished root at this moment
		_ = lock.Close()
		return nil, errDisturbed
	}
	if err := proveExclusion(path, tryShared); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}

// proveExclusion tries to lock the file that we hold once more. Where that works or fails, locks mean nothing.
func proveExclusion(path string, try func(path string) (bool, error)) error {
	if twice, err := try(path); err != nil || twice {
		return lockFault(err)
	}
	return nil
}

func tryShared(path string) (bool, error) {
	second := flock.New(path, flock.SetPermissions(0o600))
	held, err := second.TryRLock()
	return held, errors.Join(err, second.Close())
}

// Root is the absolute or data-directory-relative path of the root.
func (in *Instance) Root() string { return in.root }

// Name is the root's UUID.
func (in *Instance) Name() string { return in.name }

// Close releases the lock; the root's bytes stop counting at once and a later start removes them.
// Further calls do nothing.
func (in *Instance) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return in.closeErr
	}
	in.closed = true
	in.closeErr = in.lock.Close()
	if err := in.peers.close(); in.closeErr == nil {
		in.closeErr = err
	}
	return in.closeErr
}

func newUUID() string {
	var b [16]byte
	// crypto/rand.Read never fails: it ends the program when the system has no randomness.
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// isUUID recognises the names of published roots.
func isUUID(name string) bool {
	if len(name) != 36 {
		return false
	}
	for i, c := range []byte(name) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

func createFault(cause error) error {
	category := "io"
	if errors.Is(cause, fs.ErrPermission) {
		category = "permission"
	}
	return fault.New(fault.PersistenceFailed, "the data directory cannot hold a new instance").
		WithRecovery("make the data directory writable or set KROMETRAIL_DATA_DIR to one that is, then restart").
		WithPersistence("create", category, "writer_terminal").Because(cause)
}

func asCreateFault(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return createFault(err)
}

func lockFault(cause error) error {
	return fault.New(fault.PersistenceFailed, "the data directory is on a file system without working file locks").
		WithRecovery("set KROMETRAIL_DATA_DIR to a directory on a local disk, then restart").
		WithPersistence("create", "unknown", "writer_terminal").Because(cause)
}

//go:build linux || darwin

package instance

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// canProveOwnership says whether this system can show that nobody holds a root.
const canProveOwnership = true

// peers looks at the other roots through one directory handle that was opened at start-up. Its permission
// check is behind it, so a later chmod or a rename of the path does not blind it.
type peers struct {
	dir     *os.File
	openErr error
	own     string
	logger  *slog.Logger
}

type survey struct {
	live      int
	abandoned []string
}

func openPeers(base, own string, logger *slog.Logger) *peers {
	dir, err := os.Open(base)
	if err != nil {
		logger.Warn("instances cannot be counted; assuming peers", "assumed", AssumedPeers)
	}
	return &peers{dir: dir, openErr: err, own: own, logger: logger}
}

// survey counts the held roots of others and lists the free ones. The caller serialises calls.
func (p *peers) survey() (survey, error) {
	if p.openErr != nil {
		return survey{}, p.openErr
	}
	names, err := p.names()
	if err != nil {
		return survey{}, err
	}
	var s survey
	for _, name := range names {
		hidden := strings.HasPrefix(name, newPrefix) || strings.HasPrefix(name, deadPrefix)
		if name == p.own || !hidden && !isUUID(name) {
			continue
		}
		free := p.isFree(name, hidden)
		switch {
		case free:
			s.abandoned = append(s.abandoned, name)
		case !hidden:
			s.live++
		}
	}
	return s, nil
}

func (p *peers) names() ([]string, error) {
	if _, err := p.dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return p.dir.Readdirnames(-1)
}

// isFree reports that the lock of a root is proved to be free. Whatever cannot be examined counts as held. A
// hidden root may also be free by having no lock file: its maker or its clearer died at that moment.
func (p *peers) isFree(name string, hidden bool) bool {
	root, lock, err := p.openLock(name)
	if root >= 0 {
		defer unix.Close(root)
	}
	if err != nil {
		return hidden && root >= 0 && errors.Is(err, unix.ENOENT)
	}
	defer unix.Close(lock)
	return unix.Flock(lock, unix.LOCK_SH|unix.LOCK_NB) == nil
}

// openLock opens a root and its lock file without following links. Descriptors that are not open are -1.
func (p *peers) openLock(name string) (root, lock int, err error) {
	root, err = openat(int(p.dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return -1, -1, err
	}
	lock, err = openat(root, LockName, unix.O_RDONLY)
	if err != nil {
		return root, -1, err
	}
	return root, lock, nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if !errors.Is(err, unix.EINTR) {
			if err != nil {
				return -1, err
			}
			return fd, nil
		}
	}
}

// reap removes one abandoned root: lock it exclusively, make sure the name still means the locked root, move
// it out of sight, delete it. A crash in between leaves a hidden root that the next reap finishes.
func (p *peers) reap(ctx context.Context, name string) bool {
	root, lock, err := p.openLock(name)
	if root < 0 {
		return false
	}
	defer unix.Close(root)
	hidden := strings.HasPrefix(name, ".")
	switch {
	case err == nil:
		defer unix.Close(lock)
		if unix.Flock(lock, unix.LOCK_EX|unix.LOCK_NB) != nil || !p.stillNamed(root, lock, name) {
			return false
		}
	case hidden && errors.Is(err, unix.ENOENT): // nothing to hold: only an empty root is certainly nobody's
		if p.removeUnlocked(ctx, root, name) {
			return true
		}
		return false
	default:
		return false
	}
	dead := name
	if !hidden {
		dead = deadPrefix + name
		if unix.Renameat(int(p.dir.Fd()), name, int(p.dir.Fd()), dead) != nil {
			return false
		}
	}
	return p.removeTree(ctx, root, dead)
}

// stillNamed compares device and inode of what we hold with what the names lead to now.
func (p *peers) stillNamed(root, lock int, name string) bool {
	return sameFile(root, int(p.dir.Fd()), name) && sameFile(lock, root, LockName)
}

func sameFile(fd, dir int, name string) bool {
	var held, named unix.Stat_t
	if unix.Fstat(fd, &held) != nil || unix.Fstatat(dir, name, &named, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	return held.Dev == named.Dev && held.Ino == named.Ino
}

// removeUnlocked finishes a hidden root without a lock file. One that a clearer left (".dead-") may still have
// content; one whose maker died (".new-") is empty, and a maker that lives notices and starts again.
func (p *peers) removeUnlocked(ctx context.Context, root int, name string) bool {
	if strings.HasPrefix(name, deadPrefix) {
		return p.removeTree(ctx, root, name)
	}
	return unix.Unlinkat(int(p.dir.Fd()), name, unix.AT_REMOVEDIR) == nil
}

func (p *peers) removeTree(ctx context.Context, root int, name string) bool {
	if err := removeContents(ctx, root); err != nil {
		p.logger.Warn("abandoned root is not completely removed", "root", filepath.Base(name), "cause", err)
		return false
	}
	return unix.Unlinkat(int(p.dir.Fd()), name, unix.AT_REMOVEDIR) == nil
}

// removeContents empties the directory behind fd without following links. The lock file goes last, so that an
// interrupted removal is still recognised as one.
func removeContents(ctx context.Context, fd int) error {
	dup, err := openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(dup), "abandoned")
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == LockName && !e.IsDir() {
			continue
		}
		if err := removeEntry(ctx, fd, e); err != nil {
			return err
		}
	}
	if err := unix.Unlinkat(fd, LockName, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

func removeEntry(ctx context.Context, dir int, e os.DirEntry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.IsDir() {
		return unix.Unlinkat(dir, e.Name(), 0)
	}
	child, err := openat(dir, e.Name(), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(child)
	if err := removeContents(ctx, child); err != nil {
		return err
	}
	return unix.Unlinkat(dir, e.Name(), unix.AT_REMOVEDIR)
}

func (p *peers) close() error {
	if p.dir == nil {
		return nil
	}
	return p.dir.Close()
}

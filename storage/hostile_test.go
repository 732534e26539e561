//go:build unix

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/instance"
)

// nobody is the user the hostile tests run as when we are root, whom permissions do not stop.
const nobody = 65534

// Each case changes the instances directory under a recording store, as an unprivileged user: root ignores
// permissions and would prove nothing. Where the privileges cannot be dropped, the test fails.
func TestHostileDirectoryChanges(t *testing.T) {
	for _, name := range []string{"chmod", "unreadable-at-start", "rename", "replaced-by-link", "root-replaced-by-link"} {
		t.Run(name, func(t *testing.T) {
			dir, binary := openDirectory(t)
			command := exec.CommandContext(t.Context(), binary, "hostile-child", name, filepath.Join(dir, "data"))
			command.Dir = dir
			if os.Geteuid() == 0 {
				command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			out, err := command.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "unprivileged and ok")
		})
	}
}

// openDirectory makes a directory that the unprivileged user owns and puts a copy of this program there.
func openDirectory(t *testing.T) (dir, binary string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hostile-") //nolint:usetesting // the parents of TempDir are closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary = filepath.Join(dir, "program")
	from, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer from.Close()
	to, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, errors.Join(err, to.Close()))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, nobody, nobody))
	}
	return dir, binary
}

func runHostileChild() bool {
	if len(os.Args) != 4 || os.Args[1] != "hostile-child" {
		return false
	}
	if os.Geteuid() == 0 {
		fmt.Println("still root")
		os.Exit(4)
	}
	h := &hostile{data: os.Args[3], base: filepath.Join(os.Args[3], instance.DirName)}
	cases := map[string]func() error{
		"chmod": h.chmod, "unreadable-at-start": h.unreadable, "rename": h.rename,
		"replaced-by-link": h.replaced, "root-replaced-by-link": h.rootReplaced,
	}
	if err := cases[os.Args[2]](); err != nil {
		fmt.Println(err)
		os.Exit(5)
	}
	fmt.Println("unprivileged and ok")
	return true
}

type hostile struct{ data, base string }

// recorder is an instance with a store that can be asked to rotate segments.
type recorder struct {
	in      *instance.Instance
	store   *storage.Store
	clock   *coretest.Clock
	session id.Session
	target  id.Target
	ordinal uint64
	frames  []record.Frame
}

func (h *hostile) record() (*recorder, error) {
	in, err := instance.Create(h.data, quietLogger())
	if err != nil {
		return nil, err
	}
	r := &recorder{in: in, clock: coretest.NewClock(startWall), session: id.New[id.Session](), target: id.New[id.Target]()}
	r.store, _, err = storage.Open(in.Root(), storage.Options{Clock: r.clock, Logger: quietLogger(), BudgetBytes: 40 * mib, Peers: in})
	return r, err
}

func (h *hostile) recordTwice() (a, b *recorder, err error) {
	if a, err = h.record(); err == nil {
		b, err = h.record()
	}
	return a, b, err
}

// works appends frames in several segments, publishes an artifact and reads everything back.
func (r *recorder) works() error {
	ctx := context.Background()
	for range 4 {
		r.clock.Advance(time.Minute)
		r.ordinal++
		f, err := r.store.AppendFrame(ctx, record.Frame{ID: id.New[id.Frame](), SessionID: r.session, TargetID: r.target, Ordinal: r.ordinal}, payload(mib/4))
		if err != nil {
			return fmt.Errorf("append: %w (%w)", err, errors.Unwrap(err))
		}
		r.frames = append(r.frames, f)
	}
	a := record.Artifact{SessionID: r.session, CacheKey: fmt.Sprint(r.ordinal), Sources: []id.Frame{r.frames[len(r.frames)-1].ID}}
	if _, _, err := r.store.PublishArtifact(ctx, a, strings.NewReader("x"), nil); err != nil {
		return fmt.Errorf("publish: %w (%w)", err, errors.Unwrap(err))
	}
	if err := r.store.Barrier(ctx); err != nil {
		return err
	}
	for _, f := range r.frames {
		if _, err := r.store.Pixels(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) counts(live int, source instance.Source) error {
	if got := r.in.Live(); got.Live != live || got.Source != source {
		return fmt.Errorf("counted %+v, want %d %s", got, live, source)
	}
	return nil
}

func (r *recorder) close() error {
	return errors.Join(r.store.Close(context.Background()), r.in.Close())
}

// chmod takes all permissions of the directory away: counting and recording go on through what is open.
func (h *hostile) chmod() error {
	a, b, err := h.recordTwice()
	if err != nil {
		return err
	}
	if err := errors.Join(a.works(), os.Chmod(h.base, 0)); err != nil {
		return err
	}
	_, refused := h.record()
	if fault.CodeOf(refused) != fault.PersistenceFailed {
		return fmt.Errorf("a newcomer got in: %w", refused)
	}
	if err := errors.Join(a.counts(2, instance.Proved), b.counts(2, instance.Proved), a.works(), b.works(), b.close()); err != nil {
		return err
	}
	// Whether the peer is gone cannot be seen now, so it still counts.
	return errors.Join(a.counts(2, instance.Proved), a.works(), os.Chmod(h.base, 0o700), a.counts(1, instance.Proved), a.close())
}

// unreadable starts when the directory cannot be listed: four instances are assumed.
func (h *hostile) unreadable() error {
	if err := errors.Join(os.MkdirAll(h.base, 0o700), os.Chmod(h.base, 0o300)); err != nil {
		return err
	}
	a, err := h.record()
	if err != nil {
		return err
	}
	status, err := a.store.Retention(context.Background())
	if err != nil || status.ShareBytes != 10*mib || status.CountSource != "assumed" {
		return fmt.Errorf("%+v %w", status, err)
	}
	return errors.Join(a.counts(instance.AssumedPeers, instance.Assumed), a.works(), os.Chmod(h.base, 0o700), a.close())
}

// rename moves the directory away; newcomers make another one and do not matter to the old ones.
func (h *hostile) rename() error {
	a, err := h.record()
	if err != nil {
		return err
	}
	if err := os.Rename(h.base, h.base+"-moved"); err != nil {
		return err
	}
	b, err := h.record()
	if err != nil {
		return err
	}
	return errors.Join(a.counts(1, instance.Proved), a.works(), b.counts(1, instance.Proved), b.works(), a.close(), b.close())
}

// replaced puts a link to somebody else's directory in the place of the directory.
func (h *hostile) replaced() error {
	a, err := h.record()
	if err != nil {
		return err
	}
	trap := filepath.Join(h.data, "trap", "00000000-0000-4000-8000-000000000000")
	if err := errors.Join(os.MkdirAll(trap, 0o700), os.WriteFile(filepath.Join(trap, "lock"), nil, 0o600)); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(h.base, h.base+"-moved"), os.Symlink(filepath.Dir(trap), h.base)); err != nil {
		return err
	}
	if err := errors.Join(a.counts(1, instance.Proved), a.works()); err != nil {
		return err
	}
	a.in.Reap(context.Background())
	if _, err := os.Stat(filepath.Join(trap, "lock")); err != nil {
		return fmt.Errorf("the other directory was touched: %w", err)
	}
	return a.close()
}

// rootReplaced puts a link in the place of an abandoned root.
func (h *hostile) rootReplaced() error {
	a, b, err := h.recordTwice()
	if err != nil {
		return err
	}
	precious := filepath.Join(h.data, "precious")
	if err := errors.Join(b.close(), os.Rename(b.in.Root(), precious), os.Symlink(precious, b.in.Root())); err != nil {
		return err
	}
	if err := a.counts(2, instance.Proved); err != nil {
		return err
	}
	if n := a.in.Reap(context.Background()); n != 0 {
		return fmt.Errorf("reaped %d", n)
	}
	if _, err := os.Stat(filepath.Join(precious, "index.db")); err != nil {
		return fmt.Errorf("the other directory was touched: %w", err)
	}
	return errors.Join(a.works(), a.close())
}

//go:build unix

package storage_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/instance"
)

// member is one process's part: a held root and the store in it.
type member struct {
	*bench
	in *instance.Instance
}

func join(t testing.TB, dir string, budget int64) *member {
	t.Helper()
	in, err := instance.Create(dir, quietLogger())
	require.NoError(t, err)
	b := &bench{t: t, root: in.Root(), clock: coretest.NewClock(startWall), session: id.New[id.Session](), target: id.New[id.Target]()}
	b.options = storage.Options{Clock: b.clock, Logger: quietLogger(), BudgetBytes: budget, Peers: in}
	b.open()
	m := &member{bench: b, in: in}
	t.Cleanup(m.leave)
	b.begin(b.session, b.target)
	return m
}

func (m *member) leave() {
	_ = m.store.Close(context.WithoutCancel(m.t.Context()))
	_ = m.in.Close()
}

// write appends one frame and checks the root against the share of n instances. While another member takes an abandoned
// root away, that still counts.
func (m *member) write(n int, budget int64) {
	m.t.Helper()
	m.clock.Advance(time.Second)
	m.append(time.Duration(m.ordinal)*time.Second, mib/4)
	m.barrier()
	require.Eventually(m.t, func() bool { return m.status().LiveInstances == n }, patience, time.Millisecond)
	require.LessOrEqual(m.t, diskBytes(m.t, m.root), budget/int64(n))
}

func TestEachWriteObeysItsShare(t *testing.T) {
	for _, most := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			const budget = 40 * mib
			dir := memoryDir(t)
			var members []*member
			for len(members) < most {
				members = append(members, join(t, dir, budget))
				// The earlier ones hold more than their share now. Their next operation brings them below it, and
				// once each has made one the sum is within the total.
				for range 40 / most {
					for _, m := range members {
						m.write(len(members), budget)
					}
					require.LessOrEqual(t, diskBytes(t, dir), int64(budget))
				}
			}
			// One more joins, and is killed.
			kill, root := startMember(t, dir)
			for _, m := range members {
				m.write(most+1, budget)
			}
			require.LessOrEqual(t, diskBytes(t, dir), int64(budget))
			kill()
			for _, m := range members {
				m.write(most, budget)
			}
			requireGone(t, root)
			members[0].leave()
			for _, m := range members[1:] {
				m.write(most-1, budget)
			}
			requireGone(t, members[0].root)
			for range 250 / most { // room to grow again
				for _, m := range members[1:] {
					m.write(most-1, budget)
				}
			}
			for _, m := range members[1:] {
				require.Greater(t, diskBytes(t, m.root), int64(budget/(most-1))/2)
				m.requireAccounting()
			}
		})
	}
}

// A killed process stops counting at once, its peers' bytes are untouched, and a later start removes its root.
func TestAKilledInstanceLeavesTheCount(t *testing.T) {
	dir := memoryDir(t)
	m := join(t, dir, 40*mib)
	f := m.append(0, mib)
	kill, root := startMember(t, dir)
	require.Equal(t, 2, m.status().LiveInstances)
	require.DirExists(t, root)
	kill()
	require.Eventually(t, func() bool { return m.status().LiveInstances == 1 }, patience, time.Millisecond)
	requireGone(t, root)
	entries, err := os.ReadDir(filepath.Join(dir, instance.DirName))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	m.barrier()
	m.requireReadable(f)
	m.append(time.Second, mib)
	m.requireAccounting()
}

// requireGone waits until an abandoned root is removed, which the operation that noticed it set going.
func requireGone(t *testing.T, root string) {
	t.Helper()
	require.Eventually(t, func() bool {
		hidden, err := filepath.Glob(filepath.Join(filepath.Dir(root), ".dead-"+filepath.Base(root)))
		_, missing := os.Stat(root)
		return err == nil && len(hidden) == 0 && os.IsNotExist(missing)
	}, patience, time.Millisecond)
}

// startMember runs a process that joins and records, and returns its root and how to kill it.
func startMember(t *testing.T, dir string) (kill func(), root string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "member-child", dir)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return func() {
		require.NoError(t, command.Process.Kill())
		_ = command.Wait()
	}, strings.TrimSuffix(line, "\n")
}

// runMemberChild joins the instances of a directory, records, and waits to be killed.
func runMemberChild() bool {
	if len(os.Args) != 3 || os.Args[1] != "member-child" {
		return false
	}
	in, err := instance.Create(os.Args[2], quietLogger())
	if err != nil {
		panic(err)
	}
	store, _, err := storage.Open(in.Root(), storage.Options{Clock: coretest.NewClock(startWall), Logger: quietLogger(), BudgetBytes: 40 * mib, Peers: in})
	if err != nil {
		panic(err)
	}
	f := record.Frame{ID: id.New[id.Frame](), SessionID: id.New[id.Session](), TargetID: id.New[id.Target](), Ordinal: 1}
	if _, err := store.AppendFrame(context.Background(), f, payload(mib)); err != nil {
		panic(err)
	}
	fmt.Println(in.Root())
	select {}
}

//go:build unix

package storage_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
)

// runChild works on root until the step and returns what was acknowledged. killed is false when the child came
// to its end first.
func runChild(t *testing.T, root string, seed uint64, step int) (acks []acknowledged, killed bool) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "crash-child", root, strconv.FormatUint(seed, 10), strconv.Itoa(step))
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
		killed = ok && status.Signaled() && status.Signal() == syscall.SIGKILL
		require.True(t, killed, "seed %d step %d: %v\n%s", seed, step, err, problems.String())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var a acknowledged
		if decoder.Decode(&a) != nil { // the end, or the line at which it was killed
			return acks, killed
		}
		acks = append(acks, a)
	}
}

// After a kill at any step, and another one while the next process repairs or goes on, everything acknowledged is
// there, evicted with a gap, or deleted on request, and nothing else is on the disk.
func TestKilledAtRandomSteps(t *testing.T) {
	const rounds = 30
	seed := 1 + rand.Uint64N(1000)
	t.Logf("first seed %d", seed)
	whole, killed := runChild(t, memoryDir(t), seed, 0)
	require.False(t, killed)
	steps := whole[len(whole)-1].Steps
	require.Greater(t, steps, 500)
	kills := 0
	for round := range uint64(rounds) {
		root := memoryDir(t)
		var acks []acknowledged
		for turn, step := range []int{1 + rand.IntN(steps), 1 + rand.IntN(40)} {
			more, killed := runChild(t, root, seed+2*round+uint64(turn), step)
			acks = append(acks, more...)
			if killed {
				kills++
			}
		}
		verifyAfterCrash(t, root, acks)
		if t.Failed() {
			t.Fatalf("round %d with seed %d", round, seed)
		}
	}
	require.GreaterOrEqual(t, kills, 50)
}

var everyStep = flag.Bool("every-step", false, "kill at each step of the tour instead of a sample of them")

// The same for the steps of a fixed tour of everything that has steps. The sample is random, so that every run
// adds to what is known; -every-step takes some minutes.
func TestKilledAtEveryStep(t *testing.T) {
	whole, killed := runChild(t, memoryDir(t), 0, 0)
	require.False(t, killed)
	steps := whole[len(whole)-1].Steps
	t.Logf("%d steps", steps)
	for i, step := range rand.Perm(steps + 1) {
		if i == 25 && !*everyStep {
			break
		}
		root := memoryDir(t)
		acks, _ := runChild(t, root, 0, step)
		t.Run(strconv.Itoa(step), func(t *testing.T) { verifyAfterCrash(t, root, acks) })
		require.NoError(t, os.RemoveAll(root))
	}
}

// memoryDir is a directory in memory where there is one: a killed process leaves the same there as on a disk, and
// nothing waits for a device.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "storage-crash-") //nolint:usetesting // not where TempDir puts it
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func reopenAfterCrash(t *testing.T, root string) (*storage.Store, storage.RecoveryReport) {
	t.Helper()
	store, report, err := storage.Open(root, storage.Options{
		Clock: coretest.NewClock(startWall), Logger: quietLogger(),
		BudgetBytes: storage.MinBudget,
	})
	require.NoError(t, err)
	return store, report
}

func verifyAfterCrash(t *testing.T, root string, acks []acknowledged) {
	t.Helper()
	store, report := reopenAfterCrash(t, root)
	require.False(t, report.Cleared)
	require.Zero(t, report.LostFrames+report.LostSegments+report.LostArtifacts, "a killed process loses nothing: %+v", report)
	deleted := verifyDeletions(t, store, acks)
	for _, a := range acks {
		switch {
		case deleted[a.Frame.SessionID]:
			_, err := store.Frame(t.Context(), a.Frame.ID)
			require.Error(t, err, "a deleted frame came back")
		case a.What == "frame":
			verifyFrame(t, store, a)
		case a.What == "pinned":
			_, err := store.Frame(t.Context(), a.Frame.ID)
			require.NoError(t, err, "a pinned frame is never evicted")
		case a.What == "artifact":
			_, err := store.ReadArtifact(t.Context(), a.ID)
			if err != nil {
				require.Equal(t, fault.EvidenceInvalidated, fault.CodeOf(err))
			}
		}
	}
	verifyDisk(t, store, root)
	require.NoError(t, store.Close(t.Context()))
	store, report = reopenAfterCrash(t, root)
	require.True(t, report.Empty(), "%+v", report)
	require.NoError(t, store.Close(t.Context()))
}

// verifyDeletions checks that a deletion happened completely or, when it was not acknowledged, perhaps not at all,
// and returns the sessions that are gone.
func verifyDeletions(t *testing.T, store *storage.Store, acks []acknowledged) map[id.Session]bool {
	t.Helper()
	gone := map[id.Session]bool{}
	for _, a := range acks {
		if a.What != "deleting" && a.What != "deleted" {
			continue
		}
		_, err := store.Session(t.Context(), a.Session)
		if gone[a.Session] = err != nil; err == nil {
			require.Equal(t, "deleting", a.What, "a deleted session came back")
			targets, err := store.Targets(t.Context(), a.Session)
			require.NoError(t, err)
			require.Len(t, targets, 2, "a session came back without its targets")
		}
	}
	return gone
}

func verifyFrame(t *testing.T, store *storage.Store, a acknowledged) {
	t.Helper()
	f, err := store.Frame(t.Context(), a.Frame.ID)
	covered := coveredByGap(t, store, a.Frame)
	require.Equal(t, err != nil, covered, "frame %d of %s: readable or covered by a gap, and never both: %v", a.Frame.Ordinal, a.Frame.TargetID, err)
	if err == nil {
		pixels, err := store.Pixels(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, a.Digest, fmt.Sprintf("%x", sha256.Sum256(pixels)))
		return
	}
	require.Equal(t, fault.RangeNotRetained, fault.CodeOf(err))
}

func coveredByGap(t *testing.T, store *storage.Store, f record.Frame) bool {
	t.Helper()
	facts, err := store.Within(t.Context(), record.Window{SessionID: f.SessionID, TargetID: f.TargetID, EndNS: clock.SessionTime(math.MaxInt64)})
	require.NoError(t, err)
	for _, g := range facts.Gaps {
		if g.Reason == record.GapEvicted && g.FirstOrdinal <= f.Ordinal && f.Ordinal <= g.LastOrdinal {
			return true
		}
	}
	return false
}

// verifyDisk checks that every byte on the disk is accounted for and belongs to a session.
func verifyDisk(t *testing.T, store *storage.Store, root string) {
	t.Helper()
	require.NoError(t, store.Barrier(t.Context()))
	status, err := store.Retention(t.Context())
	require.NoError(t, err)
	require.Equal(t, diskBytes(t, root), status.UsedBytes)
	usage, err := store.Usage(t.Context())
	require.NoError(t, err)
	var referenced int64
	for _, u := range usage {
		referenced += u.Bytes
	}
	require.Equal(t, diskBytes(t, filepath.Join(root, "segments"))+diskBytes(t, filepath.Join(root, "artifacts")), referenced,
		"files and rows name the same bytes")
}

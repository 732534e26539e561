package storage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
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
	seed := rand.Uint64N(1000)
	t.Logf("first seed %d", seed)
	whole, killed := runChild(t, t.TempDir(), seed, 0)
	require.False(t, killed)
	steps := whole[len(whole)-1].Steps
	require.Greater(t, steps, 500)
	kills := 0
	for round := range uint64(rounds) {
		root := t.TempDir()
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

func reopenAfterCrash(t *testing.T, root string) (*storage.Store, storage.RecoveryReport) {
	t.Helper()
	store, report, err := storage.Open(root, storage.Options{Clock: coretest.NewClock(startWall), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		BudgetBytes: storage.MinBudget})
	require.NoError(t, err)
	return store, report
}

func verifyAfterCrash(t *testing.T, root string, acks []acknowledged) {
	t.Helper()
	store, report := reopenAfterCrash(t, root)
	require.False(t, report.Cleared)
	require.Zero(t, report.LostFrames+report.LostSegments+report.LostArtifacts, "a killed process loses nothing: %+v", report)
	deleted := map[id.Session]bool{}
	for _, a := range acks {
		if a.What == "deleting" {
			deleted[a.Session] = true
		}
	}
	for _, a := range acks {
		switch {
		case deleted[a.Frame.SessionID]:
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
	require.NoError(t, store.Close(context.Background()))
	store, report = reopenAfterCrash(t, root)
	require.True(t, report.Empty(), "%+v", report)
	require.NoError(t, store.Close(context.Background()))
}

func verifyFrame(t *testing.T, store *storage.Store, a acknowledged) {
	t.Helper()
	f, err := store.Frame(t.Context(), a.Frame.ID)
	if err == nil {
		pixels, err := store.Pixels(t.Context(), f)
		require.NoError(t, err)
		require.Equal(t, a.Digest, fmt.Sprintf("%x", sha256.Sum256(pixels)))
		return
	}
	require.Equal(t, fault.RangeNotRetained, fault.CodeOf(err))
	facts, err := store.Within(t.Context(), record.Window{SessionID: a.Frame.SessionID, TargetID: a.Frame.TargetID, EndNS: clock.SessionTime(math.MaxInt64)})
	require.NoError(t, err)
	for _, g := range facts.Gaps {
		if g.Reason == record.GapEvicted && g.FirstOrdinal <= a.Frame.Ordinal && a.Frame.Ordinal <= g.LastOrdinal {
			return
		}
	}
	t.Errorf("frame %d of %s is neither readable nor covered by a gap", a.Frame.Ordinal, a.Frame.TargetID)
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

package index

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *Index {
	t.Helper()
	clock := coretest.NewClock(time.Unix(1_700_000_000, 0))
	x, err := Open(t.TempDir(), Options{
		Clock: clock, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Failed: func(err error) { t.Errorf("the writer failed: %v", err) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func sample(at int) Row {
	row, err := NewFactRow(record.ClockSample{SessionID: "s", AtNS: 1, WallNS: int64(at)}, 0)
	if err != nil {
		panic(err)
	}
	return row
}

// badRow cannot be written, through no fault of the database.
type badRow struct{}

var errBad = errors.New("bad row")

func (badRow) apply(*Tx) error { return errBad }

func TestABadRowDoesNotTakeItsBatchWithIt(t *testing.T) {
	x := open(t)
	event := func(n uint64) Row {
		return EventRow{Event: record.Event{SessionID: "s", Source: "x", Sequence: n, AtNS: 1, Payload: []byte("{}")}}
	}
	require.NoError(t, x.Enqueue(t.Context(), event(1), badRow{}, event(2)))
	require.NoError(t, x.Barrier(t.Context()))
	events, total, err := x.Events(t.Context(), record.EventQuery{Window: record.Window{SessionID: "s", EndNS: 10}})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.EqualValues(t, 2, events[1].Sequence)
}

func TestAFailedChangeIsRolledBackAndReported(t *testing.T) {
	x := open(t)
	err := x.Do(t.Context(), func(tx *Tx) error {
		if err := tx.Apply(sample(1)); err != nil {
			return err
		}
		return errBad
	})
	require.ErrorIs(t, err, errBad)
	samples, err := x.ClockSamples(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, samples)
	require.NoError(t, x.Failure())
}

func TestCloseCommitsWhatWasAccepted(t *testing.T) {
	dir := t.TempDir()
	o := Options{Clock: coretest.NewClock(time.Unix(1, 0)), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	x, err := Open(dir, o)
	require.NoError(t, err)
	require.NoError(t, x.Enqueue(t.Context(), sample(7)))
	require.NoError(t, x.Close())
	require.ErrorIs(t, x.Enqueue(t.Context(), sample(8)), ErrClosed)
	require.ErrorIs(t, x.Barrier(t.Context()), ErrClosed)
	x, err = Open(dir, o)
	require.NoError(t, err)
	defer x.Close()
	samples, err := x.ClockSamples(t.Context(), "s")
	require.NoError(t, err)
	require.EqualValues(t, 7, samples[0].WallNS)
}

// The queue is bounded: beyond it a caller waits, and gives up when its context ends.
func TestAFullQueueMakesCallersWait(t *testing.T) {
	x := open(t)
	entered, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- x.Do(t.Context(), func(*Tx) error { close(entered); <-release; return nil })
	}()
	<-entered
	for i := range queueLength {
		require.NoError(t, x.Enqueue(t.Context(), sample(i)))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, x.Enqueue(gone, sample(99)), context.Canceled)
	close(release)
	require.NoError(t, <-done)
	require.NoError(t, x.Barrier(t.Context()))
	samples, err := x.ClockSamples(t.Context(), "s")
	require.NoError(t, err)
	require.EqualValues(t, queueLength-1, samples[0].WallNS)
}

func TestIdentifiersKeepAllTheirBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := id.New[id.Frame]()
		require.Equal(t, string(f), unpackID(f.Prefix(), packID(string(f))))
	})
}

package sequence_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/sequence"
)

const (
	session = id.Session("ses_000000000001")
	page    = id.Target("tgt_000000000001")
)

func at(ms float64) clock.SessionTime { return clock.SessionTime(ms * 1e6) }

func frame(ordinal, width int, presented, received float64) record.Frame {
	return record.Frame{
		ID: id.Frame(fmt.Sprintf("frm_%012d", ordinal)), SessionID: session, TargetID: page, Ordinal: uint64(ordinal),
		PresentedNS: new(at(presented)), ReceivedNS: at(received), Width: width, Height: 10,
	}
}

func read(t *testing.T, store *coretest.Store, start, end float64) sequence.Sequence {
	t.Helper()
	s, err := sequence.NewReader(store, store).Read(t.Context(), evidence.ResolvedRange{
		SessionID: session, TargetID: page, StartNS: at(start), EndNS: at(end),
	})
	require.NoError(t, err)
	return s
}

// A page left alone sends no frames: the last one before the range is what it looked like.
func TestAQuietPageHasItsBaseline(t *testing.T) {
	store := coretest.NewStore()
	store.AddFrame(frame(1, 20, 100, 150), nil)
	store.AddFrame(frame(2, 20, 10_100, 10_150), nil)
	s := read(t, store, 10_000, 10_500)
	require.NotNil(t, s.CarryIn)
	assert.Equal(t, id.Frame("frm_000000000001"), s.CarryIn.ID)
	require.Len(t, s.Frames, 1)
	assert.Equal(t, s.CarryIn.ID, s.Quality().CarryIn)
}

func TestNoBaselineAcrossAGapOrANewGeometry(t *testing.T) {
	gap := record.Gap{ID: "gap_000000000001", SessionID: session, TargetID: page, Stream: record.StreamFrames, Reason: record.GapHidden}
	for name, arrange := range map[string]func(*coretest.Store){
		"gap before the range": func(s *coretest.Store) {
			gap.StartNS, gap.EndNS = at(200), new(at(900))
			require.NoError(t, s.Put(t.Context(), gap))
			s.AddFrame(frame(2, 20, 1100, 1150), nil)
		},
		"gap before the first frame": func(s *coretest.Store) {
			gap.StartNS, gap.EndNS = at(1010), new(at(1050))
			require.NoError(t, s.Put(t.Context(), gap))
			s.AddFrame(frame(2, 20, 1100, 1150), nil)
		},
		"lasting gap": func(s *coretest.Store) {
			gap.StartNS, gap.EndNS = at(200), nil
			require.NoError(t, s.Put(t.Context(), gap))
		},
		"other size": func(s *coretest.Store) { s.AddFrame(frame(2, 30, 1100, 1150), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			store := coretest.NewStore()
			store.AddFrame(frame(1, 20, 100, 150), nil)
			arrange(store)
			assert.Nil(t, read(t, store, 1000, 1500).CarryIn)
		})
	}
	t.Run("a gap that the frame itself ended does not separate", func(t *testing.T) {
		store := coretest.NewStore()
		gap.StartNS, gap.EndNS = at(20), new(at(100))
		require.NoError(t, store.Put(t.Context(), gap))
		store.AddFrame(frame(1, 20, 100, 150), nil)
		assert.NotNil(t, read(t, store, 1000, 1500).CarryIn)
	})
}

// Receipt lags the pixels: a frame presented before the click but delivered after it counts as before.
func TestPresentedTimeDecidesMembership(t *testing.T) {
	store := coretest.NewStore()
	store.AddFrame(frame(1, 20, 990, 1400), nil)
	store.AddFrame(frame(2, 20, 1100, 1700), nil)
	s := read(t, store, 1000, 1500)
	require.Len(t, s.Frames, 1)
	assert.Equal(t, id.Frame("frm_000000000002"), s.Frames[0].ID)
	assert.Equal(t, id.Frame("frm_000000000001"), s.CarryIn.ID)
}

func TestEpochsAndQuality(t *testing.T) {
	store := coretest.NewStore()
	for i, w := range []int{20, 20, 30, 30, 20} {
		f := frame(i+1, w, float64(1000+i*100), float64(1050+i*110))
		f.Warnings = []string{record.WarnViewportPending}
		store.AddFrame(f, nil)
	}
	require.NoError(t, store.Put(t.Context(), record.Gap{
		ID: "gap_000000000001", SessionID: session, TargetID: page, Stream: record.StreamFrames, Reason: record.GapHidden, StartNS: at(1450),
	}))
	s := read(t, store, 1000, 1500)
	require.Len(t, s.Epochs, 3)
	assert.Equal(t, 0, s.EpochAt(at(1150)))
	assert.Equal(t, 1, s.EpochAt(at(1200)))
	assert.Equal(t, 2, s.EpochAt(at(9000)))
	assert.Equal(t, 0, s.EpochAt(at(0)))
	q := s.Quality()
	assert.Equal(t, 5, q.Frames)
	assert.Equal(t, &evidence.Distribution{P50: 100, P95: 100, Max: 100}, q.Cadence)
	assert.Equal(t, &evidence.Distribution{P50: 70, P95: 90, Max: 90}, q.Lag)
	assert.InDelta(t, 50, q.HiddenMS, 0.001)
	assert.Equal(t, "hidden", q.CaptureState)
	assert.Equal(t, map[string]int{record.WarnViewportPending: 5}, q.Warnings)
}

// On a busy machine Chrome delivers frames in another order than it showed them.
func TestFramesAreInTheOrderInWhichTheyWereShown(t *testing.T) {
	store := coretest.NewStore()
	store.AddFrame(frame(1, 20, 1000, 1100), nil)
	store.AddFrame(frame(2, 20, 1200, 1300), nil)
	store.AddFrame(frame(3, 20, 1100, 1350), nil)
	store.AddFrame(frame(4, 20, 1200, 1360), nil)
	s := read(t, store, 900, 1500)
	var ordinals []uint64
	for _, f := range s.Frames {
		ordinals = append(ordinals, f.Ordinal)
	}
	assert.Equal(t, []uint64{1, 3, 2, 4}, ordinals)
}

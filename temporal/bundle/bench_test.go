package bundle_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/coretest"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/temporal/artifact"
	"github.com/krometrail/krometrail/temporal/bundle"
	"github.com/krometrail/krometrail/temporal/eventquery"
	"github.com/krometrail/krometrail/temporal/resolve"
	"github.com/krometrail/krometrail/temporal/sequence"
	"github.com/krometrail/krometrail/visual/visualtest"
)

// recording is the store of a page whose generated frames repeat until length is full, 33 ms apart.
func recording(b *testing.B, generated *visualtest.Sequence, length time.Duration) *coretest.Store {
	b.Helper()
	store := coretest.NewStore()
	end := clock.SessionTime(length) + shown
	require.NoError(b, store.Put(b.Context(), record.Session{ID: session, LastSelected: page, EndedNS: &end}, record.Target{ID: page, SessionID: session}))
	for i := 0; time.Duration(i)*33*time.Millisecond < length; i++ {
		f := generated.Frames[i%len(generated.Frames)]
		at := shown + clock.SessionTime(time.Duration(i)*33*time.Millisecond)
		store.AddFrame(record.Frame{
			ID: id.Frame(fmt.Sprintf("frm_%012d", i)), SessionID: session, TargetID: page, Ordinal: uint64(i + 1), PresentedNS: &at, ReceivedNS: at,
			Format: "jpeg", Width: generated.Width, Height: generated.Height, Bytes: int64(len(f.JPEG)),
		}, f.JPEG)
	}
	return store
}

func services(store *coretest.Store) *bundle.Service {
	r := resolve.New(store, store, store, ended{})
	a := artifact.New(store, store, store, ended{}, clock.System(), slog.New(slog.DiscardHandler))
	return bundle.New(r, sequence.NewReader(store, store), store, a, eventquery.New(store, store, r), clock.System())
}

func ask(b *testing.B, s *bundle.Service) {
	b.Helper()
	last, without := 120_000, false
	out, err := s.Bundle(b.Context(), &evidence.BundleRequest{Anchor: evidence.Anchor{LastMS: &last}, Orientation: &without})
	require.NoError(b, err)
	require.Equal(b, capability.AnswerStatus(""), out.Status)
}

// BenchmarkBundle is a whole bundle, storyboard and map, of two seconds: made, and asked again of the same and of a
// new process that finds the pictures but not the analysis.
func BenchmarkBundle(b *testing.B) {
	for _, size := range []visualtest.Options{{Width: 1920, Height: 1080}, {Width: 1280, Height: 720}} {
		generated, err := visualtest.Generate(b.Context(), visualtest.Spec{Kind: visualtest.Flash, Duration: 2, Distractor: visualtest.None, Seed: 1}, size)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("uncached/%dp", size.Height), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := services(recording(b, generated, 2*time.Second))
				b.StartTimer()
				ask(b, s)
			}
			report(b)
		})
		b.Run(fmt.Sprintf("cached/%dp", size.Height), func(b *testing.B) {
			store := recording(b, generated, 2*time.Second)
			ask(b, services(store))
			for b.Loop() {
				ask(b, services(store))
			}
		})
	}
}

// BenchmarkRangeLength is the cost of an uncached bundle against the length of its range.
func BenchmarkRangeLength(b *testing.B) {
	generated, err := visualtest.Generate(b.Context(), visualtest.Spec{Kind: visualtest.Flash, Duration: 2, Distractor: visualtest.None, Seed: 1}, visualtest.Options{Width: 1280, Height: 720})
	require.NoError(b, err)
	for _, length := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 2 * time.Minute} {
		b.Run(length.String(), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := services(recording(b, generated, length))
				b.StartTimer()
				ask(b, s)
			}
			report(b)
		})
	}
}

func report(b *testing.B) {
	b.Helper()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MiB")
}

//go:build unix

package storage_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Everything at once on a store that evicts all the time: appends to four targets, publication, pins, reads, status.
func TestConcurrentSafe(t *testing.T) {
	b := newBench(t, budget(20*mib))
	ctx := t.Context()
	recording, stop := context.WithCancel(ctx)
	var writers, others sync.WaitGroup
	newest := make(chan record.Frame, 1)
	for range 4 {
		target := id.New[id.Target]()
		b.begin(b.session, target)
		writers.Go(func() {
			for n := range uint64(150) {
				b.clock.Advance(50 * time.Millisecond)
				f := record.Frame{
					ID: id.New[id.Frame](), SessionID: b.session, TargetID: target, Ordinal: n + 1,
					ReceivedNS: clock.SessionTime(n+1) * clock.SessionTime(time.Second),
				}
				f, err := b.store.AppendFrame(ctx, f, payload(mib/4))
				if err != nil {
					t.Errorf("append: %v", err)
					return
				}
				select {
				case newest <- f:
				default:
				}
			}
		})
	}
	each := func(do func(n int, f record.Frame) error) {
		others.Go(func() {
			for n := 0; ; n++ {
				select {
				case f := <-newest:
					if err := do(n, f); err != nil && !gone(err) {
						t.Errorf("%v", err)
						return
					}
				case <-recording.Done():
					return
				}
			}
		})
	}
	each(func(_ int, f record.Frame) error { _, err := b.store.Pixels(ctx, f); return err })
	each(func(n int, f record.Frame) error {
		a := record.Artifact{SessionID: f.SessionID, CacheKey: fmt.Sprint(n), Sources: []id.Frame{f.ID}}
		_, _, err := b.store.PublishArtifact(ctx, a, strings.NewReader("bytes"), []byte("{}"))
		return err
	})
	each(func(_ int, f record.Frame) error {
		w := record.Window{SessionID: f.SessionID, TargetID: f.TargetID, StartNS: f.Time(), EndNS: f.Time()}
		if _, err := b.store.Pin(ctx, w); err != nil {
			return err
		}
		_, err := b.store.Unpin(ctx, w)
		return err
	})
	each(func(_ int, f record.Frame) error {
		w := record.Window{SessionID: f.SessionID, TargetID: f.TargetID, EndNS: f.Time()}
		if _, _, err := b.store.Frames(ctx, w, 0, 10); err != nil {
			return err
		}
		if _, err := b.store.Usage(ctx); err != nil {
			return err
		}
		status, err := b.store.Retention(ctx)
		if status.UsedBytes > status.ShareBytes {
			return fmt.Errorf("%d bytes of %d", status.UsedBytes, status.ShareBytes)
		}
		return err
	})
	writers.Wait()
	stop()
	others.Wait()
	b.requireAccounting()
	require.NoError(t, end(b))
	require.True(t, b.reopen().Empty())
}

// gone says that evidence was evicted under the request's hands, which is no failure.
func gone(err error) bool {
	c := fault.CodeOf(err)
	return c == fault.EvidenceInvalidated || c == fault.RangeNotRetained || c == fault.RangeNotCaptured
}

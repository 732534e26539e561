//go:build unix

package storage_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/disk"
)

const frameSize = 100_000 // a typical screencast JPEG

// appendAt stores one frame with the fake clock moving as at 30 frames a second.
func (b *bench) appendAt(image []byte) record.Frame {
	b.clock.Advance(time.Second / 30)
	f, err := b.store.AppendFrame(b.t.Context(), b.frame(time.Duration(b.ordinal)*time.Second/30), image)
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

// BenchmarkAppend stores frames and, in turn, writes the same bytes one after the other to a plain file, once with
// the store's flushing every 4 MiB and once without any. The ratios are store throughput over plain throughput.
//
// The flushed one is the fair one: both leave the same bytes on the device at the same distances. The other compares
// decoding, two checksums, a row of the index and durable bytes with a copy into memory that a power failure loses.
func BenchmarkAppend(b *testing.B) {
	s := newBench(b, budget(8<<30))
	synced, cached := plainFile(b), plainFile(b)
	base64Text, image := payload(frameSize), picture(16, 9, frameSize)
	var store, plain, unsynced time.Duration
	blocks := 0
	for b.Loop() {
		blocks++
		store += timed(func() {
			for range 160 {
				s.appendAt(base64Text)
			}
		})
		plain += timed(func() { synced.write(b, image, 160, 4<<20) })
		unsynced += timed(func() { cached.write(b, image, 160, 0) })
	}
	bytes := float64(blocks * 160 * frameSize)
	b.ReportMetric(bytes/store.Seconds()/1e6, "store_MB/s")
	b.ReportMetric(bytes/plain.Seconds()/1e6, "plain_flushed_MB/s")
	b.ReportMetric(bytes/unsynced.Seconds()/1e6, "plain_cached_MB/s")
	b.ReportMetric(plain.Seconds()/store.Seconds(), "x_plain_flushed")
	b.ReportMetric(unsynced.Seconds()/store.Seconds(), "x_plain_cached")
	b.ReportMetric(0, "ns/op")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

type plain struct {
	disk.File
	end, flushed int64
}

func plainFile(b *testing.B) *plain {
	tree, err := disk.OpenDir(b.TempDir())
	require.NoError(b, err)
	f, err := tree.Create("plain")
	require.NoError(b, err)
	b.Cleanup(func() { _, _ = f.Close(), tree.Close() })
	return &plain{File: f}
}

func (p *plain) write(b *testing.B, image []byte, n int, flush int64) {
	for range n {
		if _, err := p.WriteAt(image, p.end); err != nil {
			b.Fatal(err)
		}
		p.end += int64(len(image))
		if flush > 0 && p.end-p.flushed >= flush {
			p.flushed = p.end
			if err := p.Datasync(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAppendLatency is what one append costs its caller, flushing and rotation in the background included.
func BenchmarkAppendLatency(b *testing.B) {
	s := newBench(b, budget(8<<30))
	text := payload(frameSize)
	var all []time.Duration
	for b.Loop() {
		all = append(all, timed(func() { s.appendAt(text) }))
	}
	reportQuantiles(b, "append", all)
}

// BenchmarkAppendWhileEvicting is the same once the share is full: every 64 MiB the oldest segment goes.
func BenchmarkAppendWhileEvicting(b *testing.B) {
	s := newBench(b, budget(1<<30))
	text := payload(frameSize)
	for s.status().UsedBytes < 800<<20 {
		s.appendAt(text)
	}
	var all []time.Duration
	for b.Loop() {
		all = append(all, timed(func() { s.appendAt(text) }))
	}
	reportQuantiles(b, "append", all)
}

func reportQuantiles(b *testing.B, name string, all []time.Duration) {
	slices.Sort(all)
	for _, q := range []int{50, 95, 99} {
		b.ReportMetric(float64(all[len(all)*q/100].Microseconds()), fmt.Sprintf("%s_p%d_us", name, q))
	}
	b.ReportMetric(float64(all[len(all)-1].Microseconds()), name+"_max_us")
}

// BenchmarkMillionFrames appends a million small frames and shows the cost of one in the first and in the last
// hundred thousand, as time and as work of the processor, and what a range read costs at both ends. Other work on the
// machine changes the first, hardly the second.
func BenchmarkMillionFrames(b *testing.B) {
	const part = 100_000
	for b.Loop() {
		s := newBench(b, budget(8<<30))
		text := payload(600)
		var parts, work []time.Duration
		for range 10 {
			before := processorTime(b)
			parts = append(parts, timed(func() {
				for range part {
					s.appendAt(text)
				}
				s.barrier()
			}))
			work = append(work, processorTime(b)-before)
			if len(parts) == 1 {
				s.reportRangeRead("at_100k", part)
			}
		}
		s.reportRangeRead("at_1M", 10*part)
		b.ReportMetric(float64(parts[0].Nanoseconds())/part, "first_100k_ns/frame")
		b.ReportMetric(float64(parts[9].Nanoseconds())/part, "last_100k_ns/frame")
		b.ReportMetric(parts[9].Seconds()/parts[0].Seconds(), "last/first")
		b.ReportMetric(work[9].Seconds()/work[0].Seconds(), "last/first_cpu")
		info, err := os.Stat(filepath.Join(s.root, "index.db"))
		require.NoError(b, err)
		b.ReportMetric(float64(info.Size())/(10*part), "index_B/frame")
		require.NoError(b, s.store.Close(b.Context()))
	}
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// reportRangeRead measures the rows of 400 ms windows (12 frames) with their carry-in frame.
func (b *bench) reportRangeRead(name string, frames int) {
	var all []time.Duration
	for range 300 {
		from := time.Duration(rand.IntN(frames-20)) * time.Second / 30
		all = append(all, timed(func() {
			list, _, err := b.store.Frames(b.t.Context(), b.window(from, from+400*time.Millisecond), 0, 0)
			require.NoError(b.t, err)
			require.NotEmpty(b.t, list)
			_, _, err = b.store.CarryIn(b.t.Context(), b.session, b.target, clock.SessionTime(from))
			require.NoError(b.t, err)
		}))
	}
	reportQuantiles(b.t.(*testing.B), "range_"+name, all)
}

// BenchmarkRangeRead reads the rows, the carry-in frame and the pixels of a 400 ms window.
func BenchmarkRangeRead(b *testing.B) {
	s := newBench(b, budget(8<<30))
	const frames = 3000
	text := payload(frameSize)
	for range frames {
		s.appendAt(text)
	}
	s.barrier()
	var all []time.Duration
	for b.Loop() {
		from := time.Duration(rand.IntN(frames-20)) * time.Second / 30
		all = append(all, timed(func() {
			list, _, err := s.store.Frames(b.Context(), s.window(from, from+400*time.Millisecond), 0, 0)
			if err != nil {
				b.Fatal(err)
			}
			if before, ok, err := s.store.CarryIn(b.Context(), s.session, s.target, clock.SessionTime(from)); err != nil {
				b.Fatal(err)
			} else if ok {
				list = append(list, before)
			}
			for _, f := range list {
				if _, err := s.store.Pixels(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		}))
	}
	reportQuantiles(b, "read_12_frames", all)
}

// BenchmarkManySegments opens a root with many sealed segments and then lets them all expire at once.
func BenchmarkManySegments(b *testing.B) {
	const segments = 2000
	for b.Loop() {
		s := newBench(b, budget(8<<30), func(o *storage.Options) { o.MaxAge = 1000 * time.Hour })
		oldest := s.append(0, 2000)
		for range segments {
			for range 10 {
				s.appendAt(payload(2000))
			}
			s.clock.Advance(time.Minute)
		}
		require.NoError(b, s.store.EndSession(b.Context(), record.Session{ID: s.session, StartedAt: startWall, EndedAt: &startWall}))
		require.NoError(b, s.store.Close(b.Context()))
		b.ReportMetric(float64(timed(func() { require.True(b, s.open().Empty()) }).Microseconds())/1000, "open_2000_segments_ms")
		b.ReportMetric(float64(timed(func() {
			_, err := s.store.Frame(b.Context(), oldest.ID)
			require.NoError(b, err)
		}).Microseconds()), "find_oldest_frame_us")
		s.clock.Advance(2000 * time.Hour)
		s.session, s.target = id.New[id.Session](), id.New[id.Target]()
		b.ReportMetric(float64(timed(func() { s.appendAt(payload(2000)) }).Microseconds())/segments, "reclaim_us/segment")
		require.NoError(b, s.store.Close(b.Context()))
	}
}

// BenchmarkEvents stores batches of 50 events of 300 bytes and then pages through the newest.
func BenchmarkEvents(b *testing.B) {
	s := newBench(b, budget(8<<30))
	detail := []byte(fmt.Sprintf(`{"text":"%0280d"}`, 1))
	sequence := uint64(0)
	var stored, queries []time.Duration
	for b.Loop() {
		batch := make([]record.Event, 50)
		for i := range batch {
			sequence++
			batch[i] = record.Event{
				SessionID: s.session, TargetID: s.target, Source: "browser", Sequence: sequence,
				AtNS: clock.SessionTime(sequence) * clock.SessionTime(time.Millisecond), Class: record.ClassConsole, Severity: record.Info, Payload: detail,
			}
		}
		stored = append(stored, timed(func() {
			if err := s.store.AppendEvents(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}))
	}
	s.barrier()
	newest := time.Duration(sequence) * time.Millisecond
	for range 200 {
		queries = append(queries, timed(func() {
			q := record.EventQuery{Window: s.window(max(0, newest-400*time.Millisecond), newest), Limit: 100}
			if _, _, err := s.store.Events(b.Context(), q); err != nil {
				b.Fatal(err)
			}
		}))
	}
	b.ReportMetric(float64(sequence), "events")
	reportQuantiles(b, "store_50_events", stored)
	reportQuantiles(b, "query_400_ms", queries)
}

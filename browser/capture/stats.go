package capture

import (
	"slices"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

// recentFrames is how many frames the moving figures look back.
const recentFrames = 512

// cadenceWindow is the stretch over which the frame rate is observed.
const cadenceWindow = 10 * time.Second

// histogramMS are the upper bounds of the frame intervals in milliseconds; longer ones share the last bucket.
var histogramMS = [...]float64{10, 17, 25, 34, 50, 67, 100, 150, 200, 333, 500, 1000, 2000, 5000}

// stats are the figures of one stream. The stream's lock protects them.
type stats struct {
	received, persisted, dropped uint64
	// skewed counts frames whose swap time contradicted their receipt.
	skewed    uint64
	last      *clock.SessionTime
	histogram [len(histogramMS) + 1]uint64
	times     window
	lags      window
	acks      window
}

// window keeps the newest values in a ring.
type window struct {
	values [recentFrames]int64
	n      uint64
}

func (w *window) add(v int64) {
	w.values[w.n%recentFrames] = v
	w.n++
}

func (w *window) all() []int64 {
	return slices.Clone(w.values[:min(w.n, recentFrames)])
}

// percentile returns the value below which p of the recent ones lie, 0 when there are none.
func (w *window) percentile(p float64) int64 {
	sorted := w.all()
	if len(sorted) == 0 {
		return 0
	}
	slices.Sort(sorted)
	return sorted[int(p*float64(len(sorted)-1)+0.5)]
}

// arrived counts a frame at its own time.
func (s *stats) arrived(f record.Frame, ack time.Duration) {
	at := f.Time()
	s.received++
	if s.last != nil {
		s.interval(at.Sub(*s.last))
	}
	s.last = &at
	s.times.add(int64(f.ReceivedNS))
	s.acks.add(int64(ack))
	if f.PresentedNS != nil {
		s.lags.add(int64(f.ReceivedNS.Sub(at)))
	}
}

func (s *stats) interval(d time.Duration) {
	ms := float64(d) / float64(time.Millisecond)
	for i, bound := range histogramMS {
		if ms <= bound {
			s.histogram[i]++
			return
		}
	}
	s.histogram[len(histogramMS)]++
}

func (s *stats) rate(now clock.SessionTime) float64 {
	from := int64(now.Add(-cadenceWindow))
	count := 0
	oldest := int64(now)
	for _, t := range s.times.all() {
		if t >= from {
			count++
			oldest = min(oldest, t)
		}
	}
	if count < 2 {
		return float64(count) / cadenceWindow.Seconds()
	}
	// A ring that is full within the window covers less than the window.
	span := cadenceWindow
	if s.times.n > recentFrames && count == recentFrames {
		span = time.Duration(int64(now) - oldest)
	}
	// Two frames in the first moments of a session are no rate yet.
	span = max(min(span, now.Duration()), time.Second)
	return float64(count) / span.Seconds()
}

func (s *stats) fill(row *page.CaptureTarget, now clock.SessionTime) {
	row.Received, row.Persisted, row.Dropped, row.LastFrameNS = s.received, s.persisted, s.dropped, s.last
	row.FramesPerSecond = s.rate(now)
	row.LagP50MS = float64(s.lags.percentile(0.50)) / 1e6
	row.LagP95MS = float64(s.lags.percentile(0.95)) / 1e6
	row.AckP50US = float64(s.acks.percentile(0.50)) / 1e3
	row.AckP99US = float64(s.acks.percentile(0.99)) / 1e3
	for i, count := range s.histogram {
		bound := 0.0
		if i < len(histogramMS) {
			bound = histogramMS[i]
		}
		row.Histogram = append(row.Histogram, page.Bucket{UpToMS: bound, Count: count})
	}
}

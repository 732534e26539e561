package realtest

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkTemporalWhileRecording asks for bundles of a page that changes on every animation frame, with the real store
// and browser, while it goes on: uncached (two new seconds each time) and asked again. It reports how many gaps there
// were and the page's own frame rate, alone and while asked.
func BenchmarkTemporalWhileRecording(b *testing.B) {
	p := start(b)
	p.do(b, "open_page", args{"url": p.site.URL + "/busy.html"})
	rate := func() float64 {
		a := p.do(b, "evaluate", args{"expression": "document.querySelector('#rate').textContent"})
		m := regexp.MustCompile(`(\d+) frames/s`).FindStringSubmatch(a.Text)
		require.NotNil(b, m, a.Text)
		n, err := strconv.ParseFloat(m[1], 64)
		require.NoError(b, err)
		return n
	}
	p.do(b, "wait", args{"elapsed_ms": 4000})
	alone := rate()
	var uncached, cached time.Duration
	gaps, n := 0, 0
	for b.Loop() {
		n++
		p.do(b, "wait", args{"elapsed_ms": 300})
		began := time.Now()
		a := p.do(b, "temporal_debug_bundle", args{"last_ms": 2000, "orientation": false})
		uncached += time.Since(began)
		gaps += a.Envelope.Range.GapCount
		r := a.Envelope.Range
		again := args{"start_ns": r.StartNS, "end_ns": r.EndNS, "orientation": false}
		p.do(b, "temporal_debug_bundle", again)
		began = time.Now()
		p.do(b, "temporal_debug_bundle", again)
		cached += time.Since(began)
	}
	b.ReportMetric(float64(uncached.Milliseconds())/float64(n), "uncached-ms")
	b.ReportMetric(float64(cached.Milliseconds())/float64(n), "cached-ms")
	b.ReportMetric(float64(gaps), "gaps")
	b.ReportMetric(alone, "page-fps-alone")
	b.ReportMetric(rate(), "page-fps-asked")
}

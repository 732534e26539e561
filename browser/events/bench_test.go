package events_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/target"
)

// work is what a busy page does: it writes to the console, changes itself and fetches.
const work = `(async () => {
	const begin = performance.now();
	for (let round = 0; round < 20; round++) {
		for (let i = 0; i < 100; i++) {
			console.log('Rendered rows of table orders', i, {round, list: [1, 2, 3]});
			document.body.append(Object.assign(document.createElement('p'), {textContent: i}));
		}
		await Promise.all([1, 2, 3, 4].map(async n => (await fetch('/data?n=' + n)).text()));
		document.body.textContent = '';
	}
	return performance.now() - begin;
})()`

func timed(b *testing.B, p target.Page) float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*browsertest.Limit)
	defer cancel()
	// Chrome gives a page in the background less time.
	require.NoError(b, p.Session.Send(ctx, "Page.bringToFront", nil, nil))
	var out struct {
		Result struct {
			Value float64 `json:"value"`
		} `json:"result"`
	}
	require.NoError(b, p.Session.SendWithin(ctx, 4*browsertest.Limit, "Runtime.evaluate",
		map[string]any{"expression": work, "awaitPromise": true, "returnByValue": true}, &out))
	return out.Result.Value
}

// BenchmarkEventPageRatio compares the time a busy page needs with and without recording, taking turns so that the
// machine's other work falls on both.
func BenchmarkEventPageRatio(b *testing.B) {
	s := serve(b, map[string]http.HandlerFunc{"/": html(`<body></body>`), "/data": text("{}")})
	plain := browsertest.Start(b).Open(b, s.URL+"/")
	r := startRecording(b, nil)
	recorded := r.b.Open(b, s.URL+"/")
	timed(b, plain)
	timed(b, recorded)
	var without, with float64
	for b.Loop() {
		without += timed(b, plain)
		with += timed(b, recorded)
	}
	require.NoError(b, r.Barrier(context.Background()))
	require.Zero(b, r.Status().Dropped)
	b.ReportMetric(without/float64(b.N), "ms_without")
	b.ReportMetric(with/float64(b.N), "ms_with")
	b.ReportMetric(with/without, "ratio")
}

// BenchmarkEventStorm measures a page that writes 100,000 lines to its console, with every check of the test.
func BenchmarkEventStorm(b *testing.B) {
	const lines = 100_000
	for b.Loop() {
		r := startRecording(b, nil)
		storm(b, r, r.b.Open(b, `x`), lines)
	}
	b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

package capture_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/id"
)

// disturbedPage has n buttons and moves a box in its own animation frames for 600 ms after each click. gaps() resolves
// to the longest time between two of those frames, in milliseconds, and to how many there were.
const disturbedPage = `<!doctype html><style>#b{position:fixed;top:0;left:0;width:100px;height:100px;background:red}button{font:10px sans-serif}</style>
<div id=b></div><script>
for(let i=0;i<%d;i++){const e=document.createElement('button');e.textContent='action '+i;document.body.append(e)}
let last=null;addEventListener('mousedown',()=>{const times=[performance.now()];last=new Promise(done=>{(function f(){const t=performance.now();times.push(t);
b.style.transform='translateX('+((t-times[0])%%200)+'px)';if(t-times[0]<500)requestAnimationFrame(f);else done(times)})()})});
async function gaps(){const t=await last;let m=0;for(let i=1;i<t.length;i++)m=Math.max(m,t[i]-t[i-1]);return [m,t.length]}
</script>`

// one finds the one page there is.
type one struct{ session *page.Session }

func (o one) Page(id.Target) (*page.Session, error) { return o.session, nil }

// BenchmarkCaptureDisturbance says what recording and observing cost a page's own animation in the 500 ms after a click: the
// longest gap between two of its animation frames, median and 90th percentile over the clicks.
func BenchmarkCaptureDisturbance(b *testing.B) {
	for _, nodes := range []int{1000, 9000} {
		for _, mode := range []string{"none", "recorder", "recorder+observation"} {
			b.Run(fmt.Sprintf("%dnodes/%s", nodes, mode), func(b *testing.B) { disturbance(b, nodes, mode) })
		}
	}
}

func disturbance(b *testing.B, nodes int, mode string) {
	clicks := 20
	if testing.Short() {
		clicks = 4
	}
	url := serve(b, fmt.Sprintf(disturbedPage, nodes))
	for b.Loop() {
		r := newRig(b, 1280, 720, "balanced", false)
		s := r.open(b, url)
		r.settle(b)
		if mode == "none" {
			if err := s.Send(b.Context(), "Page.stopScreencast", nil, nil); err != nil {
				b.Fatal(err)
			}
		}
		observer := observe.New(one{s}, snapshot.NewRegistry(), observe.NewRing())
		before := takeUsage(r.process.PID())
		var longest, frames []float64
		for range clicks {
			gap, count := disturbedClick(b, s, observer, mode == "recorder+observation")
			longest, frames = append(longest, gap), append(frames, count)
		}
		used := takeUsage(r.process.PID()).since(before)
		slices.Sort(longest)
		slices.Sort(frames)
		b.ReportMetric(longest[len(longest)/2], "gap-p50-ms")
		b.ReportMetric(longest[len(longest)*9/10], "gap-p90-ms")
		b.ReportMetric(frames[len(frames)/2], "page-frames")
		b.ReportMetric(used.external(), "ext-cpu%")
		b.ReportMetric(0, "ns/op")
		r.close()
	}
}

func disturbedClick(b *testing.B, s *page.Session, observer *observe.Observer, observing bool) (gap, frames float64) {
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		err := s.Send(b.Context(), "Input.dispatchMouseEvent", map[string]any{"type": kind, "x": 600, "y": 300, "button": "left", "clickCount": 1}, nil)
		if err != nil {
			b.Fatal(err)
		}
	}
	if observing {
		observer.Take(b.Context(), s, observe.Taking{Picture: evidence.RoleLive})
	}
	var out struct {
		Result struct {
			Value []float64 `json:"value"`
		} `json:"result"`
	}
	err := s.SendWithin(b.Context(), time.Minute, "Runtime.evaluate", map[string]any{
		"expression": "gaps()", "awaitPromise": true, "returnByValue": true,
	}, &out)
	if err != nil || len(out.Result.Value) != 2 {
		b.Fatal("the page did not answer", err)
	}
	return out.Result.Value[0], out.Result.Value[1]
}

// BenchmarkCaptureMemory records a busy page for ten minutes and says how the live heap of this process grew from the first
// minute to the last.
func BenchmarkCaptureMemory(b *testing.B) {
	if testing.Short() {
		b.Skip("takes ten minutes")
	}
	url := serve(b, fmt.Sprintf(fidelityPage, lorem())) + "?busy"
	for b.Loop() {
		r := newRig(b, 1280, 720, "balanced", false)
		r.open(b, url)
		minute := func() float64 {
			ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
			defer cancel()
			_ = clock.Wait(ctx, clock.System(), time.Minute)
			r.frames.mu.Lock()
			r.frames.payloads = nil // the bench's own store
			r.frames.mu.Unlock()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return float64(m.HeapAlloc) / (1 << 20)
		}
		first := minute()
		var last float64
		for range 9 {
			last = minute()
		}
		received, _, dropped := r.recorder.Totals()
		b.ReportMetric(first, "first-minute-MiB")
		b.ReportMetric(last, "last-minute-MiB")
		b.ReportMetric(float64(received), "frames")
		b.ReportMetric(float64(dropped), "dropped")
		b.ReportMetric(0, "ns/op")
		r.close()
	}
}

package capture_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/jpeg"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/capture"
	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// statesPerCell is how many brief states one cell shows; -short shows fewer.
const statesPerCell = 200

// fidelityPage shows numbered states. Nine squares say which one: the first is black while a state is shown, the others are
// the bits of its number. run(n, d) shows n states of d ms and resolves to how many of them one of the page's own
// animation frames saw. busy adds what keeps the compositor and the main thread working.
const fidelityPage = `<!doctype html><style>
body{margin:0;background:#fff;font:14px sans-serif} i{position:absolute;top:20px;width:60px;height:60px;background:#fff}
@keyframes s{to{transform:rotate(360deg)}} .busy{position:absolute;top:200px;left:100px;width:200px;height:200px;background:linear-gradient(red,blue);animation:s 1s linear infinite}
p{position:absolute;top:420px;width:900px}
</style><div id=squares></div><p>%s</p><script>
const squares=[...Array(9)].map((_,k)=>{const e=document.createElement('i');e.style.left=20+k*70+'px';squaresParent().append(e);return e});
function squaresParent(){return document.getElementById('squares')}
const sleep=ms=>new Promise(r=>setTimeout(r,ms));
function show(n){squares.forEach((e,k)=>e.style.background=n<0?'#fff':k==0||n>>(k-1)&1?'#000':'#fff')}
if(location.search=='?busy'){const b=document.createElement('div');b.className='busy';document.body.append(b);(function f(t){let x=0;for(let i=0;i<20000;i++)x+=i;requestAnimationFrame(f)})(0)}
async function run(n,d){let painted=0;for(let i=0;i<n;i++){let ticks=0,on=true;const tick=()=>{if(on){ticks++;requestAnimationFrame(tick)}};show(i);requestAnimationFrame(tick);
await sleep(d);on=false;show(-1);if(ticks>0)painted++;await sleep(110+Math.random()*40)}return painted}
</script>`

// keeper stores the pictures for reading after the measurement.
type keeper struct {
	mu       sync.Mutex
	payloads [][]byte
}

func (k *keeper) AppendFrame(_ context.Context, f record.Frame, payload []byte) (record.Frame, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.payloads = append(k.payloads, bytes.Clone(payload))
	return f, nil
}

// rig is a browser of the bench's own, recorded.
type rig struct {
	process  *chrome.Process
	client   *cdp.Client
	root     *page.Browser
	registry *target.Registry
	recorder *capture.Recorder
	frames   *keeper
	width    int
	height   int
	size     string
}

type metrics struct{ width, height int }

func (m metrics) PageAttached(p target.Page) {
	_ = p.Session.Post("Emulation.setDeviceMetricsOverride", map[string]any{"width": m.width, "height": m.height, "deviceScaleFactor": 1, "mobile": false})
}
func (metrics) PageDetached(target.Page, bool) {}

func newRig(b *testing.B, width, height int, size string, gl bool) *rig {
	b.Helper()
	executable := browsertest.Executable()
	if executable == "" {
		b.Skip("no Chrome or Chromium is installed")
	}
	system := clock.System()
	process, err := chrome.Launch(b.Context(), chrome.Config{
		Executable: executable, ProfileDir: b.TempDir(), Headless: true, NoSandbox: os.Geteuid() == 0, SoftwareGL: gl,
		SmallSharedMemory: chrome.SmallSharedMemory(), Clock: system,
	})
	if err != nil {
		b.Fatal(err)
	}
	r := &rig{process: process, client: cdp.NewClient(process.Transport(), system), frames: &keeper{}, width: width, height: height, size: size}
	b.Cleanup(r.close)
	r.root = page.NewBrowser(r.client, system, page.Versions{})
	session, facts, silent := clock.Begin(system), &browsertest.Facts{}, slog.New(slog.DiscardHandler)
	r.recorder = capture.New(capture.Config{
		Session: id.New[id.Session](), Clock: session, Frames: r.frames, Facts: facts, Logger: silent,
		Capture: record.CaptureConfig{EveryNthFrame: 1, Size: size, Format: "jpeg", Quality: 80},
	})
	r.recorder.Bind(r.client)
	r.registry, err = target.Start(b.Context(), target.Config{
		Browser: r.root, Session: "ses_bench", Clock: session, Facts: facts, URLs: redact.NewKey(), Logger: silent,
		Observers: []target.Observer{metrics{width, height}, r.recorder},
	})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *rig) close() {
	_ = r.recorder.Stop(context.Background())
	r.process.End(0)
	_ = r.client.Close()
	if r.registry != nil {
		<-r.registry.Done()
	}
}

func (r *rig) open(b *testing.B, url string) *page.Session {
	b.Helper()
	v, err := r.registry.Wait(b.Context(), func(v *target.View) bool { return v.Selected != "" })
	if err != nil {
		b.Fatal(err)
	}
	row, _ := v.Find(v.Selected)
	if err := row.Session.SendWithin(b.Context(), time.Minute, "Page.navigate", map[string]any{"url": url}, nil); err != nil {
		b.Fatal(err)
	}
	_, err = row.Session.AwaitNavigation(b.Context(), func(n page.Navigation) bool { return n.Address == url && n.Reached(page.NavComplete) })
	if err != nil {
		b.Fatal(err)
	}
	return row.Session
}

func serve(b *testing.B, html string) string {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(html))
	}))
	b.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	return site.URL + "/"
}

func lorem() string {
	var text bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&text, "line %d of a page that has some text on it. ", i)
	}
	return text.String()
}

// BenchmarkCaptureFidelity says how many brief states are in some recorded frame, of those that one of the page's own
// animation frames saw. ext-cpu% is the load of the rest of the machine in percent of one core.
func BenchmarkCaptureFidelity(b *testing.B) {
	// What is promised comes first: a run that is cut short has it.
	fidelityCells(b, "balanced", 50, 100)
	fidelityCells(b, "balanced", 17, 33)
	fidelityCells(b, "full", 50, 100, 17, 33)
}

func fidelityCells(b *testing.B, size string, durations ...int) {
	for _, v := range [][2]int{{1280, 720}, {1920, 1080}} {
		for _, kind := range []string{"quiet", "busy"} {
			for _, ms := range durations {
				b.Run(fmt.Sprintf("%s/%dp/%s/%dms", size, v[1], kind, ms), func(b *testing.B) {
					fidelity(b, cell{size: size, width: v[0], height: v[1], busy: kind == "busy", ms: ms})
				})
			}
		}
	}
}

// BenchmarkCaptureRendering compares the ways of drawing without a GPU, on which the launch decides.
func BenchmarkCaptureRendering(b *testing.B) {
	for _, gl := range []string{"default", "swiftshader"} {
		b.Run(gl, func(b *testing.B) {
			fidelity(b, cell{size: "balanced", width: 1920, height: 1080, busy: true, ms: 50, softwareGL: gl == "swiftshader"})
		})
	}
}

type cell struct {
	size          string
	width, height int
	busy          bool
	ms            int
	softwareGL    bool
}

func fidelity(b *testing.B, c cell) {
	url := serve(b, fmt.Sprintf(fidelityPage, lorem()))
	if c.busy {
		url += "?busy"
	}
	states := statesPerCell
	if testing.Short() {
		states = 20
	}
	for b.Loop() {
		r := newRig(b, c.width, c.height, c.size, c.softwareGL)
		s := r.open(b, url)
		r.settle(b)
		before := takeUsage(r.process.PID())
		var out struct {
			Result struct {
				Value int `json:"value"`
			} `json:"result"`
		}
		err := s.SendWithin(b.Context(), 10*time.Minute, "Runtime.evaluate", map[string]any{
			"expression": fmt.Sprintf("run(%d,%d)", states, c.ms), "awaitPromise": true, "returnByValue": true,
		}, &out)
		if err != nil {
			b.Fatal(err)
		}
		used := takeUsage(r.process.PID()).since(before)
		status := r.recorder.Status()[0]
		if err := r.recorder.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
		seen := r.seen(b, states)
		frames := float64(len(r.frames.payloads))
		b.ReportMetric(float64(len(seen))/float64(max(out.Result.Value, 1)), "captured/painted")
		b.ReportMetric(float64(out.Result.Value), "painted")
		b.ReportMetric(frames/used.wall.Seconds(), "fps")
		b.ReportMetric(status.LagP50MS, "lag-p50-ms")
		b.ReportMetric(status.LagP95MS, "lag-p95-ms")
		b.ReportMetric(status.AckP50US, "ack-p50-us")
		b.ReportMetric(status.AckP99US, "ack-p99-us")
		b.ReportMetric(float64(used.own.Microseconds())/1e3/frames, "our-cpu-ms/frame")
		b.ReportMetric(float64(used.browser.Microseconds())/1e3/frames, "chrome-cpu-ms/frame")
		b.ReportMetric(used.external(), "ext-cpu%")
		b.ReportMetric(0, "ns/op")
		r.close()
	}
}

// settle waits until the first pictures of the page have passed, and forgets them.
func (r *rig) settle(b *testing.B) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for r.recorder.Status()[0].Received == 0 {
		if err := clock.Wait(ctx, clock.System(), 20*time.Millisecond); err != nil {
			b.Fatal("no frame came")
		}
	}
	_ = clock.Wait(ctx, clock.System(), time.Second)
	r.frames.mu.Lock()
	r.frames.payloads = nil
	r.frames.mu.Unlock()
}

// seen reads the numbers of the states in the stored pictures.
func (r *rig) seen(b *testing.B, states int) map[int]bool {
	b.Helper()
	found := make(chan int, len(r.frames.payloads))
	work := make(chan []byte)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for payload := range work {
				if n, ok := r.read(payload); ok && n < states {
					found <- n
				}
			}
		})
	}
	for _, p := range r.frames.payloads {
		work <- p
	}
	close(work)
	readers.Wait()
	close(found)
	seen := map[int]bool{}
	for n := range found {
		seen[n] = true
	}
	return seen
}

func (r *rig) read(payload []byte) (n int, shown bool) {
	img, _, err := image.Decode(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(payload)))
	if err != nil {
		return 0, false
	}
	scale := float64(img.Bounds().Dx()) / float64(r.width)
	dark := func(square int) bool {
		g, _, _, _ := img.At(int(float64(50+square*70)*scale), int(50*scale)).RGBA()
		return g < 0x8000
	}
	for bit := range 8 {
		if dark(bit + 1) {
			n |= 1 << bit
		}
	}
	return n, dark(0)
}

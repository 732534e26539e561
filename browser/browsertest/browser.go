package browsertest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/core/redact"
)

// Limit bounds every wait of this package.
const Limit = 30 * time.Second

// Browser is the package's browser.
type Browser struct {
	Process  *chrome.Process
	Client   *cdp.Client
	Root     *page.Browser
	Registry *target.Registry
	Clock    clock.Session
	Facts    *Facts
	Session  id.Session

	observers *observers
	site      *httptest.Server
	mu        sync.Mutex
	pages     map[string]string
	next      int
}

type holder struct {
	once    sync.Once
	browser *Browser
	err     error
	dir     string
}

// One browser serves a whole test binary: starting one per case would cost a second each.
var shared holder

// Run runs the package's tests and ends the browser afterwards. Use it in TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }
func Run(m *testing.M) int {
	code := m.Run()
	if shared.browser != nil {
		shared.browser.close()
	}
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
	return code
}

// Start returns the package's browser, started on first use. It skips the test when no browser is installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	shared.once.Do(func() { shared.browser, shared.err = launch() })
	if shared.err != nil {
		t.Fatalf("starting the test browser: %v", shared.err)
	}
	if shared.browser == nil {
		t.Skip("no Chrome or Chromium is installed")
	}
	return shared.browser
}

// Executable returns an installed browser, "" when there is none.
func Executable() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return os.Getenv("KROMETRAIL_CHROME")
}

func launch() (*Browser, error) {
	executable := Executable()
	if executable == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		return nil, err
	}
	shared.dir = dir
	system := clock.System()
	process, err := chrome.Launch(context.Background(), chrome.Config{
		Executable: executable, ProfileDir: dir, Headless: true, NoSandbox: os.Geteuid() == 0, Width: 1280, Height: 720, Clock: system,
	})
	if err != nil {
		return nil, err
	}
	b := &Browser{
		Process: process, Client: cdp.NewClient(process.Transport(), system), Clock: clock.Begin(system),
		Facts: &Facts{}, Session: id.New[id.Session](), pages: map[string]string{}, observers: &observers{},
	}
	b.site = httptest.NewServer(http.HandlerFunc(b.serve))
	if err := b.connect(system); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *Browser) connect(system clock.Clock) error {
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	var version struct {
		Product  string `json:"product"`
		Protocol string `json:"protocolVersion"`
	}
	if err := b.Client.Call(ctx, "", "Browser.getVersion", nil, &version); err != nil {
		return fmt.Errorf("%w (%w)", err, b.Process.Failure())
	}
	b.Root = page.NewBrowser(b.Client, system, page.Versions{Browser: version.Product, Protocol: version.Protocol})
	var err error
	b.Registry, err = target.Start(ctx, target.Config{
		Browser: b.Root, Session: b.Session, Clock: b.Clock, Facts: b.Facts, Observers: []target.Observer{b.observers}, URLs: redact.NewKey(),
		Logger: slog.New(slog.DiscardHandler),
	})
	return err
}

func (b *Browser) close() {
	ctx, cancel := context.WithTimeout(context.Background(), chrome.PoliteStop)
	_ = b.Client.Call(ctx, "", "Browser.close", nil, nil)
	cancel()
	b.Process.End(chrome.PoliteStop)
	_ = b.Client.Close()
	if b.Registry != nil {
		<-b.Registry.Done()
	}
	b.site.CloseClientConnections()
	b.site.Close()
}

func (b *Browser) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	html, ok := b.pages[r.URL.Path]
	b.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(html))
}

// URL serves html on a loopback address of its own path and returns that address.
func (b *Browser) URL(html string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	path := fmt.Sprintf("/page%d", b.next)
	b.pages[path] = html
	return b.site.URL + path
}

// CrossSite returns the same address under another site, so that a frame of it gets a process of its own.
func CrossSite(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

// Page opens a page of the package's browser in the foreground and waits until it has loaded. content is a URL when
// it starts with http:, https:, about:, data: or file:, else it is the HTML of the page. The page is closed
// when the test ends. Its viewport is 1280x720.
func Page(t testing.TB, content string) *page.Session {
	t.Helper()
	b := Start(t)
	return b.Open(t, content).Session
}

// Open is Page for callers that need the target's row.
func (b *Browser) Open(t testing.TB, content string) target.Page {
	t.Helper()
	if !isURL(content) {
		content = b.URL(content)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	row := b.create(ctx, t)
	loaded := row.Session.Subscribe("Page.loadEventFired")
	defer loaded.Close()
	must(t, row.Session.Send(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false,
	}, nil))
	must(t, row.Session.SendWithin(ctx, Limit, "Page.navigate", map[string]any{"url": content}, nil))
	select {
	case <-loaded.Events():
	case <-ctx.Done():
		t.Fatal("the page did not load")
	}
	return row
}

func (b *Browser) create(ctx context.Context, t testing.TB) target.Page {
	t.Helper()
	var made struct {
		TargetID string `json:"targetId"`
	}
	must(t, b.Root.Send(ctx, "Target.createTarget", map[string]any{"url": "about:blank"}, &made))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Limit)
		defer cancel()
		_ = b.Root.Send(ctx, "Target.closeTarget", map[string]any{"targetId": made.TargetID}, nil)
	})
	view, err := b.Registry.Wait(ctx, func(v *target.View) bool {
		p, ok := v.FindCDP(made.TargetID)
		return ok && p.Session != nil
	})
	must(t, err)
	row, _ := view.FindCDP(made.TargetID)
	return row
}

func isURL(content string) bool {
	for _, scheme := range []string{"http:", "https:", "about:", "data:", "file:"} {
		if strings.HasPrefix(content, scheme) {
			return true
		}
	}
	return false
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Facts is a record.FactSink that keeps everything in memory.
type Facts struct {
	mu   sync.Mutex
	list []record.Fact
}

var _ record.FactSink = (*Facts)(nil)

// Put implements record.FactSink.
func (f *Facts) Put(_ context.Context, facts ...record.Fact) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, facts...)
	return nil
}

// All returns the facts so far.
func (f *Facts) All() []record.Fact {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]record.Fact(nil), f.list...)
}

package input_test

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/input"
	"github.com/krometrail/krometrail/browser/observe"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/control"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// bench is a driver over the package's browser.
type bench struct {
	t        testing.TB
	browser  *browsertest.Browser
	driver   *input.Driver
	observer *observe.Observer
	registry *snapshot.Registry
	ring     *observe.Ring
}

type observer = record.Observer

func newBench(t testing.TB) *bench {
	b := &bench{t: t, browser: browsertest.Start(t), registry: snapshot.NewRegistry(), ring: observe.NewRing()}
	b.observer = observe.New(b, b.registry, b.ring)
	b.driver = input.NewDriver(input.Deps{Pages: b, Tabs: b, Downloads: noDownloads{}, Snapshots: b.registry, Observer: b.observer})
	return b
}

// Page implements observe.Pages.
func (b *bench) Page(t id.Target) (*page.Session, error) {
	p, ok := b.browser.Registry.View().Find(t)
	if !ok || p.Session == nil {
		return nil, fault.New(fault.NotFound, "no such page")
	}
	return p.Session, nil
}

func (b *bench) PageCursor() string {
	return strconv.FormatUint(b.browser.Registry.View().Sequence, 10)
}

func (b *bench) MarkAction() {}

func (b *bench) PagesSince(cursor string) ([]core.NewPage, error) {
	after, err := strconv.ParseUint(cursor, 10, 64)
	var list []core.NewPage
	for _, p := range b.browser.Registry.View().Pages {
		if p.Sequence > after {
			list = append(list, core.NewPage{TargetID: p.ID, Opener: p.Opener, URL: p.URL})
		}
	}
	return list, err
}

func (b *bench) WaitForPage(ctx context.Context, r core.WaitForPageRequest) (core.NewPageResult, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.TimeoutMS)*time.Millisecond)
	defer cancel()
	_, err := b.browser.Registry.Wait(ctx, func(*target.View) bool {
		list, _ := b.PagesSince(r.After)
		return len(list) > 0
	})
	return core.NewPageResult{}, err
}

func (b *bench) EnsureForeground(ctx context.Context, t id.Target) error {
	p, _ := b.browser.Registry.View().Find(t)
	return b.browser.Root.Send(ctx, "Target.activateTarget", map[string]any{"targetId": p.CDPTarget}, nil)
}

type noDownloads struct{}

func (noDownloads) DownloadCursor() string              { return "0" }
func (noDownloads) DownloadsSince(string) []id.Download { return nil }

// outcome is what an action came to.
type outcome struct {
	sent        bool
	result      any
	err         error
	settled     control.Settled
	settleErr   error
	observation core.Observation
	parameters  string
}

// do performs an action as the runner does.
func (b *bench) do(s *page.Session, operation string, request any) outcome {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	a := control.Action{Operation: operation, TargetID: s.Target(), Request: request, Observe: true, Screenshot: false}
	p, err := b.driver.Resolve(ctx, a)
	if err != nil {
		return outcome{err: err}
	}
	o := outcome{}
	o.result, o.err = b.driver.Dispatch(ctx, a, p, func() { o.sent = true })
	o.parameters = string(p.Parameters())
	if o.err != nil && !o.sent {
		return o
	}
	o.settled, o.settleErr = b.driver.Settle(ctx, a, p)
	o.observation, err = b.driver.Observe(ctx, a, p, o.settled)
	require.NoError(b.t, err)
	return o
}

// must is do for actions that succeed.
func (b *bench) must(s *page.Session, operation string, request any) outcome {
	b.t.Helper()
	o := b.do(s, operation, request)
	require.NoError(b.t, o.err, "%s %+v", operation, request)
	require.NoError(b.t, o.settleErr)
	return o
}

// text evaluates an expression in the page.
func text(t testing.TB, s *page.Session, expression string) string {
	t.Helper()
	var out struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		Exception *struct{ Text string } `json:"exceptionDetails"`
	}
	require.NoError(t, s.Send(t.Context(), "Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true}, &out))
	require.Nil(t, out.Exception, expression)
	return out.Result.Value
}

func query(q string) core.Element { return core.Element{Query: q} }

func place(q string) core.Locator { return core.Locator{Query: q} }

func number(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return v
}

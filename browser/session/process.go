package session

import (
	"context"
	"runtime"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
)

// startProcess launches through the tests' hook or for real.
func (b *Browser) startProcess(c chrome.Config) (Process, error) {
	if b.deps.Launch != nil {
		return b.deps.Launch(c)
	}
	p, err := chrome.Launch(context.Background(), c)
	if err != nil {
		return nil, err
	}
	return realProcess{p}, nil
}

// client speaks over transport, which it owns from now on.
func (b *Browser) client(transport cdp.Transport) *cdp.Client {
	c := cdp.NewClient(transport, b.deps.Clock)
	if b.deps.AckLimit > 0 {
		c.SetAckLimit(b.deps.AckLimit)
	}
	return c
}

// realProcess is a launched browser.
type realProcess struct{ *chrome.Process }

// Transport implements Process.
func (p realProcess) Transport() cdp.Transport { return p.Process.Transport() }

// Failure implements Process.
func (p realProcess) Failure() error { return p.Process.Failure() }

// End implements Process.
func (p realProcess) End(polite bool) chrome.Leftover {
	if polite {
		return p.Process.End(chrome.PoliteStop)
	}
	return p.Process.End(0)
}

// needsHeadless reports whether there is no display to show windows on.
func needsHeadless(getenv func(string) string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return false
	}
	return getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == ""
}

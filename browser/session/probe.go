package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/target"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	corepage "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/record"
)

// needed are the browser-level commands without which no session is possible, with parameters that do nothing. A
// browser that lacks one answers "not found"; any other answer shows that the command exists.
var needed = []struct {
	method string
	params any
}{
	{"Target.getTargets", nil},
	{"Target.setDiscoverTargets", map[string]any{"discover": false}},
	{"Target.setAutoAttach", map[string]any{"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true}},
}

// identify asks for the versions and checks the commands the program depends on.
func identify(ctx context.Context, c clock.Clock, client *cdp.Client) (record.Browser, []corepage.ProbeRow, error) {
	ctx, cancel := clock.WithTimeout(ctx, c, answerLimit)
	defer cancel()
	var v struct {
		Product  string `json:"product"`
		Protocol string `json:"protocolVersion"`
		Revision string `json:"revision"`
		JS       string `json:"jsVersion"`
	}
	if err := client.Call(ctx, "", "Browser.getVersion", nil, &v); err != nil {
		if refused(err) {
			return record.Browser{}, nil, incompatible("Browser.getVersion", "unknown", "unknown")
		}
		return record.Browser{}, nil, err
	}
	info := record.Browser{Product: v.Product, ProtocolVersion: v.Protocol, Revision: v.Revision, JSVersion: v.JS, Headless: strings.HasPrefix(v.Product, "Headless")}
	var missing []string
	var rows []corepage.ProbeRow
	for _, n := range needed {
		err := client.Call(ctx, "", n.method, n.params, nil)
		row := corepage.ProbeRow{Command: n.method, Outcome: "available"}
		switch {
		case refused(err):
			row.Outcome = "missing"
			missing = append(missing, n.method)
		case err != nil && !isRefusal(err):
			return record.Browser{}, nil, err
		}
		rows = append(rows, row)
	}
	if len(missing) > 0 {
		return record.Browser{}, nil, incompatible(strings.Join(missing, ", "), v.Product, v.Protocol)
	}
	return info, rows, nil
}

// pageCommand is a page-level command with a parameter of it. It is sent with a value of a wrong type: a browser that has
// the command refuses the value and does nothing.
type pageCommand struct{ method, param string }

// neededToRecord and neededToDrive are the commands without which a page can not be recorded, and not driven.
var (
	neededToRecord = []pageCommand{{"Page.startScreencast", "everyNthFrame"}, {"Page.screencastFrameAck", "sessionId"}}
	neededToDrive  = []pageCommand{
		{"Page.captureScreenshot", "format"}, {"Page.navigate", "url"}, {"Page.createIsolatedWorld", "frameId"}, {"Page.handleJavaScriptDialog", "accept"},
		{"Page.addScriptToEvaluateOnNewDocument", "source"}, {"Runtime.evaluate", "expression"}, {"Runtime.callFunctionOn", "functionDeclaration"},
		{"DOM.describeNode", "depth"}, {"DOM.setFileInputFiles", "files"}, {"Input.dispatchMouseEvent", "type"},
		{"Input.dispatchKeyEvent", "type"}, {"Input.insertText", "text"}, {"Emulation.setDeviceMetricsOverride", "width"},
	}
)

// checkPage completes the probe with what only a page can tell. A page that does not answer proves nothing: what it left
// open stands as not_tested, and the session goes on.
func (l *live) checkPage(ctx context.Context, row target.Page) error {
	needed := neededToDrive
	if !l.browser.deps.CaptureOff {
		needed = slices.Concat(neededToRecord, neededToDrive)
	}
	answers := make([]func() error, len(needed))
	for i, n := range needed {
		p, err := row.Session.StartWithin(ctx, answerLimit, n.method, map[string]any{n.param: map[string]any{}})
		answers[i] = func() error {
			if err != nil {
				return err
			}
			return p.Wait(nil)
		}
	}
	var missing []string
	for i, answer := range answers {
		method, outcome := needed[i].method, "available"
		switch err := answer(); {
		case fault.CodeOf(err) == fault.Unsupported:
			outcome, missing = "missing", append(missing, method)
		case err != nil && !isRefusal(err):
			outcome = "not_tested"
		}
		l.probe = append(l.probe, corepage.ProbeRow{Command: method, Outcome: outcome})
	}
	if len(missing) > 0 {
		return incompatible(strings.Join(missing, ", "), l.record.Browser.Product, l.record.Browser.ProtocolVersion)
	}
	return nil
}

func refused(err error) bool {
	var refusal *cdp.Error
	return errors.As(err, &refusal) && refusal.Code == cdp.CodeMethodNotFound
}

func isRefusal(err error) bool {
	var refusal *cdp.Error
	return errors.As(err, &refusal)
}

func incompatible(missing, product, protocol string) error {
	return fault.New(fault.BrowserCompatibilityFailed, "the browser lacks %s (%s, protocol %s)", missing, product, protocol).
		WithRecovery("use a newer Chrome or Chromium")
}

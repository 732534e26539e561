package transfer

import (
	"context"
	"errors"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// clip is what the page's clipboard said.
type clip struct {
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

const (
	readScript = `async () => { if (!navigator.clipboard) return {why: 'insecure'}; try { return {ok: true, text: await navigator.clipboard.readText()}; } ` +
		`catch (e) { return {why: document.hasFocus() ? e.name : 'unfocused'}; } }`
	writeScript = `async text => { if (!navigator.clipboard) return {why: 'insecure'}; try { await navigator.clipboard.writeText(text); ` +
		`return {ok: true, text: await navigator.clipboard.readText().catch(() => null)}; } catch (e) { return {why: document.hasFocus() ? e.name : 'unfocused'}; } }`
)

// ReadClipboard reads the clipboard's text through the page.
func (t *Transfers) ReadClipboard(ctx context.Context, r core.ReadClipboardRequest) (core.ReadClipboardResult, error) {
	s, err := t.pages.Page(r.Target)
	if err != nil {
		return core.ReadClipboardResult{}, err
	}
	c, err := t.clipboard(ctx, s, func() {}, readScript)
	if err != nil {
		return core.ReadClipboardResult{}, err
	}
	if len(c.Text) > core.MaxClipboard {
		return core.ReadClipboardResult{}, fault.New(fault.ResourceLimitExceeded, "the clipboard holds more text than may be read").
			WithLimit("clipboard_bytes", int64(len(c.Text)), core.MaxClipboard, 0).WithRecovery("copy less")
	}
	return core.ReadClipboardResult{Text: c.Text}, nil
}

// WriteClipboard implements input.Transfers. Confirmed means that reading back gave the same text.
func (t *Transfers) WriteClipboard(ctx context.Context, s *page.Session, r *core.WriteClipboardRequest, sending func()) (core.WriteClipboardResult, error) {
	c, err := t.clipboard(ctx, s, sending, writeScript, r.Text)
	return core.WriteClipboardResult{Confirmed: err == nil && c.Text == r.Text}, err
}

// clipboard runs a script in the isolated world with the permissions it needs. Those of a browser that this program
// did not start stay as they are.
func (t *Transfers) clipboard(ctx context.Context, s *page.Session, sending func(), script string, args ...any) (clip, error) {
	world, err := s.World(ctx, "")
	if err != nil {
		return clip{}, snapshot.Unreadable(snapshot.Vanished(err), s)
	}
	if t.Managed() {
		restore, err := permit(ctx, s)
		if err != nil {
			return clip{}, err
		}
		defer restore()
	}
	sending()
	arguments := make([]any, len(args))
	for i, a := range args {
		arguments[i] = map[string]any{"value": a}
	}
	var reply struct {
		Result struct {
			Value clip `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err = s.Send(ctx, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": script, "executionContextId": world, "arguments": arguments, "returnByValue": true, "awaitPromise": true, "userGesture": true,
	}, &reply)
	switch {
	case err != nil:
		return clip{}, snapshot.Unreadable(snapshot.Vanished(err), s)
	case reply.Exception != nil:
		return clip{}, fault.New(fault.InteractionFailed, "the page's clipboard failed").Because(errors.New(reply.Exception.Text))
	case !reply.Result.Value.OK:
		return clip{}, refusedClipboard(reply.Result.Value.Why)
	}
	return reply.Result.Value, nil
}

func refusedClipboard(why string) error {
	switch why {
	case "insecure":
		return fault.New(fault.Unsupported, "the page has no clipboard: it is no secure context (https or localhost)").
			WithRecovery("use a page with an https or localhost address")
	case "unfocused":
		return fault.New(fault.TargetHidden, "the page does not have the focus, and only a focused page may use the clipboard").
			WithRecovery("activate_page, then try again")
	}
	return fault.New(fault.InteractionFailed, "the browser refused the page's access to the clipboard").WithRetry(fault.AfterRecovery).
		WithRecovery("allow the clipboard for this site in the browser")
}

// permit allows the clipboard for the page's origin and returns what takes that back.
func permit(ctx context.Context, s *page.Session) (restore func(), err error) {
	origin := redact.Origin(address(s))
	set := func(ctx context.Context, setting string) error {
		for _, p := range []map[string]any{{"name": "clipboard-read"}, {"name": "clipboard-write", "allowWithoutSanitization": true}} {
			params := map[string]any{"permission": p, "setting": setting}
			if origin != "" {
				params["origin"] = origin
			}
			if err := s.Browser().Send(ctx, "Browser.setPermission", params, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if err := set(ctx, "granted"); err != nil {
		return nil, err
	}
	return func() { _ = set(context.WithoutCancel(ctx), "prompt") }, nil
}

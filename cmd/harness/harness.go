// Package harness runs the whole program in one process for tests: the production wiring, with the browser and
// the clock replaced where a test wants to script them, and an MCP client over the program's real loop.
//
// Without a Transport the program launches a real browser; with one it talks to whatever is at the other end,
// usually the scripted peer of browser/cdptest.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/chrome"
	"github.com/krometrail/krometrail/browser/session"
	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/cmd/internal/wire"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/mcp"
	"github.com/krometrail/krometrail/mcp/client"
)

// Options of a harness. Only DataDir is required.
type Options struct {
	// DataDir takes recordings, profiles and the log, usually a test's temporary folder.
	DataDir string
	// Transport, when set, stands in for a launched browser.
	Transport cdp.Transport
	// Clock, when set, replaces the system's.
	Clock clock.Clock
	// Settings are configuration values by key, as on the command line: {"tools": "lean"}.
	Settings map[string]string
	// Env looks up environment variables; nil means that none is set.
	Env func(name string) (string, bool)
	// Version is the protocol version the client speaks; "" is the newest.
	Version string
	// Notified receives the server's notifications in order; it must not call the client.
	Notified func(client.Notification)
}

// Harness is a running program with a connected client.
type Harness struct {
	// Client calls the program's tools.
	Client *client.Client
	// Server is the program's MCP server, for further connections.
	Server *mcp.Server
	app    *wire.App
}

// Start builds and starts the program and connects a client. Stop must be called.
func Start(ctx context.Context, o Options) (*Harness, error) {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	settings := map[string]string{"data_dir": o.DataDir}
	maps.Copy(settings, o.Settings)
	c, err := config.Load(config.Sources{Flags: settings, Env: o.Env})
	if err != nil {
		return nil, err
	}
	h := &Harness{}
	if h.app, err = wire.Start(ctx, c, []any{&h.Server}, o.replacements()...); err != nil {
		return nil, err
	}
	options := []client.Option{client.WithCheck(h.check)}
	if o.Version != "" {
		options = append(options, client.WithVersion(o.Version))
	}
	if o.Notified != nil {
		options = append(options, client.WithNotifications(o.Notified))
	}
	if h.Client, err = client.Dial(ctx, h.Server, options...); err != nil {
		return nil, errors.Join(err, h.app.Stop(ctx))
	}
	return h, nil
}

// check holds every answer to its tool's own output schema, so that every test of the program does.
func (h *Harness) check(name string, structured json.RawMessage) error {
	tool, ok := h.Server.Catalogue().Tool(name)
	if !ok {
		return fmt.Errorf("%s answers, but is no tool", name)
	}
	return tool.CheckOutput(structured)
}

func (o Options) replacements() []fx.Option {
	all := []fx.Option{fx.Supply(wire.Env(o.Env))}
	if o.Transport != nil {
		all = append(all, fx.Supply(wire.Launch(func(chrome.Config) (session.Process, error) {
			return &scripted{transport: o.Transport, exited: make(chan struct{})}, nil
		})))
	}
	if o.Clock != nil {
		all = append(all, fx.Decorate(func(clock.Clock) clock.Clock { return o.Clock }))
	}
	return all
}

// Stop closes the connection, ends the browser and closes the store.
func (h *Harness) Stop(ctx context.Context) error {
	return errors.Join(h.Client.Close(), h.app.Stop(ctx))
}

// scripted is a browser process that is none: only its transport is real.
type scripted struct {
	transport cdp.Transport
	exited    chan struct{}
	once      sync.Once
}

// Transport implements session.Process.
func (s *scripted) Transport() cdp.Transport { return s.transport }

// PID implements session.Process; no process has it.
func (s *scripted) PID() int { return 0 }

// Rendering implements session.Process.
func (s *scripted) Rendering() string { return "scripted" }

// Exited implements session.Process.
func (s *scripted) Exited() <-chan struct{} { return s.exited }

// Failure implements session.Process.
func (s *scripted) Failure() error { return nil }

// End implements session.Process.
func (s *scripted) End(bool) chrome.Leftover {
	s.once.Do(func() { close(s.exited) })
	return chrome.Leftover{}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/cmd/internal/demo"
	"github.com/krometrail/krometrail/cmd/internal/wire"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/mcp"
	"github.com/krometrail/krometrail/mcp/client"
)

type demoCommand struct {
	URL  string `help:"Record this page instead of the built-in one." placeholder:"URL"`
	Out  string `help:"Folder for pictures and manifests." default:"out/demo" placeholder:"DIR"`
	Keep bool   `help:"Leave the browser open until interrupted."`
}

// Run records a page through the program's own tools and says what was found.
func (c demoCommand) Run(s *streams) (err error) {
	var server *mcp.Server
	app, err := wire.Start(s.ctx, s.config, []any{&server}, fx.Supply(wire.Env(s.env)))
	if err != nil {
		return err
	}
	defer func() {
		if stopped := app.Stop(context.WithoutCancel(s.ctx)); err == nil {
			err = stopped
		}
	}()
	tools, err := client.Dial(s.ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = tools.Close() }()
	account, err := demo.Run(s.ctx, caller{tools}, demo.Options{URL: c.URL, Folder: c.Out, Progress: s.err})
	if err != nil {
		return err
	}
	account.Print(s.out)
	if c.Keep {
		fmt.Fprintln(s.err, "… the browser stays open; interrupt to end it")
		<-s.ctx.Done()
	}
	return nil
}

// caller lets the demonstration call tools over the protocol.
type caller struct{ *client.Client }

// Call implements demo.Tools.
func (c caller) Call(ctx context.Context, tool string, arguments any) (json.RawMessage, error) {
	result, err := c.CallTool(ctx, tool, arguments)
	if err != nil {
		return nil, err
	}
	raw := result.Structured
	var envelope struct {
		Error *fault.Error `json:"error"`
	}
	if result.Failed && json.Unmarshal(raw, &envelope) == nil && envelope.Error != nil {
		return raw, envelope.Error
	}
	return raw, nil
}

// Read implements demo.Tools.
func (c caller) Read(ctx context.Context, uri string) ([]byte, error) {
	content, err := c.ReadResource(ctx, uri)
	return content.Data, err
}

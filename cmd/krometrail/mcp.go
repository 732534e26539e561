package main

import (
	"context"
	"fmt"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/cmd/internal/wire"
	"github.com/krometrail/krometrail/mcp"
)

type mcpCommand struct{}

// Run serves one MCP connection on the process's streams and ends with it.
func (mcpCommand) Run(s *streams) error {
	var server *mcp.Server
	var app *wire.App
	drain := wire.Drain(func(ctx context.Context) error { return app.Stop(ctx) })
	app, err := wire.Start(s.ctx, s.config, []any{&server}, fx.Supply(drain, wire.Env(s.env)))
	if err != nil {
		return err
	}
	if err := server.Serve(s.ctx, s.in, s.out); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

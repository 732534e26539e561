// Package wire is the composition root: it knows every module and joins them through fx.
package wire

import (
	"context"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
)

// startBudget and stopBudget bound the start and the end of all parts together. The end of the browser and
// the last flush have to fit into the MCP loop's own budget.
const (
	startBudget = 30 * time.Second
	stopBudget  = 28 * time.Second
)

// Module is everything the program consists of, but its clock and its connection to a browser, which the
// harness replaces.
func Module(c *config.Config) fx.Option {
	return fx.Options(
		fx.Supply(c),
		fx.Provide(clock.System),
		Storage, Video, Browser, Control, Temporal, Protocol,
		fx.Invoke(func(*trial) {}),
	)
}

// App is a running program.
type App struct {
	fx  *fx.App
	log *slog.Logger
}

// Start builds and starts the program. Its parts are put into the pointers of populate. A part that cannot
// start makes the others stop again; the error is a fault.
func Start(ctx context.Context, c *config.Config, populate []any, more ...fx.Option) (*App, error) {
	var log *slog.Logger
	app := fx.New(
		Module(c), fx.NopLogger, fx.StartTimeout(startBudget), fx.StopTimeout(stopBudget),
		fx.Populate(append(populate, &log)...), fx.Options(more...),
	)
	if err := app.Err(); err != nil {
		return nil, fault.From(unwrapped(err))
	}
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	if err := app.Start(ctx); err != nil {
		return nil, fault.From(err)
	}
	return &App{fx: app, log: log}, nil
}

// unwrapped is the constructor's own error inside fx's account of it.
func unwrapped(err error) error {
	if root := fxRoot(err); root != nil {
		return root
	}
	return err
}

// Stop ends the browser, seals what was recorded and closes the store. It fails with shutdown_incomplete when
// ctx, at most stopBudget, is over first.
func (a *App) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopBudget)
	defer cancel()
	if err := a.fx.Stop(ctx); err != nil {
		a.log.Error("shutdown incomplete", "error", err)
		return fault.New(fault.ShutdownIncomplete, "cleanup incomplete: %s", leftover(ctx)).Because(err)
	}
	return nil
}

func leftover(ctx context.Context) string {
	if ctx.Err() != nil {
		return "the time for it was over"
	}
	return "a part did not stop properly; the log names it"
}

package wire

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/cmd/internal/diagnostics"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/storage"
	"github.com/krometrail/krometrail/storage/instance"
)

// Storage provides the instance root, the log and the evidence store.
var Storage = fx.Module("storage", fx.Provide(newEarly, newInstance, newLog, newStore))

func newEarly() *diagnostics.Early { return &diagnostics.Early{} }

// newInstance makes this process's root. Nothing else may touch the data directory before it, so its notices wait for
// the log.
func newInstance(lc fx.Lifecycle, c *config.Config, early *diagnostics.Early) (*instance.Instance, error) {
	restrictPermissions()
	in, err := instance.Create(c.DataDir, slog.New(early))
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(in.Close))
	return in, nil
}

func newLog(lc fx.Lifecycle, c *config.Config, in *instance.Instance, early *diagnostics.Early) (*slog.Logger, error) {
	log, closeLog, err := diagnostics.Open(c.DataDir, filepath.Base(in.Root()), diagnostics.Level(c.LogLevel))
	if err != nil {
		return nil, err
	}
	early.To(log)
	lc.Append(fx.StopHook(closeLog))
	return log, nil
}

func newStore(lc fx.Lifecycle, c *config.Config, in *instance.Instance, clk clock.Clock, log *slog.Logger) (*storage.Store, error) {
	options, err := withFailPoint(in.Root(), storage.Options{
		Clock: clk, Logger: log, BudgetBytes: c.DiskBudget, MaxAge: c.MaxAge, Peers: in,
	})
	if err != nil {
		return nil, err
	}
	store, _, err := storage.Open(in.Root(), options)
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(func(ctx context.Context) error { return store.Close(ctx) }))
	return store, nil
}

// fxRoot digs the constructor's error out of dig's wrapping.
func fxRoot(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return dig.RootCause(err)
}

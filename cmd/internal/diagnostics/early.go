package diagnostics

import (
	"context"
	"log/slog"
	"sync"
)

// maxEarly bounds what is kept of the time before there is a log.
const maxEarly = 64

// Early keeps what is logged before the log can be opened: its file is named after something that is made first. The
// zero value is ready. It has no groups and attributes of its own.
type Early struct {
	mu      sync.Mutex
	records []slog.Record
	to      slog.Handler
}

// Enabled implements slog.Handler.
func (e *Early) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (e *Early) Handle(ctx context.Context, r slog.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.to != nil && e.to.Enabled(ctx, r.Level):
		return e.to.Handle(ctx, r)
	case e.to == nil && len(e.records) < maxEarly:
		e.records = append(e.records, r.Clone())
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (e *Early) WithAttrs([]slog.Attr) slog.Handler { return e }

// WithGroup implements slog.Handler.
func (e *Early) WithGroup(string) slog.Handler { return e }

// Warnings are the sentences of the warnings that were kept.
func (e *Early) Warnings() (said []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.records {
		if r.Level >= slog.LevelWarn {
			said = append(said, r.Message)
		}
	}
	return said
}

// To hands over what was kept to log, and from now on everything.
func (e *Early) To(log *slog.Logger) {
	e.mu.Lock()
	kept := e.records
	e.records, e.to = nil, log.Handler()
	e.mu.Unlock()
	for _, r := range kept {
		_ = e.Handle(context.Background(), r)
	}
}

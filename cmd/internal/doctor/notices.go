package doctor

import (
	"context"
	"log/slog"
	"strings"
)

// notices collects what a part of the program warns of while it is examined, for the finding about it.
type notices struct{ said []string }

// Enabled implements slog.Handler.
func (*notices) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (n *notices) Handle(_ context.Context, r slog.Record) error {
	n.said = append(n.said, r.Message)
	return nil
}

// WithAttrs implements slog.Handler; a finding needs the sentence only.
func (n *notices) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup implements slog.Handler.
func (n *notices) WithGroup(string) slog.Handler { return n }

// addTo turns a good finding into a warning that says what was noticed.
func (n *notices) addTo(f Finding) Finding {
	if len(n.said) > 0 {
		f.Verdict, f.Fact = Warn, f.Fact+", but "+strings.Join(n.said, "; ")
	}
	return f
}

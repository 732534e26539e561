package diagnostics

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/krometrail/krometrail/core/redact"
)

// textBytes bounds one message or value of the log.
const textBytes = 2048

// redacting rewrites what a record says before it is written: errors of the operating system name paths, those of
// the browser addresses and text of pages.
type redacting struct{ next slog.Handler }

// Enabled implements slog.Handler.
func (r redacting) Enabled(ctx context.Context, level slog.Level) bool {
	return r.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (r redacting) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, redact.Text(record.Message, textBytes), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(safe(a))
		return true
	})
	return r.next.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (r redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = safe(a)
	}
	return redacting{r.next.WithAttrs(clean)}
}

// WithGroup implements slog.Handler.
func (r redacting) WithGroup(name string) slog.Handler { return redacting{r.next.WithGroup(name)} }

// safe keeps numbers, times and switches. All other values become redacted text; one whose name calls it a secret
// is left out whole.
func safe(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	switch value.Kind() {
	case slog.KindBool, slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindDuration, slog.KindTime:
		return slog.Attr{Key: a.Key, Value: value}
	case slog.KindGroup:
		members := value.Group()
		clean := make([]slog.Attr, len(members))
		for i, member := range members {
			clean[i] = safe(member)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	}
	if redact.SensitiveKey(a.Key) {
		return slog.String(a.Key, "[redacted]")
	}
	return slog.String(a.Key, redact.Text(plain(value), textBytes))
}

// plain is a value as text. fmt keeps the panic of a broken String or Error method inside.
func plain(value slog.Value) string {
	if value.Kind() == slog.KindString {
		return value.String()
	}
	return fmt.Sprint(value.Any())
}

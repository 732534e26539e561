package stdio

import (
	"slices"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// severities from low to high, as the protocol orders them.
func severities() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// logLevel is the least severity that a legacy client wants to see; "error" until it says otherwise.
type logLevel struct{ name atomic.Pointer[string] }

func (l *logLevel) set(name string) { l.name.Store(&name) }

func (l *logLevel) get() string {
	if name := l.name.Load(); name != nil {
		return *name
	}
	return string(mcp.LoggingLevelError)
}

// tell sends a log message about a request to the client, if the client wants messages of this severity: a
// legacy client by logging/setLevel, a modern one in the request itself.
func (c *conn) tell(r *request, severity string, data any) {
	wanted := r.logLevel
	if !r.era.modern {
		wanted = c.level.get()
	}
	all := severities()
	if wanted == "" || slices.Index(all, severity) < slices.Index(all, wanted) {
		return
	}
	line, err := notification("notifications/message", struct {
		Level  string `json:"level"`
		Logger string `json:"logger"`
		Data   any    `json:"data"`
	}{severity, c.loop.name, data})
	if err == nil {
		r.write(line, false)
	}
}

package ffmpeg

import (
	"math"
	"strings"

	"github.com/krometrail/krometrail/core/redact"
)

// tail keeps the last bytes that a process wrote. The end of a log says why a program gave up.
type tail struct {
	max  int
	data []byte
}

// Write implements io.Writer; it never fails, so a talkative process is never held up.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > t.max {
		p = p[len(p)-t.max:]
	}
	if over := len(t.data) + len(p) - t.max; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	t.data = append(t.data, p...)
	return n, nil
}

// head keeps the first bytes that a process wrote and forgets the rest.
type head struct {
	max  int
	data []byte
}

// Write implements io.Writer; it never fails.
func (h *head) Write(p []byte) (int, error) {
	h.data = append(h.data, p[:min(len(p), h.max-len(h.data))]...)
	return len(p), nil
}

// diagnosticBytes bounds what is kept of a process's words.
const diagnosticBytes = 480

// diagnostic returns what may be logged of a process's words: the end of them, in one printable line, without secrets
// and paths.
func diagnostic(raw []byte) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(string(raw), "?"), func(r rune) bool { return r <= ' ' || r == 0x7f })
	// Redaction comes first: a cut could take the name off a secret.
	line := redact.Text(strings.Join(words, " "), math.MaxInt32)
	if over := len(line) - diagnosticBytes; over > 0 {
		line = strings.ToValidUTF8(line[over:], "")
	}
	return line
}

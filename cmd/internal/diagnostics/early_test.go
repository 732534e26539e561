package diagnostics_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/krometrail/krometrail/cmd/internal/diagnostics"
)

func TestWhatIsLoggedBeforeTheLogIsKeptForIt(t *testing.T) {
	early := &diagnostics.Early{}
	before := slog.New(early)
	before.Debug("too fine")
	before.Warn("no directory handles here", "system", "x")
	var out bytes.Buffer
	early.To(slog.New(slog.NewTextHandler(&out, nil)))
	before.Info("later")
	assert.Contains(t, out.String(), "no directory handles here")
	assert.Contains(t, out.String(), "system=x")
	assert.Contains(t, out.String(), "later")
	assert.NotContains(t, out.String(), "too fine")
}

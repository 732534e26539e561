package diagnostics

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type address struct{}

func (address) LogValue() slog.Value {
	return slog.StringValue("https://shop.test/zqsecret?a=zqsecret")
}

func TestNothingSecretReachesTheLog(t *testing.T) {
	dir := t.TempDir()
	log, done, err := Open(dir, "0123", slog.LevelDebug)
	require.NoError(t, err)
	log.Error("open /srv/zqsecret/file: denied", "error", fmt.Errorf("outer: %w", errors.New("Bearer zqsecret")), "count", 7)
	log.With("url", "https://zqsecret.test/a").WithGroup("g").Info("grouped", slog.Group("inner", "text", "password=zqsecret"), "late", address{})
	log.Info("named", "password", "zqsecret", "list", []string{"token: zqsecret"})
	log.Info("long", "text", strings.Repeat("word ", 10_000))
	require.NoError(t, done())

	raw, err := os.ReadFile(filepath.Join(dir, "diagnostics", "0123.log"))
	require.NoError(t, err)
	text := string(raw)
	assert.NotContains(t, text, "zqsecret")
	for _, kept := range []string{"denied", "outer:", "count=7", "grouped", "g.inner.text=", "msg=named"} {
		assert.Contains(t, text, kept)
	}
	assert.Less(t, len(text), 4*textBytes)
}

package doctor

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/cmd/internal/config"
	"github.com/krometrail/krometrail/cmd/internal/diagnostics"
	"github.com/krometrail/krometrail/storage/instance"
)

func TestWhatTheStartWouldWarnOfIsAFinding(t *testing.T) {
	var said diagnostics.Early
	log := slog.New(&said)
	log.Info("an instance was made")
	fine := Finding{Check: "data directory", Verdict: OK, Fact: "it is writable"}
	assert.Equal(t, fine, withNotices(fine, said.Warnings()))
	log.With("system", "x").Warn("the disk budget is not shared")
	assert.Equal(t, Finding{Check: "data directory", Verdict: Warn, Fact: "it is writable, but the disk budget is not shared"}, withNotices(fine, said.Warnings()))
}

func TestTheDataDirectoryIsLeftAsItWas(t *testing.T) {
	dir := t.TempDir()
	f := Doctor{Config: &config.Config{DataDir: dir}}.data()
	assert.Equal(t, OK, f.Verdict, f.Fact)
	left, err := os.ReadDir(filepath.Join(dir, instance.DirName))
	require.NoError(t, err)
	assert.Empty(t, left)
}

package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestEachSourceBeatsTheOnesBelowIt(t *testing.T) {
	c, err := Load(Sources{
		File:  file(t, "tools = \"lean\"\nlog_level = \"debug\"\nretention_max_age_secs = 60\n"),
		Env:   env("KROMETRAIL_LOG_LEVEL", "warn", "KROMETRAIL_RETENTION_MAX_AGE_SECS", "0"),
		Flags: map[string]string{"log_level": "error"},
	})
	require.NoError(t, err)
	assert.Equal(t, "lean", c.Tools)
	assert.Equal(t, "error", c.LogLevel)
	assert.Equal(t, time.Duration(0), c.MaxAge)
	assert.Equal(t, int64(10_000_000_000), c.DiskBudget)
	origins := map[string]string{}
	for _, r := range c.Rows() {
		origins[r.Key] = r.Origin
	}
	assert.Equal(t, "configuration file key tools", origins["tools"])
	assert.Equal(t, "option --log-level", origins["log_level"])
	assert.Equal(t, "environment variable KROMETRAIL_RETENTION_MAX_AGE_SECS", origins["retention_max_age_secs"])
	assert.Equal(t, "default", origins["disk_budget_bytes"])
}

func TestABadValueNamesItsOriginAndNotItself(t *testing.T) {
	for name, src := range map[string]Sources{
		"environment variable KROMETRAIL_SANDBOX":           {Env: env("KROMETRAIL_SANDBOX", "hunter2")},
		"environment variable KROMETRAIL_DISK_BUDGET_BYTES": {Env: env("KROMETRAIL_DISK_BUDGET_BYTES", "hunter2")},
		"environment variable KROMETRAIL_CAPABILITIES":      {Env: env("KROMETRAIL_CAPABILITIES", "control,hunter2")},
		"environment variable KROMETRAIL_DATA_DIR":          {Env: env("KROMETRAIL_DATA_DIR", "")},
		"option --tools":                           {Env: env(), Flags: map[string]string{"tools": "hunter2"}},
		"configuration file key log_level":         {Env: env(), File: file(t, "log_level = \"hunter2\"")},
		"configuration file key tools":             {Env: env(), File: file(t, "tools = 1979-05-27")},
		"the configuration file has a key":         {Env: env(), File: file(t, "hunter2 = 1")},
		"the configuration file is not valid TOML": {Env: env(), File: file(t, "hunter2")},
		"the configuration file cannot be read":    {Env: env(), File: filepath.Join(t.TempDir(), "hunter2")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(src)
			require.Error(t, err)
			assert.Equal(t, fault.InvalidInput, fault.CodeOf(err))
			assert.Contains(t, err.Error(), name)
			assert.NotContains(t, err.Error(), "hunter2")
			assert.NotEmpty(t, fault.From(err).Recovery)
		})
	}
}

func TestAskingForACapabilityNoVersionOffersSaysWhy(t *testing.T) {
	_, err := Load(Sources{Env: env("KROMETRAIL_CAPABILITIES", "page-state")})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "extension point")
}

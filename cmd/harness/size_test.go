package harness_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/cmd/harness"
)

// What the catalogue may cost, all in all.
const (
	fullList  = 55 << 10 // of the serialized list of every tool
	leanList  = 26 << 10 // of the serialized list of the lean set
	leanTools = 32
)

func TestTheCatalogueStaysWithinItsSize(t *testing.T) {
	lean, err := harness.Start(t.Context(), harness.Options{DataDir: t.TempDir(), Settings: map[string]string{"tools": "lean"}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, lean.Stop(t.Context())) }()

	tools, model, list := measure(t, shared.program)
	t.Logf("full: %d tools, %d bytes for the model, %d bytes of tools/list", tools, model, list)
	assert.LessOrEqual(t, list, fullList)

	tools, model, list = measure(t, lean)
	t.Logf("lean: %d tools, %d bytes for the model, %d bytes of tools/list", tools, model, list)
	assert.Equal(t, leanTools, tools)
	assert.LessOrEqual(t, list, leanList)
}

// measure takes a catalogue's size from its list.
func measure(t *testing.T, program *harness.Harness) (count, model, list int) {
	t.Helper()
	tools, err := program.Client.ListTools(t.Context())
	require.NoError(t, err)
	model, list, err = program.Server.Catalogue().Size()
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]any{"tools": []any{}})
	require.NoError(t, err)
	return len(tools), model, list + len(raw) + len(tools) - 1
}

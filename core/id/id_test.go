package id_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/id"
)

func TestNewIdentifiersParseAsTheirKindOnly(t *testing.T) {
	seen := map[id.Frame]bool{}
	for range 2000 {
		f := id.New[id.Frame]()
		require.False(t, seen[f])
		seen[f] = true
		back, err := id.Parse[id.Frame](string(f))
		require.NoError(t, err)
		assert.Equal(t, f, back)
		_, err = id.Parse[id.Target](string(f))
		require.Error(t, err)
	}
}

func TestWrongIdentifiersNameTheExpectedKindAndNotThemselves(t *testing.T) {
	for _, text := range []string{"", "frm_", "tgt_0123456789ab", "frm_0123456789a", "frm_0123456789abc", "frm_0123456789ai", "frm_0123456789AB", "frm-0123456789ab", "frm_012345 789ab"} {
		_, err := id.Parse[id.Frame](text)
		require.Error(t, err, "%q", text)
		assert.Contains(t, err.Error(), "frm_")
		assert.NotContains(t, err.Error(), "789")
	}
}

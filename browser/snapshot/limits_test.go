package snapshot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

func TestAVeryDeepPageIsCutAndSaysSo(t *testing.T) {
	s := browsertest.Page(t, `<button>Top</button><div id=d></div><script>let at = d; for (let i = 0; i < 2000; i++) { const n = document.createElement('div'); at.append(n); at = n; } at.innerHTML = '<button>Bottom</button>'</script>`)
	a, err := snapshot.NewRegistry().Acquire(t.Context(), s, snapshot.Options{Frames: "all", Explore: true})
	require.NoError(t, err)
	assert.Positive(t, a.Sections[0].OmittedNodes)
	lines := strings.Join(a.Concise().Lines(), "\n")
	assert.Contains(t, lines, `button "Top"`)
	assert.Contains(t, lines, "too deep")
}

func TestADocumentAboveTheLimitFailsWithIt(t *testing.T) {
	s := browsertest.Page(t, `<main id=m></main><script>m.innerHTML = '<hr>'.repeat(50100)</script>`)
	_, err := snapshot.NewRegistry().Acquire(t.Context(), s, snapshot.Options{Frames: "all"})
	assert.Equal(t, fault.ResourceLimitExceeded, fault.CodeOf(err))
	limit := fault.From(err).Limit
	require.NotNil(t, limit)
	assert.EqualValues(t, core.MaxDocumentNodes, limit.Limit)
	assert.Greater(t, limit.Actual, limit.Limit)
	assert.NotEmpty(t, fault.From(err).Recovery)
}

package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/page"
)

// An empty page that something has used is not taken for another purpose.
func TestAUsedFirstPageIsLeftAlone(t *testing.T) {
	b := newBench(t)
	_, err := b.EnsureStarted(t.Context())
	require.NoError(t, err)
	first := b.Selected()
	_, err = b.Navigate(t.Context(), &page.NavigateRequest{URL: "about:blank"}, nothing)
	require.NoError(t, err)
	opened, err := b.Open(t.Context(), page.OpenRequest{})
	require.NoError(t, err)
	assert.NotEqual(t, first, opened.Target)
	again, err := b.Open(t.Context(), page.OpenRequest{})
	require.NoError(t, err)
	assert.NotEqual(t, opened.Target, again.Target)
}

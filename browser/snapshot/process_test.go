package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
)

// A failed navigation shows its error in another renderer process, and so may the next page. Numbers of execution
// contexts come again there; what is read is the page that is shown.
func TestAPageIsReadAfterEachChangeOfItsProcess(t *testing.T) {
	b := browsertest.Start(t)
	url := b.URL(`<button>Go</button>`)
	s := browsertest.Page(t, url)
	registry := snapshot.NewRegistry()
	visit := func(to string) {
		t.Helper()
		before, _ := s.Navigation()
		_ = s.Send(t.Context(), "Page.navigate", map[string]any{"url": to}, nil)
		_, err := s.AwaitNavigation(t.Context(), func(n page.Navigation) bool { return n.ID != before.ID && n.Ended() })
		require.NoError(t, err)
	}
	for range 3 {
		visit("http://127.0.0.1:9/")
		_, err := registry.Acquire(t.Context(), s, snapshot.Options{Frames: "all"})
		require.NoError(t, err)
		visit(url)
		got, err := registry.Acquire(t.Context(), s, snapshot.Options{Frames: "all"})
		require.NoError(t, err)
		assert.Equal(t, 1, got.Targets())
		visit(browsertest.CrossSite(url))
		got, err = registry.Acquire(t.Context(), s, snapshot.Options{Frames: "all"})
		require.NoError(t, err)
		assert.Equal(t, 1, got.Targets())
	}
}

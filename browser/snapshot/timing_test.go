package snapshot_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/snapshot"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/require"
)

func TestTiming(t *testing.T) {
	raw, err := os.ReadFile("testdata/21-huge-page.html")
	require.NoError(t, err)
	s := browsertest.Page(t, string(raw))
	r := snapshot.NewRegistry()
	for i := range 4 {
		at := time.Now()
		_, err := r.Acquire(t.Context(), s, snapshot.Options{Frames: "all", Explore: i == 2})
		require.NoError(t, err)
		fmt.Println("acquire", i == 2, time.Since(at))
	}
	d, _ := r.Document(t.Context(), s, "")
	for _, sem := range []bool{false, true} {
		var out struct{ Ms, Json float64 }
		at := time.Now()
		require.NoError(t, d.Call(t.Context(), &out, "time", map[string]any{"nodes": 60000, "text": 8 << 20, "semantic": sem, "serials": sem}))
		fmt.Println("walk in page", sem, out, time.Since(at))
	}
	q, _ := core.ParseQuery(`name="Checkout basket"`)
	at := time.Now()
	_, err = r.Query(t.Context(), d, q, 20)
	require.NoError(t, err)
	fmt.Println("query", time.Since(at))
	q, _ = core.ParseQuery(`text="Checkout basket"`)
	at = time.Now()
	_, err = r.Query(t.Context(), d, q, 20)
	require.NoError(t, err)
	fmt.Println("query sem", time.Since(at))
}

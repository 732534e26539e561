package snapshot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/stretchr/testify/require"
)

// sized is a page of about n elements: rows of text, a link and a button.
func sized(n int) string {
	return fmt.Sprintf(`<!doctype html><title>sized</title><main id=m></main><script>let h='';for(let i=0;i<%d;i++)h+='<div><span>Item '+i+'</span> <a href="#'+i+'">View '+i+'</a> <button>Add '+i+'</button></div>';m.innerHTML=h</script>`, n/4)
}

// taskTime is the renderer's main-thread time in seconds since it began.
func taskTime(b *testing.B, s *page.Session) float64 {
	b.Helper()
	var reply struct {
		Metrics []struct {
			Name  string  `json:"name"`
			Value float64 `json:"value"`
		} `json:"metrics"`
	}
	require.NoError(b, s.Send(b.Context(), "Performance.getMetrics", nil, &reply))
	for _, m := range reply.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	b.Fatal("the browser reports no TaskDuration")
	return 0
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{100, 1_000, 5_000, 50_000} {
		b.Run(fmt.Sprintf("elements=%d", n), func(b *testing.B) {
			s := browsertest.Page(b, sized(n))
			require.NoError(b, s.Send(b.Context(), "Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil))
			r := snapshot.NewRegistry()
			acquire := func(o snapshot.Options) snapshot.Acquired {
				a, err := r.Acquire(b.Context(), s, o)
				require.NoError(b, err)
				return a
			}
			a := acquire(snapshot.Options{Frames: "all", Explore: true})
			concise := strings.Join(a.Concise().Lines(), "\n")
			measure := func(f func()) float64 {
				before := taskTime(b, s)
				f()
				return (taskTime(b, s) - before) * 1000
			}
			var after, explicit, tree float64
			for b.Loop() {
				after += measure(func() { acquire(snapshot.Options{Frames: "all"}) })
				explicit += measure(func() { acquire(snapshot.Options{Frames: "all", Explore: true}) })
				if n > 5_000 {
					continue // the tree of such a page takes minutes
				}
				tree += measure(func() {
					var reply json.RawMessage
					require.NoError(b, s.SendWithin(b.Context(), browsertest.Limit, "Accessibility.getFullAXTree", map[string]any{}, &reply))
				})
			}
			count := float64(b.N)
			b.ReportMetric(float64(len(concise)), "concise-bytes")
			b.ReportMetric(after/count, "post-action-renderer-ms")
			b.ReportMetric(explicit/count, "explicit-renderer-ms")
			if tree > 0 {
				b.ReportMetric(tree/count, "tree-renderer-ms")
				b.ReportMetric(explicit/tree, "of-tree")
			}
		})
	}
}

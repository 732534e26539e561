package snapshot_test

import (
	"fmt"
	"os"
	"sort"
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/stretchr/testify/require"
)

func TestProf(t *testing.T) {
	raw, err := os.ReadFile("testdata/21-huge-page.html")
	require.NoError(t, err)
	s := browsertest.Page(t, string(raw))
	r := snapshot.NewRegistry()
	_, err = r.Acquire(t.Context(), s, snapshot.Options{Frames: "all"})
	require.NoError(t, err)
	require.NoError(t, s.Send(t.Context(), "Profiler.enable", nil, nil))
	require.NoError(t, s.Send(t.Context(), "Profiler.start", nil, nil))
	_, err = r.Acquire(t.Context(), s, snapshot.Options{Frames: "all"})
	require.NoError(t, err)
	var out struct {
		Profile struct {
			Nodes []struct {
				ID        int `json:"id"`
				CallFrame struct {
					FunctionName string `json:"functionName"`
					Line         int    `json:"lineNumber"`
				} `json:"callFrame"`
				HitCount      int `json:"hitCount"`
				PositionTicks []struct {
					Line  int `json:"line"`
					Ticks int `json:"ticks"`
				} `json:"positionTicks"`
			} `json:"nodes"`
		} `json:"profile"`
	}
	require.NoError(t, s.SendWithin(t.Context(), 20e9, "Profiler.stop", nil, &out))
	lines := map[string]int{}
	for _, n := range out.Profile.Nodes {
		for _, p := range n.PositionTicks {
			lines[fmt.Sprintf("%s:%d", n.CallFrame.FunctionName, p.Line)] += p.Ticks
		}
		if len(n.PositionTicks) == 0 {
			lines[n.CallFrame.FunctionName] += n.HitCount
		}
	}
	keys := []string{}
	for k := range lines {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return lines[keys[i]] > lines[keys[j]] })
	for _, k := range keys[:25] {
		fmt.Println(lines[k], k)
	}
}

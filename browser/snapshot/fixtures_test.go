package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/stretchr/testify/require"
)

func TestDump(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.html")
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		t.Run(f, func(t *testing.T) {
			s := browsertest.Page(t, string(raw))
			if d, _ := s.Dialog(); d != nil {
				return
			}
			r := snapshot.NewRegistry()
			a, err := r.Acquire(t.Context(), s, snapshot.Options{Frames: "all", Explore: true})
			require.NoError(t, err)
			fmt.Println(f, a.Title, a.URL)
			if len(a.Sections[0].Nodes) < 200 {
				fmt.Println(strings.Join(a.Full().Lines(), "\n"))
			} else {
				fmt.Println(strings.Join(a.Concise().Lines(), "\n"))
			}
		})
	}
}

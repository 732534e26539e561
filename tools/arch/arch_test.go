package arch

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/krometrail/krometrail/tools/workspace"
)

var update = flag.Bool("update", false, "rewrite the findings that the archives in testdata want")

// The repository itself keeps every rule.
func TestThisRepository(t *testing.T) {
	dir, err := os.Getwd()
	require.NoError(t, err)
	root, err := workspace.Find(dir)
	require.NoError(t, err)
	for _, line := range check(t, root) {
		t.Error(line)
	}
}

// Each archive in testdata is a small workspace whose file "want" lists exactly the findings it must give. Files that
// every workspace needs come from base.txtar unless the archive brings its own.
func TestEveryRuleBites(t *testing.T) {
	base, err := txtar.ParseFile("testdata/base.txtar")
	require.NoError(t, err)
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			require.NoError(t, err)
			root := t.TempDir()
			var want string
			for _, f := range append(base.Files, archive.Files...) {
				if f.Name == "want" {
					want = strings.TrimSpace(string(f.Data))
					continue
				}
				write(t, filepath.Join(root, f.Name), f.Data)
			}
			got := strings.Join(check(t, root), "\n")
			if *update {
				rewrite(t, name, archive, got)
				return
			}
			assert.Equal(t, want, got)
		})
	}
}

// A limit is checked at its edge: the archives would be long to read.
func TestLengthLimits(t *testing.T) {
	base, err := txtar.ParseFile("testdata/base.txtar")
	require.NoError(t, err)
	root := t.TempDir()
	for _, f := range base.Files {
		write(t, filepath.Join(root, f.Name), f.Data)
	}
	function := func(name string, lines int) string {
		return "func " + name + "() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n"
	}
	file := func(lines int) []byte {
		return []byte("package core\n" + strings.Repeat("\n", lines-1))
	}
	write(t, filepath.Join(root, "core/functions.go"), []byte("package core\n\n"+function("fits", 80)+"\n"+function("tooLong", 81)))
	write(t, filepath.Join(root, "core/fits.go"), file(600))
	write(t, filepath.Join(root, "core/long.go"), file(601))
	write(t, filepath.Join(root, "core/x_test.go"), []byte("package core\n\n"+function("inATest", 200)))
	assert.Equal(t, []string{
		"file-length: core/long.go: 601 lines, the limit is 600",
		"func-length: core/functions.go:84: tooLong has 81 lines, the limit is 80",
	}, check(t, root))
}

func check(t *testing.T, root string) []string {
	t.Helper()
	ws, err := workspace.Load(root)
	require.NoError(t, err)
	findings, err := Check(ws)
	require.NoError(t, err)
	lines := []string{}
	for _, f := range findings {
		lines = append(lines, f.String())
	}
	return lines
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, want string) {
	t.Helper()
	for i, f := range archive.Files {
		if f.Name == "want" {
			archive.Files[i].Data = []byte(want + "\n")
		}
	}
	require.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o644))
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, data, 0o644))
}

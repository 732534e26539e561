package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/tools/workspace"
)

const prefix = workspace.Prefix

// files is a small repository: what each module requires, and the changelogs, are all that a release looks at.
func files() map[string]string {
	gomod := func(dir string, requires ...string) string {
		text := "module " + prefix + dir + "\n\ngo 1.26.0\n"
		for _, r := range requires {
			text += "\nrequire " + prefix + r + "\n"
		}
		return text
	}
	return map[string]string{
		"go.work": "go 1.26.0\n\nuse (\n\t./cmd\n\t./core\n\t./temporal\n\t./tools\n\t./visual\n)\n",
		"versions.yaml": "module-sets:\n" +
			"  visual: {version: v1.2.0, modules: [" + prefix + "visual]}\n" +
			"  core: {version: v0.1.0, modules: [" + prefix + "core]}\n" +
			"  app: {version: v0.1.0, modules: [" + prefix + "temporal, " + prefix + "cmd]}\n" +
			"excluded-modules: [" + prefix + "tools]\n",
		"visual/go.mod":       gomod("visual"),
		"visual/visual.go":    "package visual\n",
		"visual/CHANGELOG.md": "# Changelog\n\n## v1.2.0 (today)\n",
		"core/go.mod":         gomod("core"),
		"core/core.go":        "package core\n",
		"temporal/go.mod":     gomod("temporal", "core v0.1.0", "visual v1.2.0"),
		"cmd/go.mod":          gomod("cmd", "temporal v0.1.0", "core v0.1.0"),
		"cmd/cmd.go":          "package cmd\n\nimport _ \"" + prefix + "core\"\n",
		"tools/go.mod":        gomod("tools"),
		"CHANGELOG.md":        "# Changelog\n\n## app v0.1.0\n\n## core v0.1.0\n",
	}
}

func load(t *testing.T, files map[string]string) *workspace.Workspace {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	ws, err := workspace.Load(root)
	require.NoError(t, err)
	return ws
}

func TestVerify(t *testing.T) {
	replace := func(name, old, now string) func(map[string]string) {
		return func(f map[string]string) { f[name] = strings.ReplaceAll(f[name], old, now) }
	}
	for _, c := range []struct {
		name   string
		change func(map[string]string)
		tags   []string
		want   string
	}{
		{name: "ready", tags: []string{"core/v0.0.9"}},
		{name: "tag exists", tags: []string{"core/v0.1.0"}, want: "core: the tag core/v0.1.0 exists; raise the version"},
		{
			name: "sibling behind", change: replace("cmd/go.mod", "core v0.1.0", "core v0.0.9"),
			want: "cmd: requires core v0.0.9, versions.yaml says v0.1.0",
		},
		{
			name: "stable on unstable", change: replace("visual/go.mod", "go 1.26.0", "go 1.26.0\n\nrequire "+prefix+"core v0.1.0"),
			want: "visual: v1.2.0 is stable but requires core v0.1.0",
		},
		{
			name: "on the unreleased", change: replace("core/go.mod", "go 1.26.0", "go 1.26.0\n\nrequire "+prefix+"tools v0.1.0"),
			want: "core: requires tools, which is not released",
		},
		{
			name: "in no set", change: replace("versions.yaml", prefix+"temporal, ", ""),
			want: "temporal: in the sets [], must be in exactly one\ncmd: requires temporal, which is not released",
		},
		{
			name: "not a version", change: replace("versions.yaml", "v1.2.0", "1.2"),
			want: "visual: \"1.2\" is not a version vX.Y.Z\ntemporal: requires visual v1.2.0, versions.yaml says 1.2\n" +
				"visual/CHANGELOG.md: has no section \"## 1.2\"",
		},
		{
			name: "no changelog", change: replace("CHANGELOG.md", "## core v0.1.0", "## core v0.1.0-rc.1"),
			want: "CHANGELOG.md: has no section \"## core v0.1.0\"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := files()
			if c.change != nil {
				c.change(f)
			}
			var out strings.Builder
			err := verify(load(t, f), func(string) ([]string, error) { return c.tags, nil }, &out)
			if c.want == "" {
				require.NoError(t, err, out.String())
				return
			}
			require.Error(t, err)
			assert.Equal(t, c.want, strings.TrimSpace(out.String()))
		})
	}
}

func TestTagsFollowTheRequirements(t *testing.T) {
	var out strings.Builder
	require.NoError(t, printTags(load(t, files()), &out))
	assert.Equal(t, `git tag -a core/v0.1.0 -m 'core v0.1.0'
git tag -a visual/v1.2.0 -m 'visual v1.2.0'
git tag -a temporal/v0.1.0 -m 'temporal v0.1.0'
# push the tags above, then: cd cmd && GOWORK=off go mod tidy, and commit before the next line
git tag -a cmd/v0.1.0 -m 'cmd v0.1.0'
`, out.String())
}

func TestTagsRefuseACycle(t *testing.T) {
	f := files()
	f["core/go.mod"] += "\nrequire " + prefix + "temporal v0.1.0\n"
	require.ErrorContains(t, printTags(load(t, f), &strings.Builder{}), "require each other")
}

func TestTidyCmd(t *testing.T) {
	ws := load(t, files())
	sum := prefix + "core v0.1.0 h1:x\n"
	require.NoError(t, os.WriteFile(filepath.Join(ws.Root, "cmd", "go.sum"), []byte(sum), 0o644))

	var out strings.Builder
	require.ErrorIs(t, tidyCmd(ws, true, &out), errUntidy)
	assert.Contains(t, out.String(), "temporal v0.1.0", "nothing imports it")

	require.NoError(t, tidyCmd(ws, false, &out))
	got, err := readModule(filepath.Join(ws.Root, "cmd"))
	require.NoError(t, err)
	assert.Equal(t, "module "+prefix+"cmd\n\ngo 1.26.0\n\nrequire "+prefix+"core v0.1.0\n", string(got.mod), "no replace is left")
	assert.Equal(t, sum, string(got.sum), "the hashes of tagged siblings stay")
	require.NoError(t, tidyCmd(ws, true, &out), "tidy now")
}

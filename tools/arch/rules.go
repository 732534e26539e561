package arch

import (
	"path"
	"slices"
	"strings"

	"github.com/krometrail/krometrail/tools/workspace"
)

// rule says what one module may see.
type rule struct {
	// ours are the folders of this repository it may import, beside itself.
	ours []string
	// third are the import-path prefixes of third parties it may import.
	third []string
	// free lifts the third-party list: a module that is never released, or the root that composes all.
	free bool
	// cgo allows C below this module.
	cgo bool
}

// ruleOf is the import table. A folder that is not in it may import nothing.
func ruleOf(dir string) rule {
	switch dir {
	case "core":
		return rule{}
	case "visual":
		return rule{third: []string{"golang.org/x/image"}}
	case "temporal":
		return rule{ours: []string{"core", "visual"}, third: []string{"golang.org/x/sync"}}
	case "browser":
		return rule{ours: []string{"core"}, third: []string{
			"github.com/coder/websocket", "github.com/chromedp/cdproto", "golang.org/x/sys",
			"github.com/go-json-experiment/json", // what cdproto's types are encoded with
		}}
	case "storage":
		return rule{ours: []string{"core"}, cgo: true, third: []string{
			"github.com/mattn/go-sqlite3", "github.com/gofrs/flock", "golang.org/x/sys",
		}}
	case "mcp":
		return rule{ours: []string{"core"}, third: []string{
			"github.com/mark3labs/mcp-go", "github.com/google/jsonschema-go", "github.com/santhosh-tekuri/jsonschema",
		}}
	case "cmd":
		return rule{ours: []string{"core", "visual", "temporal", "browser", "storage", "mcp"}, cgo: true, third: []string{
			"go.uber.org/fx", "go.uber.org/dig", "github.com/alecthomas/kong", "github.com/adrg/xdg", "github.com/BurntSushi/toml",
			"gopkg.in/natefinch/lumberjack.v2", "golang.org/x/sys",
		}}
	case "tools":
		return rule{ours: []string{"core", "visual", "temporal", "browser", "storage", "mcp", "cmd"}, cgo: true, free: true}
	default:
		return rule{}
	}
}

// testThird is what tests and test-support packages of any module may import as well.
func testThird() []string {
	return []string{
		"github.com/stretchr/testify", "go.uber.org/goleak", "pgregory.net/rapid", "golang.org/x/tools/txtar",
		"github.com/santhosh-tekuri/jsonschema",
	}
}

// owners are the third parties that only one module may reach, even through others: the technology is replaceable
// because one adapter alone knows it.
func owners() map[string][]string {
	return map[string][]string{
		"go.uber.org/fx":                {"cmd"},
		"github.com/mattn/go-sqlite3":   {"storage", "cmd"},
		"github.com/gofrs/flock":        {"storage", "cmd"},
		"github.com/chromedp/cdproto":   {"browser", "cmd"},
		"github.com/coder/websocket":    {"browser", "cmd"},
		"github.com/go-json-experiment": {"browser", "cmd"},
		"github.com/mark3labs/mcp-go":   {"mcp", "cmd"},
		"github.com/stretchr/testify":   {},
		"go.uber.org/goleak":            {},
		"pgregory.net/rapid":            {},
		"github.com/alecthomas/kong":    {"cmd"},
		"github.com/BurntSushi/toml":    {"cmd"},
		"gopkg.in/natefinch/lumberjack": {"cmd"},
	}
}

// ffmpegAdapter drives an external process; the composition root alone may plug it in.
const ffmpegAdapter = workspace.Prefix + "temporal/ffmpeg"

// clockPackage is the one place that may ask the operating system for the time.
const clockPackage = workspace.Prefix + "core/clock"

// folderOf returns the module folder of an import path of this repository.
func folderOf(importPath string) (string, bool) {
	rest, ok := strings.CutPrefix(importPath, workspace.Prefix)
	if !ok {
		return "", false
	}
	dir, _, _ := strings.Cut(rest, "/")
	return dir, true
}

// testSupport tells a package of test doubles: one named <x>test, or the harness that starts the program for tests.
func testSupport(importPath string) bool {
	base := path.Base(importPath)
	return strings.HasSuffix(base, "test") || strings.HasPrefix(importPath, workspace.Prefix+"cmd/harness")
}

func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// under reports whether importPath is one of the prefixes or a package below it. A prefix also covers later major
// versions, which add "/v2" or ".v2".
func under(importPath string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		rest, ok := strings.CutPrefix(importPath, p)
		return ok && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, ".v"))
	})
}

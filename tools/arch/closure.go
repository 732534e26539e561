package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"

	"github.com/krometrail/krometrail/tools/workspace"
)

// listed is the part of `go list -json` that is needed.
type listed struct {
	ImportPath string
	Standard   bool
	CgoFiles   []string
	Imports    []string
}

// checkClosure judges what each module reaches through others, which no single import line shows.
func checkClosure(ws *workspace.Workspace) ([]Finding, error) {
	packages, err := list(ws)
	if err != nil {
		return nil, err
	}
	seen := map[Finding]bool{}
	for _, m := range ws.Modules {
		allowed := ruleOf(m.Dir)
		if allowed.free {
			continue
		}
		for path := range reach(packages, m.Dir) {
			for _, f := range judgeReached(m.Dir, allowed, packages[path]) {
				seen[f] = true
			}
		}
	}
	return slices.Collect(maps.Keys(seen)), nil
}

// reach returns the import paths of a module's production packages and of all they import.
func reach(packages map[string]listed, module string) map[string]bool {
	var todo []string
	for path := range packages {
		if dir, ours := folderOf(path); ours && dir == module && !testSupport(path) {
			todo = append(todo, path)
		}
	}
	reached := map[string]bool{}
	for len(todo) > 0 {
		path := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[path] {
			continue
		}
		reached[path] = true
		todo = append(todo, packages[path].Imports...)
	}
	return reached
}

func judgeReached(module string, allowed rule, p listed) []Finding {
	if p.Standard || p.ImportPath == "" {
		return nil
	}
	var findings []Finding
	if len(p.CgoFiles) > 0 && !allowed.cgo {
		findings = append(findings, Finding{"reaches-cgo", module, "needs C through " + p.ImportPath})
	}
	if dir, ours := folderOf(p.ImportPath); ours {
		if dir != module && !slices.Contains(allowed.ours, dir) {
			findings = append(findings, Finding{"reaches", module, "reaches " + dir + " through its imports"})
		}
		return findings
	}
	for third, modules := range owners() {
		if under(p.ImportPath, []string{third}) && !slices.Contains(modules, module) {
			findings = append(findings, Finding{"reaches", module, "reaches " + third + " through its imports"})
		}
	}
	if !reachable(module, p.ImportPath) {
		findings = append(findings, Finding{"reaches", module, "reaches " + p.ImportPath + ", must stay on the standard library"})
	}
	return findings
}

// reachable holds the strict promise of the two foundations: core stands on the standard library, visual on that and on
// what the x/image fonts need.
func reachable(module, importPath string) bool {
	switch module {
	case "core":
		return false
	case "visual":
		return under(importPath, []string{"golang.org/x/image", "golang.org/x/text", "golang.org/x/sys"})
	default:
		return true
	}
}

// list loads the production code of all modules and everything it imports, with cgo switched on.
func list(ws *workspace.Workspace) (map[string]listed, error) {
	args := []string{"list", "-e", "-deps", "-json=ImportPath,Standard,CgoFiles,Imports"}
	for _, m := range ws.Modules {
		args = append(args, "./"+m.Dir+"/...")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = ws.Root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOWORK=")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, problems.Bytes())
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(&out); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages[p.ImportPath] = p
	}
}

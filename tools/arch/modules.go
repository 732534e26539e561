package arch

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/krometrail/krometrail/tools/workspace"
)

// checkModuleFiles holds the rules of go.work, go.mod and versions.yaml.
func checkModuleFiles(ws *workspace.Workspace) []Finding {
	findings := checkWork(ws)
	for _, m := range ws.Modules {
		findings = append(findings, checkLanguage(m)...)
		findings = append(findings, checkReplaces(m)...)
		findings = append(findings, checkRequires(ws, m)...)
		if sets := ws.Versions.SetsOf(m.Dir); len(sets) != 1 {
			findings = append(findings, Finding{"version-set", m.Dir + "/go.mod", fmt.Sprintf(
				"is in the sets %v of versions.yaml, must be in exactly one", sets)})
		}
	}
	return findings
}

func checkWork(ws *workspace.Workspace) []Finding {
	var findings []Finding
	if ws.Work.Toolchain != nil {
		findings = append(findings, toolchain("go.work"))
	}
	var used []string
	for _, u := range ws.Work.Use {
		used = append(used, filepath.ToSlash(filepath.Clean(u.Path)))
	}
	for _, m := range ws.Modules {
		if !slices.Contains(used, m.Dir) {
			findings = append(findings, Finding{"go-work", "go.work", "does not list " + m.Dir})
		}
		if m.Path != workspace.Prefix+m.Dir {
			findings = append(findings, Finding{"module-path", m.Dir + "/go.mod", "is " + m.Path + ", must be " + workspace.Prefix + m.Dir})
		}
	}
	return findings
}

func toolchain(file string) Finding {
	return Finding{"toolchain", file, "a toolchain line locks out users on an earlier patch release"}
}

func checkLanguage(m workspace.Module) []Finding {
	file := m.Dir + "/go.mod"
	var findings []Finding
	if m.File.Toolchain != nil {
		findings = append(findings, toolchain(file))
	}
	if m.File.Go == nil || !strings.HasSuffix(m.File.Go.Version, ".0") {
		findings = append(findings, Finding{"go-version", file, "the go line must name a first release (1.N.0), or users on an earlier patch are locked out"})
	}
	return findings
}

// checkReplaces: a library replaces exactly the siblings it requires, by ../folder, so that it stands without the
// workspace; cmd replaces nothing, or it could not be installed by path@version.
func checkReplaces(m workspace.Module) []Finding {
	file := m.Dir + "/go.mod"
	var findings []Finding
	replaced := map[string]bool{}
	for _, r := range m.File.Replace {
		dir, ours := folderOf(r.Old.Path)
		switch {
		case m.Dir == "cmd":
			findings = append(findings, Finding{"replace", file, "cmd must not replace " + r.Old.Path + ": it is installed by path@version"})
		case !ours || r.Old.Version != "" || r.New.Path != "../"+dir || r.New.Version != "":
			findings = append(findings, Finding{"replace", file, "replaces " + r.Old.Path + "; only siblings by ../folder may be replaced"})
		default:
			replaced[dir] = true
		}
	}
	if m.Dir == "cmd" {
		return findings
	}
	for dir := range m.Siblings() {
		if !replaced[dir] {
			findings = append(findings, Finding{"replace", file, "requires " + dir + " without replacing it by ../" + dir})
		}
	}
	return findings
}

func checkRequires(ws *workspace.Workspace, m workspace.Module) []Finding {
	file := m.Dir + "/go.mod"
	var findings []Finding
	allowed := ruleOf(m.Dir)
	for dir, version := range m.Siblings() {
		want, released := ws.Versions.Of(dir)
		switch {
		case !slices.Contains(allowed.ours, dir):
			findings = append(findings, Finding{"require", file, "must not require " + dir})
		case !released:
			findings = append(findings, Finding{"require", file, "requires " + dir + ", which is never released"})
		case version != want:
			findings = append(findings, Finding{"require", file, fmt.Sprintf("requires %s %s, versions.yaml says %s", dir, version, want)})
		}
	}
	return append(findings, checkThirdRequires(m, allowed)...)
}

func checkThirdRequires(m workspace.Module, allowed rule) []Finding {
	if allowed.free {
		return nil
	}
	var findings []Finding
	for _, r := range m.File.Require {
		if _, ours := folderOf(r.Mod.Path); ours || r.Indirect || allowedThird(r, allowed) {
			continue
		}
		findings = append(findings, Finding{"require", m.Dir + "/go.mod", "must not require " + r.Mod.Path})
	}
	return findings
}

// allowedThird compares by module, so a permitted package path may lie below the required module's path.
func allowedThird(r *modfile.Require, allowed rule) bool {
	permitted := slices.Concat(allowed.third, testThird())
	return under(r.Mod.Path, permitted) || slices.ContainsFunc(permitted, func(p string) bool {
		return strings.HasPrefix(p, r.Mod.Path+"/")
	})
}

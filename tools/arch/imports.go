package arch

import (
	"slices"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// checkImports judges every import line on its own.
func checkImports(t *tree) []Finding {
	var findings []Finding
	for _, s := range t.files {
		for _, spec := range s.ast.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser has accepted it, so this cannot be
			}
			if name, what := judgeImport(s, importPath); name != "" {
				findings = append(findings, Finding{name, s.at(spec.Pos()), what})
			}
		}
	}
	return findings
}

// judgeImport returns the rule that importing importPath from s breaks, if any, and what to say.
func judgeImport(s source, importPath string) (name, what string) {
	allowed := ruleOf(s.module)
	dir, ours := folderOf(importPath)
	switch {
	case importPath == "C":
		if !allowed.cgo {
			return "cgo", "only storage may use C"
		}
	case importPath == "testing" && !s.test && s.module != "tools":
		return "test-code", "test helpers live in a package named <x>test"
	case isStandard(importPath):
	case ours:
		return judgeOurs(s, allowed, dir, importPath)
	case allowed.free || under(importPath, allowed.third) || s.test && under(importPath, testThird()):
	case under(importPath, []string{"go.uber.org/fx"}):
		return "fx", "only the composition root in cmd knows fx; expose plain constructors"
	case under(importPath, testThird()):
		return "test-code", importPath + " is for tests only"
	default:
		return "third-party", s.module + " may not import " + importPath
	}
	return "", ""
}

func judgeOurs(s source, allowed rule, dir, importPath string) (name, what string) {
	switch {
	case dir == "cmd" && s.module != "cmd" && s.module != "tools":
		return "cmd", "nothing imports the composition root"
	case dir == "tools" && s.module != "tools":
		return "imports", "tools is never released and never imported"
	case dir != s.module && !slices.Contains(allowed.ours, dir):
		return "imports", s.module + " may not import " + dir
	case under(importPath, []string{ffmpegAdapter}) && s.module != "cmd" && !under(s.pkg, []string{ffmpegAdapter}):
		return "ffmpeg", "temporal/ffmpeg starts a process; only cmd plugs it in"
	case !s.test && testSupport(importPath) && s.module != "tools":
		return "test-code", "production code imports the test double " + importPath
	}
	return "", ""
}

package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// Hard limits of the source. They are stops, not goals: a file is good at 150 lines, a function at 12.
const (
	maxFileLines = 600
	maxFuncLines = 80
	maxMethods   = 5
)

// checkSource holds the limits that one file shows.
func checkSource(t *tree) []Finding {
	var findings []Finding
	documented := map[string]bool{}
	first := map[string]source{}
	for _, s := range t.files {
		if ast.IsGenerated(s.ast) {
			continue
		}
		if lines := s.set.File(s.ast.Pos()).LineCount(); lines > maxFileLines {
			findings = append(findings, Finding{"file-length", s.file, fmt.Sprintf("%d lines, the limit is %d", lines, maxFileLines)})
		}
		findings = append(findings, checkCalls(s)...)
		if s.onlyTest {
			continue
		}
		if _, ok := first[s.pkg]; !ok {
			first[s.pkg] = s
		}
		documented[s.pkg] = documented[s.pkg] || s.ast.Doc != nil
		findings = append(findings, checkDeclarations(s)...)
	}
	for pkg, s := range first {
		if !documented[pkg] {
			findings = append(findings, Finding{"package-doc", s.file, "the package has no comment that says what it is"})
		}
	}
	return findings
}

func checkDeclarations(s source) []Finding {
	var findings []Finding
	for _, decl := range s.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			findings = append(findings, checkFunc(s, d)...)
		case *ast.GenDecl:
			findings = append(findings, checkGroup(s, d)...)
		}
	}
	return findings
}

func checkFunc(s source, d *ast.FuncDecl) []Finding {
	var findings []Finding
	name := d.Name.Name
	if d.Body != nil && !s.test {
		from, to := s.set.Position(d.Pos()).Line, s.set.Position(d.End()).Line
		if lines := to - from + 1; lines > maxFuncLines {
			findings = append(findings, Finding{"func-length", s.at(d.Pos()), fmt.Sprintf("%s has %d lines, the limit is %d", name, lines, maxFuncLines)})
		}
	}
	if d.Recv == nil && name == "init" {
		findings = append(findings, Finding{"init", s.at(d.Pos()), "init hides an order; pass what is needed to a constructor"})
	}
	if d.Doc == nil && d.Name.IsExported() && receiverExported(d) && !wellKnown(d) {
		findings = append(findings, undocumented(s, d.Name))
	}
	return findings
}

func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// wellKnown tells the methods whose meaning the standard library has fixed.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{
		"Error", "Unwrap", "Is", "As", "String", "Len", "Less", "Swap", "Push", "Pop", "Read", "Write", "Close", "ServeHTTP",
		"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText",
	}, d.Name.Name)
}

func undocumented(s source, name *ast.Ident) Finding {
	return Finding{"undocumented", s.at(name.Pos()), name.Name + " is exported and has no comment"}
}

// checkGroup: a comment on a const or var group speaks for its members; a type needs its own.
func checkGroup(s source, d *ast.GenDecl) []Finding {
	var findings []Finding
	for _, spec := range d.Specs {
		switch x := spec.(type) {
		case *ast.TypeSpec:
			if x.Name.IsExported() && x.Doc == nil && (d.Doc == nil || len(d.Specs) > 1) {
				findings = append(findings, undocumented(s, x.Name))
			}
			if body, ok := x.Type.(*ast.InterfaceType); ok && !s.test {
				findings = append(findings, checkInterface(s, x.Name, body)...)
			}
		case *ast.ValueSpec:
			if d.Doc != nil || x.Doc != nil || x.Comment != nil {
				continue
			}
			for _, name := range x.Names {
				if name.IsExported() {
					findings = append(findings, undocumented(s, name))
				}
			}
		}
	}
	return findings
}

// checkInterface counts methods; an embedded interface counts as one, since it has passed this check itself.
func checkInterface(s source, name *ast.Ident, body *ast.InterfaceType) []Finding {
	n := 0
	for _, m := range body.Methods.List {
		n += max(1, len(m.Names))
	}
	if n <= maxMethods {
		return nil
	}
	return []Finding{{"interface-size", s.at(name.Pos()), fmt.Sprintf(
		"%s has %d methods, the limit is %d: split it by consumer", name.Name, n, maxMethods)}}
}

// checkCalls holds the bans on packages' functions: time through the clock port, the environment and the terminal in cmd.
func checkCalls(s source) []Finding {
	names := imported(s)
	var findings []Finding
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok {
			if name, what := judgeCall(s, names[x.Name], sel.Sel.Name); name != "" {
				findings = append(findings, Finding{name, s.at(sel.Pos()), what})
			}
		}
		return true
	})
	return findings
}

// imported maps the names a file uses for the packages that are judged to their paths.
func imported(s source) map[string]string {
	names := map[string]string{}
	for _, spec := range s.ast.Imports {
		importPath := strings.Trim(spec.Path.Value, `"`)
		switch {
		case importPath != "time" && importPath != "os" && importPath != "fmt":
		case spec.Name != nil:
			names[spec.Name.Name] = importPath
		default:
			names[importPath] = importPath
		}
	}
	return names
}

func judgeCall(s source, importPath, function string) (name, what string) {
	call := importPath + "." + function
	clock := []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.Tick", "time.NewTimer", "time.NewTicker", "time.AfterFunc",
	}
	entry := s.module == "cmd" || s.module == "tools"
	switch {
	case s.test && call == "time.Sleep":
		return "sleep", "a test waits on a condition or a fake clock, it does not sleep"
	case s.test || s.module == "tools" || s.pkg == clockPackage:
	case slices.Contains(clock, call) && (s.module != "cmd" || function != "Now"):
		return "clock", call + ": take time through core/clock, so that a harness can drive it"
	case !entry && (call == "os.Getenv" || call == "os.LookupEnv" || call == "os.Environ"):
		return "environment", "only cmd reads the environment"
	case !entry && (strings.HasPrefix(call, "fmt.Print") || call == "os.Stdout" || call == "os.Stderr" || call == "os.Stdin"):
		return "printing", "standard output carries the protocol; only cmd hands it on"
	}
	return "", ""
}

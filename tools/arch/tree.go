package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/krometrail/krometrail/tools/workspace"
)

// source is one Go file of a module, whatever its build constraints say.
type source struct {
	module string
	// file is the path below the root, with slashes.
	file string
	// pkg is the import path of the folder it stands in.
	pkg string
	// test tells a _test.go file or a file of a test-support package.
	test bool
	// onlyTest tells a _test.go file.
	onlyTest bool
	ast      *ast.File
	set      *token.FileSet
}

func (s source) at(pos token.Pos) string { return s.file + ":" + s.line(pos) }

func (s source) line(pos token.Pos) string { return itoa(s.set.Position(pos).Line) }

// tree is every Go file of the repository.
type tree struct {
	files []source
}

func parseTree(ws *workspace.Workspace) (*tree, error) {
	t := &tree{}
	set := token.NewFileSet()
	for _, m := range ws.Modules {
		err := filepath.WalkDir(filepath.Join(ws.Root, m.Dir), func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules"):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(name, ".go"):
				return nil
			}
			s, err := parseSource(ws.Root, name, set)
			if err == nil {
				t.files = append(t.files, s)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func parseSource(root, name string, set *token.FileSet) (source, error) {
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return source{}, err
	}
	rel = filepath.ToSlash(rel)
	parsed, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	module, _, _ := strings.Cut(rel, "/")
	s := source{module: module, file: rel, pkg: workspace.Prefix + path.Dir(rel), ast: parsed, set: set}
	s.onlyTest = strings.HasSuffix(rel, "_test.go")
	s.test = s.onlyTest || testSupport(s.pkg)
	return s, nil
}

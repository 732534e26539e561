// Package workspace reads the module files of this repository: go.work, every go.mod and versions.yaml.
package workspace

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Prefix starts the import path of every module of this repository; the module's folder follows.
const Prefix = "github.com/krometrail/krometrail/"

// Module is one folder with a go.mod.
type Module struct {
	// Dir is the folder below the root, which is also the last element of the module path.
	Dir  string
	Path string
	File *modfile.File
}

// Workspace is what the module files say. It is not changed after Load.
type Workspace struct {
	// Root is the folder of go.work.
	Root     string
	Work     *modfile.WorkFile
	Modules  []Module
	Versions Versions
}

// Find returns the nearest folder at or above dir that holds a go.work.
func Find(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.work at or above %s", dir)
		}
	}
}

// Load reads the files below root. Modules are the folders directly below it, in name order.
func Load(root string) (*Workspace, error) {
	ws := &Workspace{Root: root}
	data, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return nil, err
	}
	if ws.Work, err = modfile.ParseWork("go.work", data, nil); err != nil {
		return nil, err
	}
	if ws.Modules, err = loadModules(root); err != nil {
		return nil, err
	}
	ws.Versions, err = loadVersions(filepath.Join(root, "versions.yaml"))
	return ws, err
}

func loadModules(root string) ([]Module, error) {
	files, err := filepath.Glob(filepath.Join(root, "*", "go.mod"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var modules []Module
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		dir := filepath.Base(filepath.Dir(file))
		parsed, err := modfile.Parse(path.Join(dir, "go.mod"), data, nil)
		if err != nil {
			return nil, err
		}
		if parsed.Module == nil {
			return nil, errors.New(dir + "/go.mod names no module")
		}
		modules = append(modules, Module{Dir: dir, Path: parsed.Module.Mod.Path, File: parsed})
	}
	return modules, nil
}

// Siblings returns the folders of this repository that m requires directly, with the version required.
func (m Module) Siblings() map[string]string {
	found := map[string]string{}
	for _, r := range m.File.Require {
		if dir, ok := strings.CutPrefix(r.Mod.Path, Prefix); ok {
			found[dir] = r.Mod.Version
		}
	}
	return found
}

// Module returns the module in folder dir.
func (ws *Workspace) Module(dir string) (Module, bool) {
	i := slices.IndexFunc(ws.Modules, func(m Module) bool { return m.Dir == dir })
	if i < 0 {
		return Module{}, false
	}
	return ws.Modules[i], true
}

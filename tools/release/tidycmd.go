package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/krometrail/krometrail/tools/workspace"
)

var errUntidy = errors.New("cmd/go.mod or cmd/go.sum is not tidy; make tidy mends it")

// tidyCmd runs go mod tidy for cmd on a copy of its go.mod that borrows replaces for its siblings, so that it works
// before any of them is tagged, and puts the result back without them. The hashes of tagged siblings in go.sum are kept.
// With diff it writes nothing and fails when there would be a change.
func tidyCmd(ws *workspace.Workspace, diff bool, out io.Writer) error {
	dir := filepath.Join(ws.Root, "cmd")
	before, err := readModule(dir)
	if err != nil {
		return err
	}
	after, err := tidied(ws, dir, before)
	if err != nil {
		return err
	}
	if bytes.Equal(before.mod, after.mod) && bytes.Equal(before.sum, after.sum) {
		return nil
	}
	if diff {
		fmt.Fprint(out, difference("go.mod", before.mod, after.mod), difference("go.sum", before.sum, after.sum))
		return errUntidy
	}
	return after.write(dir)
}

// module is the text of go.mod and go.sum.
type module struct{ mod, sum []byte }

func readModule(dir string) (module, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return module{}, err
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return module{}, err
	}
	return module{mod, sum}, nil
}

func (m module) write(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), m.mod, 0o644); err != nil {
		return err
	}
	if len(m.sum) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), m.sum, 0o644)
}

func tidied(ws *workspace.Workspace, dir string, before module) (module, error) {
	temp, err := os.MkdirTemp("", "tidy-cmd-")
	if err != nil {
		return module{}, err
	}
	defer os.RemoveAll(temp)
	borrowed, err := borrow(ws, before.mod)
	if err != nil {
		return module{}, err
	}
	if err := (module{borrowed, before.sum}).write(temp); err != nil {
		return module{}, err
	}
	cmd := exec.Command("go", "mod", "tidy", "-modfile="+filepath.Join(temp, "go.mod"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return module{}, fmt.Errorf("go mod tidy: %w\n%s", err, text)
	}
	after, err := readModule(temp)
	if err != nil {
		return module{}, err
	}
	after.mod, err = giveBack(after.mod)
	after.sum = keepSiblings(before.sum, after.sum)
	return after, err
}

// borrow adds a require, in the version about to be released, and a replace for every sibling; tidying drops the
// requires that nothing imports.
func borrow(ws *workspace.Workspace, text []byte) ([]byte, error) {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	for _, dir := range ws.Versions.Folders() {
		if dir == "cmd" {
			continue
		}
		version, _ := ws.Versions.Of(dir)
		if err := file.AddRequire(workspace.Prefix+dir, version); err != nil {
			return nil, err
		}
		if err := file.AddReplace(workspace.Prefix+dir, "", filepath.Join(ws.Root, dir), ""); err != nil {
			return nil, err
		}
	}
	return file.Format()
}

func giveBack(text []byte) ([]byte, error) {
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Clone(file.Replace) {
		if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	file.Cleanup()
	return file.Format()
}

// keepSiblings returns the lines of after with the sibling hashes of before, sorted as the go command does.
func keepSiblings(before, after []byte) []byte {
	lines := strings.SplitAfter(string(after), "\n")
	for _, line := range strings.SplitAfter(string(before), "\n") {
		if strings.HasPrefix(line, workspace.Prefix) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return []byte(strings.Join(slices.Compact(lines), ""))
}

// difference lists the lines that only one of the texts has.
func difference(name string, before, after []byte) string {
	was, is := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	var out strings.Builder
	for _, line := range was {
		if !slices.Contains(is, line) {
			fmt.Fprintf(&out, "%s: -%s\n", name, line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			fmt.Fprintf(&out, "%s: +%s\n", name, line)
		}
	}
	return out.String()
}

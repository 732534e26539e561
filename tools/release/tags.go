package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/krometrail/krometrail/tools/workspace"
)

// printTags prints one git command for each released module, a module after all it requires. Between the libraries and
// cmd stands the tidying that writes their final hashes into cmd/go.sum.
func printTags(ws *workspace.Workspace, out io.Writer) error {
	order, err := releaseOrder(ws)
	if err != nil {
		return err
	}
	for _, dir := range order {
		version, _ := ws.Versions.Of(dir)
		if dir == "cmd" {
			fmt.Fprintln(out, "# push the tags above, then: cd cmd && GOWORK=off go mod tidy, and commit before the next line")
		}
		fmt.Fprintf(out, "git tag -a %s/%s -m '%s %s'\n", dir, version, dir, version)
	}
	return nil
}

// releaseOrder sorts the released modules in layers: first those that require none, then those that require only the
// layers before, each layer by name.
func releaseOrder(ws *workspace.Workspace) ([]string, error) {
	waiting := ws.Versions.Folders()
	var order []string
	for len(waiting) > 0 {
		var layer, rest []string
		for _, dir := range waiting {
			if ready(ws, dir, order) {
				layer = append(layer, dir)
			} else {
				rest = append(rest, dir)
			}
		}
		if len(layer) == 0 {
			return nil, fmt.Errorf("the modules %v require each other", waiting)
		}
		order, waiting = append(order, layer...), rest
	}
	return order, nil
}

func ready(ws *workspace.Workspace, dir string, done []string) bool {
	m, ok := ws.Module(dir)
	if !ok {
		return false
	}
	for sibling := range m.Siblings() {
		if !slices.Contains(done, sibling) {
			return false
		}
	}
	return true
}

// Command release checks what a release needs and prints the tags that make one. It never tags, pushes or publishes.
//
//	go run ./tools/release verify            versions, requires, tags and changelogs agree
//	go run ./tools/release tags              print the git commands, in the order that modules depend on each other
//	go run ./tools/release tidy-cmd [-diff]  go mod tidy for cmd, which carries no replace of its own siblings
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/krometrail/krometrail/tools/workspace"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: release verify | tags | tidy-cmd [-diff]")

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	ws, err := here()
	if err != nil {
		return err
	}
	switch {
	case args[0] == "verify" && len(args) == 1:
		return verify(ws, localTags, out)
	case args[0] == "tags" && len(args) == 1:
		return printTags(ws, out)
	case args[0] == "tidy-cmd" && len(args) == 1:
		return tidyCmd(ws, false, out)
	case args[0] == "tidy-cmd" && len(args) == 2 && args[1] == "-diff":
		return tidyCmd(ws, true, out)
	default:
		return errUsage
	}
}

func here() (*workspace.Workspace, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := workspace.Find(dir)
	if err != nil {
		return nil, err
	}
	return workspace.Load(root)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/krometrail/krometrail/tools/workspace"
)

// verify prints every reason not to release, and fails when there is one. tags lists the tags that exist.
func verify(ws *workspace.Workspace, tags func(root string) ([]string, error), out io.Writer) error {
	existing, err := tags(ws.Root)
	if err != nil {
		return err
	}
	problems := slices.Concat(verifySets(ws), verifyRequires(ws), verifyTags(ws, existing), verifyChangelogs(ws))
	for _, p := range problems {
		fmt.Fprintln(out, p)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d reasons not to release", len(problems))
	}
	fmt.Fprintln(out, "versions, requires, tags and changelogs agree")
	return nil
}

// verifySets: every module stands in exactly one set, under a proper version.
func verifySets(ws *workspace.Workspace) []string {
	var problems []string
	for _, m := range ws.Modules {
		if sets := ws.Versions.SetsOf(m.Dir); len(sets) != 1 {
			problems = append(problems, fmt.Sprintf("%s: in the sets %v, must be in exactly one", m.Dir, sets))
		}
	}
	for _, dir := range ws.Versions.Folders() {
		if _, ok := ws.Module(dir); !ok {
			problems = append(problems, dir+": listed in versions.yaml, has no go.mod")
		}
		if v, _ := ws.Versions.Of(dir); !semver.IsValid(v) || semver.Canonical(v) != v {
			problems = append(problems, fmt.Sprintf("%s: %q is not a version vX.Y.Z", dir, v))
		}
	}
	return problems
}

// verifyRequires: siblings are required in the version that is about to be tagged, and no stable module leans on an
// unstable one.
func verifyRequires(ws *workspace.Workspace) []string {
	var problems []string
	for _, m := range ws.Modules {
		own, released := ws.Versions.Of(m.Dir)
		if !released {
			continue
		}
		for dir, version := range m.Siblings() {
			want, ok := ws.Versions.Of(dir)
			switch {
			case !ok:
				problems = append(problems, fmt.Sprintf("%s: requires %s, which is not released", m.Dir, dir))
			case version != want:
				problems = append(problems, fmt.Sprintf("%s: requires %s %s, versions.yaml says %s", m.Dir, dir, version, want))
			case stable(own) && !stable(want):
				problems = append(problems, fmt.Sprintf("%s: %s is stable but requires %s %s", m.Dir, own, dir, want))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

func stable(version string) bool {
	return semver.Compare(version, "v1.0.0") >= 0 && semver.Prerelease(version) == ""
}

// verifyTags: a tag, once pushed, cannot be taken back from module proxies, so none may exist already.
func verifyTags(ws *workspace.Workspace, existing []string) []string {
	var problems []string
	for _, dir := range ws.Versions.Folders() {
		if v, _ := ws.Versions.Of(dir); slices.Contains(existing, dir+"/"+v) {
			problems = append(problems, fmt.Sprintf("%s: the tag %s/%s exists; raise the version", dir, dir, v))
		}
	}
	return problems
}

// verifyChangelogs: a set with one module that keeps a CHANGELOG.md of its own has a section "## vX.Y.Z" there; the
// other sets have a section "## <set> vX.Y.Z" in the CHANGELOG.md at the root.
func verifyChangelogs(ws *workspace.Workspace) []string {
	var problems []string
	for name, set := range ws.Versions.Sets {
		file, heading := "CHANGELOG.md", name+" "+set.Version
		if len(set.Modules) == 1 {
			own := filepath.Join(strings.TrimPrefix(set.Modules[0], workspace.Prefix), "CHANGELOG.md")
			if _, err := os.Stat(filepath.Join(ws.Root, own)); err == nil {
				file, heading = own, set.Version
			}
		}
		text, err := os.ReadFile(filepath.Join(ws.Root, file))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			problems = append(problems, err.Error())
			continue
		}
		section := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(heading) + `(\s|$)`)
		if !section.Match(text) {
			problems = append(problems, fmt.Sprintf("%s: has no section \"## %s\"", file, heading))
		}
	}
	slices.Sort(problems)
	return problems
}

func localTags(root string) ([]string, error) {
	cmd := exec.Command("git", "tag", "--list")
	cmd.Dir = root
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git tag: %w", err)
	}
	return strings.Fields(string(text)), nil
}

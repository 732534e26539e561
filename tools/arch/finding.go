package arch

import (
	"cmp"
	"slices"

	"github.com/krometrail/krometrail/tools/workspace"
)

// Finding is one broken rule.
type Finding struct {
	// Rule is the short name of the rule, for example "third-party".
	Rule string
	// Where is a path below the root, with a line where one is known.
	Where string
	// What says what is wrong, and why the rule exists where that is not plain.
	What string
}

func (f Finding) String() string { return f.Rule + ": " + f.Where + ": " + f.What }

// Check returns every broken rule, sorted. An error means the check itself could not be made.
func Check(ws *workspace.Workspace) ([]Finding, error) {
	findings := checkModuleFiles(ws)
	tree, err := parseTree(ws)
	if err != nil {
		return nil, err
	}
	findings = append(findings, checkImports(tree)...)
	findings = append(findings, checkSource(tree)...)
	reached, err := checkClosure(ws)
	if err != nil {
		return nil, err
	}
	findings = append(findings, reached...)
	texts, err := checkText(ws.Root)
	if err != nil {
		return nil, err
	}
	findings = append(findings, texts...)
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return findings, nil
}

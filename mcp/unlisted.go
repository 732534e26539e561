package mcp

import (
	"regexp"
	"slices"
	"strings"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/mcp/catalogue"
)

// unlisted amends the texts of answers that advise a tool which this catalogue does not list: whoever reads them
// has never seen its name and cannot call it.
type unlisted struct {
	names *regexp.Regexp
	// advice is what to add for a name, in brackets.
	advice map[string]string
}

// stands are listed tools that serve in place of an unlisted one wherever a text advises it.
func stands() map[string]string { return map[string]string{"observe_live": "snapshot_page"} }

func newUnlisted(c *catalogue.Catalogue) *unlisted {
	u := &unlisted{advice: map[string]string{}}
	var names []string
	for _, tool := range c.Tools() {
		name := tool.Op.Name
		// A name without an underscore is also an ordinary word of these texts.
		if !tool.Hidden || !strings.Contains(name, "_") {
			continue
		}
		names = append(names, name)
		switch {
		case stands()[name] != "":
			u.advice[name] = "here: " + stands()[name]
		case tool.Op.Batchable:
			u.advice[name] = name + " works as a batch step"
		default:
			u.advice[name] = name + " needs the configuration tools=full"
		}
	}
	if len(names) > 0 {
		u.names = regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
	}
	return u
}

// amend returns the outcome with advice that can be followed.
func (u *unlisted) amend(out capability.Outcome) capability.Outcome {
	if u.names == nil {
		return out
	}
	out.Err = u.fault(out.Err)
	out.Warnings = slices.Clone(out.Warnings)
	for i, w := range out.Warnings {
		out.Warnings[i] = u.fault(w)
	}
	out.Notes, out.Next = u.texts(out.Notes), u.texts(out.Next)
	return out
}

func (u *unlisted) texts(texts []string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = text + u.remark(text, text)
	}
	return texts
}

func (u *unlisted) fault(f *fault.Error) *fault.Error {
	if f == nil {
		return nil
	}
	remark := u.remark(f.Message+" "+f.Recovery, f.Recovery)
	if remark == "" {
		return f
	}
	return f.WithRecovery("%s", strings.TrimSpace(f.Recovery+remark))
}

// remark is what to add for the names in text, "" when nothing; said is where it may stand already.
func (u *unlisted) remark(text, said string) string {
	var advice []string
	for _, name := range u.names.FindAllString(text, -1) {
		if a := u.advice[name]; !slices.Contains(advice, a) && !strings.Contains(said, a) {
			advice = append(advice, a)
		}
	}
	if len(advice) == 0 {
		return ""
	}
	return " (" + strings.Join(advice, "; ") + ")"
}

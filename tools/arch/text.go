package arch

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ban is text that no committed file may hold.
type ban struct {
	pattern *regexp.Regexp
	why     string
	// except are path prefixes where the text has a meaning of its own.
	except []string
	// only limits the ban to file names with this ending.
	only string
}

func bans() []ban {
	// The patterns are put together from parts so that this file does not hold what it bans.
	join := func(parts ...string) *regexp.Regexp { return regexp.MustCompile(strings.Join(parts, "")) }
	examples := "tools/arch/testdata/"
	pretend := []string{"core/redact/", "core/trace/", examples}
	return []ban{
		{pattern: join(`(^|[^A-Za-z0-9_.])/wo`, `rk/`), why: "names a folder of one machine", except: pretend},
		{pattern: join(`(^|[^A-Za-z0-9_.])/ro`, `ot/`), why: "names a folder of one machine", except: pretend},
		{pattern: join(`(^|[^A-Za-z0-9_.])/ho`, `me/`), why: "names a folder of one machine", except: pretend},
		{pattern: join(`proxy\.go`, `lang\.org|registry\.npm`, `js\.org|deb\.deb`, `ian\.org`), why: "names a registry host", except: []string{examples}},
		{pattern: join(`\b(TO`, `DO|FIX`, `ME)\b`), why: "promises later work; finish it, or say plainly what is missing", only: ".go"},
		{pattern: join(`(?i)\bfor n`, `ow\b`), why: "promises later work", only: ".go"},
	}
}

// checkText looks for banned text in every text file that could be committed.
func checkText(root string) ([]Finding, error) {
	var findings []Finding
	list := bans()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", ".bin", "out", "node_modules"}, entry.Name()):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || entry.Name() == ".git":
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		found, err := scanText(name, filepath.ToSlash(rel), list)
		findings = append(findings, found...)
		return err
	})
	return findings, err
}

func scanText(name, rel string, list []ban) ([]Finding, error) {
	data, err := os.ReadFile(name)
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return nil, err
	}
	var findings []Finding
	for _, b := range list {
		if !strings.HasSuffix(rel, b.only) || slices.ContainsFunc(b.except, func(p string) bool { return strings.HasPrefix(rel, p) }) {
			continue
		}
		for _, at := range b.pattern.FindAllIndex(data, -1) {
			line := 1 + bytes.Count(data[:at[1]], []byte("\n"))
			findings = append(findings, Finding{"text", rel + ":" + itoa(line), b.why})
		}
	}
	return findings, nil
}

package chrome

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/page"
)

// Sources of candidates, in the order in which they are tried.
const (
	SourceExplicit    = "explicit"
	SourceEnvironment = "environment"
	SourcePlatform    = "platform"
	SourcePath        = "path"
	SourceTesting     = "testing_cache"
)

// Bounds of one probe. A cold first start reads hundreds of megabytes; what is found on PATH is often a script
// that answers at once or never.
const (
	ColdProbe = 10 * time.Second
	PathProbe = 2 * time.Second
)

// Search says where to look for a browser.
type Search struct {
	// Explicit is the request's executable; Environment the operator's. Each excludes the sources after it: who
	// names a browser does not want another.
	Explicit, Environment string
	// Getenv reads the environment: PATH, HOME and the folders of testing tools.
	Getenv func(string) string
	Clock  clock.Clock
}

// Found is a usable browser.
type Found struct {
	Path string
	// Snap is set for builds under snap confinement, which may write only below SnapProfiles.
	Snap bool
}

type candidate struct {
	source, path string
	limit        time.Duration
}

// Discover returns the first candidate that answers --version, and what became of each. The rows hold no paths.
func Discover(ctx context.Context, s Search) (Found, []page.InstalledBrowser, error) {
	list := s.candidates()
	rows := make([]page.InstalledBrowser, 0, len(list))
	for i, c := range list {
		start := s.Clock.Mono()
		outcome := probe(ctx, s.Clock, c)
		rows = append(rows, page.InstalledBrowser{
			Source: c.source, Ordinal: i + 1, Outcome: outcome, ElapsedMS: (s.Clock.Mono() - start).Milliseconds(),
		})
		if outcome == "selected" {
			return Found{Path: c.path, Snap: isSnap(c.path)}, rows, nil
		}
	}
	return Found{}, rows, fault.New(fault.BrowserNotFound, "no usable Chrome or Chromium was found (%d candidates)", len(list)).
		WithRecovery("install Chrome or Chromium, or name one with executable or KROMETRAIL_CHROME")
}

func (s Search) candidates() []candidate {
	switch {
	case s.Explicit != "":
		return []candidate{{SourceExplicit, s.Explicit, ColdProbe}}
	case s.Environment != "":
		return []candidate{{SourceEnvironment, s.Environment, ColdProbe}}
	}
	var list []candidate
	for _, path := range platformPaths(s.Getenv("HOME")) {
		list = append(list, candidate{SourcePlatform, path, ColdProbe})
	}
	for _, dir := range filepath.SplitList(s.Getenv("PATH")) {
		for _, name := range executableNames {
			if path := filepath.Join(dir, name); filepath.IsAbs(path) && exists(path) && !listed(list, path) {
				list = append(list, candidate{SourcePath, path, PathProbe})
			}
		}
	}
	for _, path := range testingCaches(s.Getenv) {
		list = append(list, candidate{SourceTesting, path, ColdProbe})
	}
	return list
}

func listed(list []candidate, path string) bool {
	return slices.ContainsFunc(list, func(c candidate) bool { return c.path == path })
}

var executableNames = []string{
	"google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chrome", "microsoft-edge-stable", "brave-browser",
}

func platformPaths(home string) []string {
	if runtime.GOOS == "darwin" {
		var list []string
		for _, root := range []string{"/Applications", filepath.Join(home, "Applications")} {
			for _, app := range []string{"Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"} {
				list = append(list, filepath.Join(root, app+".app/Contents/MacOS", app))
			}
		}
		return list
	}
	return []string{
		"/opt/google/chrome/chrome", "/usr/bin/google-chrome-stable", "/usr/bin/chromium", "/usr/lib/chromium/chromium",
		"/usr/bin/chromium-browser", "/snap/bin/chromium",
	}
}

// testingCaches lists the browsers that testing tools have downloaded, newest name first.
func testingCaches(getenv func(string) string) []string {
	home := getenv("HOME")
	roots := []string{
		getenv("PLAYWRIGHT_BROWSERS_PATH"), filepath.Join(home, ".cache/ms-playwright"),
		filepath.Join(home, "Library/Caches/ms-playwright"), filepath.Join(home, ".cache/puppeteer"),
	}
	patterns := []string{
		"chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
		"chrome/*/chrome-linux64/chrome", "chrome/*/chrome-mac-*/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
	}
	var list []string
	for _, root := range roots {
		if root == "" {
			continue
		}
		for _, pattern := range patterns {
			found, _ := filepath.Glob(filepath.Join(root, pattern))
			slices.Sort(found)
			slices.Reverse(found)
			list = append(list, found...)
		}
	}
	return list
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// probe asks a candidate for its version. Its answer is looked at and forgotten.
func probe(ctx context.Context, c clock.Clock, candidate candidate) string {
	info, err := os.Stat(candidate.path)
	switch {
	case err != nil:
		return "absent"
	case info.IsDir() || info.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		return "not_executable"
	}
	ctx, cancel := clock.WithTimeout(ctx, c, candidate.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, candidate.path, "--version") //nolint:gosec // discovery runs what the operator has installed
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "timed_out"
	case err != nil || !isBrowserVersion(string(out)):
		return "failed"
	}
	return "selected"
}

func isBrowserVersion(out string) bool {
	for _, name := range []string{"Chrom", "Edge", "Brave", "Opera", "Vivaldi"} {
		if strings.Contains(out, name) {
			return true
		}
	}
	return false
}

// maxScript is how much of an executable is read to see whether it is a script that calls the snap.
const maxScript = 4 << 10

func isSnap(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil && (strings.HasPrefix(real, "/snap/") || real == "/usr/bin/snap") {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, maxScript)
	n, _ := file.Read(head)
	text := string(head[:n])
	return strings.HasPrefix(text, "#!") && strings.Contains(text, "/snap/bin/")
}

// SnapProfiles is the only place below home where the Chromium snap may keep profiles.
func SnapProfiles(home string) string {
	return filepath.Join(home, "snap", "chromium", "common", "krometrail-profiles")
}

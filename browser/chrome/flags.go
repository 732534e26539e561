package chrome

import (
	"fmt"
	"strings"
)

// quietFlags keep a fresh browser from doing background work, asking questions and throttling pages that
// are recorded. None is needed for painting.
var quietFlags = []string{
	"--no-first-run", "--no-default-browser-check", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-default-apps",
	"--disable-client-side-phishing-detection", "--disable-domain-reliability", "--disable-breakpad",
	"--disable-crash-reporter", "--metrics-recording-only", "--password-store=basic", "--use-mock-keychain",
	"--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
	"--disable-background-timer-throttling", "--disable-hang-monitor", "--disable-search-engine-choice-screen",
	"--hide-crash-restore-bubble", "--propagate-iph-for-testing",
	"--disable-features=Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider,PaintHolding",
}

// softwareGL makes Chrome composite through SwiftShader where there is no GPU. Launches leave the choice to Chrome:
// BenchmarkCaptureRendering shows Chrome's own choice ahead in frames and CPU, and its first paint comes sooner.
var softwareGL = []string{
	"--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
}

// arguments returns the command line of a launch, without the executable.
func (c Config) arguments() []string {
	args := append([]string(nil), quietFlags...)
	args = append(args, "--remote-debugging-pipe", "--user-data-dir="+c.ProfileDir)
	if c.Headless {
		args = append(args, "--headless=new", "--mute-audio")
	}
	if c.NoSandbox {
		args = append(args, "--no-sandbox")
	}
	if c.SmallSharedMemory {
		args = append(args, "--disable-dev-shm-usage")
	}
	if c.SoftwareGL {
		args = append(args, softwareGL...)
	}
	if c.Width > 0 && c.Height > 0 {
		args = append(args, fmt.Sprintf("--window-size=%d,%d", c.Width, c.Height))
	}
	args = append(args, c.ExtraArgs...)
	return append(args, "about:blank")
}

// rendering names the GL choice for the launch diagnostics.
func (c Config) rendering() string {
	if c.SoftwareGL {
		return "swiftshader"
	}
	return "default"
}

// launchCause classifies what a browser that ended at once has written to stderr. The text itself never leaves
// this package: it holds paths.
func launchCause(stderr string, exitCode int) string {
	switch {
	case strings.Contains(stderr, "No usable sandbox"), strings.Contains(stderr, "Running as root without --no-sandbox"),
		strings.Contains(stderr, "The SUID sandbox helper binary was found, but is not configured correctly"),
		strings.Contains(stderr, "Failed to move to new namespace"):
		return CauseNoSandbox
	case strings.Contains(stderr, "SingletonLock"), strings.Contains(stderr, "profile appears to be in use"), exitCode == 21:
		return CauseProfileInUse
	case strings.Contains(stderr, "Missing X server"), strings.Contains(stderr, "cannot open display"), strings.Contains(stderr, "Cannot connect to display"):
		return CauseNoDisplay
	case strings.Contains(stderr, "error while loading shared libraries"):
		return CauseMissingLibrary
	case strings.Contains(stderr, "No space left on device"):
		return CauseStorageFull
	case strings.Contains(stderr, "snap"):
		return CauseSnap
	}
	return CauseExited
}

// Package version says which build this is.
package version

import "runtime/debug"

// String is the released version of the program, or "devel" with the revision for a build from a checkout.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	version := "devel"
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			version += "+" + s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				version += ".modified"
			}
		}
	}
	return version
}

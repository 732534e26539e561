package workspace

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Set is a group of modules released together under one version.
type Set struct {
	// Version is a semantic version with its leading v.
	Version string `yaml:"version"`
	// Modules are module paths.
	Modules []string `yaml:"modules"`
}

// Versions is versions.yaml.
type Versions struct {
	Sets map[string]Set `yaml:"module-sets"`
	// Excluded are the module paths that are never released.
	Excluded []string `yaml:"excluded-modules"`
}

func loadVersions(file string) (Versions, error) {
	var v Versions
	data, err := os.ReadFile(file)
	if err != nil {
		return v, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&v); err != nil {
		return v, fmt.Errorf("versions.yaml: %w", err)
	}
	return v, nil
}

// Of returns the version of the module in folder dir, and whether it is released at all.
func (v Versions) Of(dir string) (string, bool) {
	for _, set := range v.Sets {
		if slices.Contains(set.Modules, Prefix+dir) {
			return set.Version, true
		}
	}
	return "", false
}

// SetsOf returns the names of the sets that list the module in folder dir, sorted; "excluded" stands for the excluded list.
func (v Versions) SetsOf(dir string) []string {
	var names []string
	for name, set := range v.Sets {
		if slices.Contains(set.Modules, Prefix+dir) {
			names = append(names, name)
		}
	}
	if slices.Contains(v.Excluded, Prefix+dir) {
		names = append(names, "excluded")
	}
	slices.Sort(names)
	return names
}

// Folders returns the folder of every released module, sorted.
func (v Versions) Folders() []string {
	var dirs []string
	for _, set := range v.Sets {
		for _, m := range set.Modules {
			dirs = append(dirs, strings.TrimPrefix(m, Prefix))
		}
	}
	slices.Sort(dirs)
	return dirs
}

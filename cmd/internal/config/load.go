package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/adrg/xdg"

	"github.com/krometrail/krometrail/core/fault"
)

// Sources are where values come from, besides the defaults.
type Sources struct {
	// Flags are command-line values by key; absent keys were not given.
	Flags map[string]string
	// Env looks up an environment variable.
	Env func(name string) (string, bool)
	// File is the configuration file, "" for the platform's own place, where it may be missing.
	File string
}

// DefaultFile is the configuration file's usual place.
func DefaultFile() string { return filepath.Join(xdg.ConfigHome, "krometrail", "config.toml") }

// Keys lists the settings in presentation order with a short explanation each.
func Keys() map[string]string {
	keys := map[string]string{}
	for _, s := range settings() {
		keys[s.key] = s.help
	}
	return keys
}

// Load resolves the configuration. Its errors are invalid_input faults that name the origin, never the value.
func Load(src Sources) (*Config, error) {
	c := defaults()
	file, err := readFile(src.File)
	if err != nil {
		return nil, err
	}
	if err := c.applyFile(file); err != nil {
		return nil, err
	}
	for _, s := range settings() {
		name := EnvPrefix + strings.ToUpper(s.key)
		if text, ok := src.Env(name); ok {
			if err := c.apply(s, text, "environment variable "+name); err != nil {
				return nil, err
			}
		}
		if text, ok := src.Flags[s.key]; ok {
			if err := c.apply(s, text, "option --"+strings.ReplaceAll(s.key, "_", "-")); err != nil {
				return nil, err
			}
		}
	}
	if c.ProfileRoot == "" {
		c.ProfileRoot = filepath.Join(c.DataDir, "profiles")
	}
	return c, nil
}

func (c *Config) apply(s setting, text, origin string) error {
	if err := s.assign(c, text); err != nil {
		return fault.New(fault.InvalidInput, "%s %s", origin, err).WithRecovery("correct it and start again")
	}
	c.origins[s.key] = origin
	return nil
}

type fileValues struct {
	path   string
	values map[string]any
}

func readFile(path string) (fileValues, error) {
	chosen := path
	if chosen == "" {
		chosen = DefaultFile()
	}
	f := fileValues{path: chosen}
	raw, err := os.ReadFile(chosen)
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fault.New(fault.InvalidInput, "the configuration file cannot be read").Because(err).
			WithRecovery("check the path given with --config and its permissions")
	}
	if _, err := toml.Decode(string(raw), &f.values); err != nil {
		return f, fault.New(fault.InvalidInput, "the configuration file is not valid TOML").Because(err).
			WithRecovery("correct the file, or start with another one through --config")
	}
	return f, nil
}

func (c *Config) applyFile(f fileValues) error {
	known := settings()
	keys := make([]string, 0, len(f.values))
	for key := range f.values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		i := slices.IndexFunc(known, func(s setting) bool { return s.key == key })
		if i < 0 {
			return fault.New(fault.InvalidInput, "the configuration file has a key that does not exist").
				WithRecovery("krometrail config lists the keys")
		}
		text, err := fileText(f.values[key])
		if err != nil {
			return fault.New(fault.InvalidInput, "configuration file key %s %s", known[i].key, err).WithRecovery("correct it and start again")
		}
		if err := c.apply(known[i], text, "configuration file key "+known[i].key); err != nil {
			return err
		}
	}
	return nil
}

// fileText turns a TOML value into the text that the other sources would hold.
func fileText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int64, bool:
		return fmt.Sprint(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, p := range v {
			text, ok := p.(string)
			if !ok {
				return "", errors.New("must be a list of names")
			}
			parts[i] = text
		}
		return strings.Join(parts, ","), nil
	}
	return "", errors.New("has a value of the wrong kind")
}

// Row is one effective value with its origin.
type Row struct{ Key, Value, Origin, Help string }

// Rows lists every effective value.
func (c *Config) Rows() []Row {
	var rows []Row
	for _, s := range settings() {
		origin := c.origins[s.key]
		if origin == "" {
			origin = "default"
		}
		rows = append(rows, Row{s.key, s.value(c), origin, s.help})
	}
	return rows
}

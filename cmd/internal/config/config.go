// Package config finds the effective configuration: command line, environment, file, defaults, in this order,
// each value with its origin. A bad value stops the start and names where it came from.
package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/fault"
)

// Config is the effective configuration. It is immutable after Load.
type Config struct {
	// DataDir is the root of instances, profiles and diagnostics.
	DataDir string
	// DiskBudget is the total over all live instances, in bytes.
	DiskBudget int64
	// MaxAge is the age at which evidence expires; 0 means never.
	MaxAge time.Duration
	// Chrome is the browser to launch, "" for discovery.
	Chrome string
	// ProfileRoot holds managed profiles.
	ProfileRoot string
	// Capabilities are the wanted ones, nil for all.
	Capabilities []capability.Name
	// Tools is full or lean.
	Tools string
	// RecordBrowserEvents switches console, network and exception recording.
	RecordBrowserEvents bool
	// Sandbox is auto, on or off.
	Sandbox string
	// LogLevel is debug, info, warn or error.
	LogLevel string

	origins map[string]string
}

// setting is one configuration value: its key in file and environment, and how text becomes a value.
type setting struct {
	key    string
	help   string
	value  func(*Config) string
	assign func(*Config, string) error
}

// EnvPrefix precedes the upper-case keys in the environment.
const EnvPrefix = "KROMETRAIL_"

func settings() []setting {
	return []setting{
		{"data_dir", "root of recordings, profiles and diagnostics", func(c *Config) string { return c.DataDir }, absolute(func(c *Config) *string { return &c.DataDir })},
		{"disk_budget_bytes", "total disk budget over all running instances", func(c *Config) string { return strconv.FormatInt(c.DiskBudget, 10) }, (*Config).setBudget},
		{"retention_max_age_secs", "age at which evidence expires, 0 = never", func(c *Config) string { return strconv.FormatInt(int64(c.MaxAge/time.Second), 10) }, (*Config).setAge},
		{"chrome", "browser to launch", func(c *Config) string { return c.Chrome }, absolute(func(c *Config) *string { return &c.Chrome })},
		{"profile_root", "root of managed profiles", func(c *Config) string { return c.ProfileRoot }, absolute(func(c *Config) *string { return &c.ProfileRoot })},
		{"capabilities", "wanted capabilities, comma separated", capabilityText, (*Config).setCapabilities},
		{"tools", "tool set: full or lean", func(c *Config) string { return c.Tools }, oneOf(func(c *Config) *string { return &c.Tools }, "full", "lean")},
		{"record_browser_events", "record console, exceptions and network metadata", func(c *Config) string { return strconv.FormatBool(c.RecordBrowserEvents) }, (*Config).setEvents},
		{"sandbox", "browser sandbox: auto, on or off", func(c *Config) string { return c.Sandbox }, oneOf(func(c *Config) *string { return &c.Sandbox }, "auto", "on", "off")},
		{"log_level", "debug, info, warn or error", func(c *Config) string { return c.LogLevel }, oneOf(func(c *Config) *string { return &c.LogLevel }, "debug", "info", "warn", "error")},
	}
}

// defaults depend on the platform's directories only.
func defaults() *Config {
	return &Config{
		DataDir: filepath.Join(xdg.DataHome, "krometrail"), DiskBudget: 10_000_000_000, MaxAge: 7 * 24 * time.Hour,
		Tools: "full", RecordBrowserEvents: true, Sandbox: "auto", LogLevel: "info", origins: map[string]string{},
	}
}

func absolute(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		if text == "" {
			return errors.New("must not be empty")
		}
		path, err := filepath.Abs(text)
		if err != nil {
			return errors.New("is not a usable path")
		}
		*field(c) = path
		return nil
	}
}

func oneOf(field func(*Config) *string, allowed ...string) func(*Config, string) error {
	return func(c *Config, text string) error {
		for _, a := range allowed {
			if text == a {
				*field(c) = a
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", strings.Join(allowed, ", "))
	}
}

// MinBudget is the smallest budget that leaves room for an index and a segment in a quarter share.
const MinBudget = 64 << 20

func (c *Config) setBudget(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < MinBudget {
		return fmt.Errorf("must be a whole number of bytes, at least %d", MinBudget)
	}
	c.DiskBudget = n
	return nil
}

func (c *Config) setAge(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(time.Second) {
		return errors.New("must be a whole number of seconds, 0 or more")
	}
	c.MaxAge = time.Duration(n) * time.Second
	return nil
}

func (c *Config) setEvents(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("must be true or false")
	}
	c.RecordBrowserEvents = on
	return nil
}

func (c *Config) setCapabilities(text string) error {
	names := []capability.Name{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			names = append(names, capability.Name(part))
		}
	}
	if _, err := capability.Select(names, nil); err != nil {
		return fmt.Errorf("%s", fault.From(err).Message)
	}
	c.Capabilities = names
	return nil
}

func capabilityText(c *Config) string {
	if c.Capabilities == nil {
		return "all"
	}
	parts := make([]string, len(c.Capabilities))
	for i, n := range c.Capabilities {
		parts[i] = string(n)
	}
	return strings.Join(parts, ",")
}

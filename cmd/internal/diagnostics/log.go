// Package diagnostics is the program's log: one bounded file for each instance below the data directory.
package diagnostics

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/krometrail/krometrail/core/fault"
)

const (
	// keep is how many instances' logs are kept; fileMegabytes and backups bound one instance's.
	keep          = 8
	fileMegabytes = 1
	backups       = 1
)

// Open starts the log of an instance and removes the oldest logs of others. close flushes and closes it. Whatever
// is logged is redacted and bounded on its way.
func Open(dataDir, instance string, level slog.Level) (log *slog.Logger, close func() error, err error) {
	dir := filepath.Join(dataDir, "diagnostics")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fault.New(fault.PersistenceFailed, "the diagnostics folder cannot be made in the data directory").
			WithPersistence("create", category(err), "writer_usable").Because(err).
			WithRecovery("make the data directory writable, or name another one with --data-dir")
	}
	prune(dir)
	file := &lumberjack.Logger{Filename: filepath.Join(dir, instance+".log"), MaxSize: fileMegabytes, MaxBackups: backups}
	return slog.New(redacting{slog.NewTextHandler(file, &slog.HandlerOptions{Level: level})}), file.Close, nil
}

func category(err error) string {
	if os.IsPermission(err) {
		return "permission"
	}
	return "io"
}

// prune keeps the newest logs, leaving room for one more. Failing to delete an old log is no reason to stop.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type aged struct {
		instance string
		at       int64
	}
	newest := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), ".log") {
			continue
		}
		instance := e.Name()[:min(36, len(e.Name()))]
		newest[instance] = max(newest[instance], info.ModTime().UnixNano())
	}
	var all []aged
	for instance, at := range newest {
		all = append(all, aged{instance, at})
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Compare(b.at, a.at) })
	for _, old := range all[min(keep-1, len(all)):] {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), old.instance) {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// Level reads a configured level; unknown text is info, since configuration was checked before.
func Level(text string) slog.Level {
	var level slog.Level
	if level.UnmarshalText([]byte(text)) != nil {
		return slog.LevelInfo
	}
	return level
}

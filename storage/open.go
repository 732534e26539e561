package storage

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/instance"
	"github.com/krometrail/krometrail/storage/retention"
	"github.com/krometrail/krometrail/storage/segment"
)

// Open opens the store in root, which the caller holds and no other store has open. It finishes what an earlier
// writer left half done and says so in the report; opening a root that was closed properly reports nothing.
//
// An index that is not of the current format is recognised before anything is written. Then the recording cache
// of this root alone (index, segments, artifacts) is cleared and the store starts empty.
func Open(root string, o Options) (*Store, RecoveryReport, error) {
	o, err := o.complete(root)
	if err != nil {
		return nil, RecoveryReport{}, err
	}
	s := newStore(root, o)
	report, err := s.open(root)
	if err != nil {
		s.abandon()
		return nil, report, openFault(err)
	}
	s.publisher = startPublisher(s.fs, s.ix)
	s.janitor = startJanitor(o.Peers)
	s.share = o.BudgetBytes / int64(s.liveLocked().Live)
	if !report.Empty() {
		o.Logger.Info("recording store recovered", "report", report)
	}
	return s, report, nil
}

// complete checks the settings and fills in defaults.
func (o Options) complete(root string) (Options, error) {
	if o.BudgetBytes == 0 {
		o.BudgetBytes = DefaultBudget
	}
	if o.BudgetBytes < MinBudget {
		return o, fault.New(fault.InvalidInput, "the disk budget is too small to record anything").
			WithLimit("budget_bytes", o.BudgetBytes, MinBudget, 0).WithRecovery("set KROMETRAIL_DISK_BUDGET_BYTES to at least %d", MinBudget)
	}
	if o.MaxAge < 0 {
		return o, fault.New(fault.InvalidInput, "the maximum age of evidence must not be negative").
			WithRecovery("set KROMETRAIL_RETENTION_MAX_AGE_SECS to 0 or more")
	}
	if o.Peers == nil {
		o.Peers = alone{}
	}
	if o.FS == nil {
		tree, err := disk.OpenDir(root)
		if err != nil {
			return o, openFault(err)
		}
		o.FS = tree
	}
	return o, nil
}

func newStore(root string, o Options) *Store {
	return &Store{
		options: o, scratch: filepath.Join(root, ScratchDir), fs: o.FS, book: retention.NewBook(artifactGrace), nextKey: 1, share: o.BudgetBytes,
		writers: map[id.Session]*openSegment{}, streams: map[retention.Stream]*streamEnd{}, rejected: map[id.Session]*fault.Error{},
	}
}

func openFault(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.PersistenceFailed, "the recording store cannot be opened").
		WithRecovery("check that the data directory is writable and its disk has room, then restart").
		WithPersistence(opIndex, category(err), writerTerminal).Because(err)
}

func (s *Store) open(root string) (RecoveryReport, error) {
	var report RecoveryReport
	if err := s.ensureFolders(); err != nil {
		return report, err
	}
	cleared, err := s.openIndex(root)
	report.Cleared = cleared
	if err != nil {
		return report, err
	}
	r := recovery{s: s, report: &report}
	if err := r.run(); err != nil {
		return report, err
	}
	return report, s.load()
}

func (s *Store) ensureFolders() error {
	for _, dir := range []string{segment.Dir, index.ArtifactsDir, ScratchDir} {
		if err := s.fs.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// openIndex opens the index, clearing the cache first when it is not of the current format.
func (s *Store) openIndex(root string) (cleared bool, err error) {
	format, err := index.Classify(s.fs)
	if err != nil {
		return false, err
	}
	if format == index.Other {
		if err := s.clearCache(); err != nil {
			return true, err
		}
	}
	o := index.Options{
		Clock: s.options.Clock, Logger: s.options.Logger, Step: s.options.Step, LogBytes: s.options.BudgetBytes / logFraction,
		Failed: func(err error) { _ = s.fail(terminalFault(opIndex, err)) },
	}
	s.ix, err = index.Open(root, o)
	if errors.Is(err, index.ErrSchema) && format == index.Current {
		if err := s.clearCache(); err != nil {
			return true, err
		}
		s.ix, err = index.Open(root, o)
		return true, err
	}
	return format == index.Other, err
}

// logFraction of the budget bounds the index's write-ahead log, within limits of its own.
const logFraction = 512

// clearCache removes the disposable recording cache of this root: index, segments, artifacts. The index goes
// last, so that a crash in between is seen as the same foreign index again.
func (s *Store) clearCache() error {
	for _, dir := range []string{segment.Dir, index.ArtifactsDir, ScratchDir} {
		if err := removeBelow(s.fs, dir); err != nil {
			return err
		}
	}
	for _, name := range append(index.Files()[1:], index.Name) {
		if err := ignoreMissing(s.fs.Remove(name)); err != nil {
			return err
		}
	}
	return nil
}

// removeBelow empties a directory of files and folders of files.
func removeBelow(tree disk.FS, dir string) error {
	entries, err := tree.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		remove := tree.Remove
		if e.IsDir() {
			remove = func(name string) error { return removeFolder(tree, name) }
		}
		if err := remove(name); err != nil {
			return err
		}
	}
	return nil
}

// abandon releases what a failed Open had opened.
func (s *Store) abandon() {
	if s.ix != nil {
		_ = s.ix.Close()
	}
	_ = s.fs.Close()
}

// load fills the books from the recovered index and the files.
func (s *Store) load() error {
	ctx := context.Background()
	segments, err := s.ix.Segments(ctx)
	if err != nil {
		return err
	}
	for _, g := range segments {
		s.book.AddSegment(retention.Segment{
			Key: g.Key, ID: g.ID, Session: g.Session, Bytes: g.Bytes,
			CreatedWall: g.CreatedWall, LastWall: g.LastWall, Sealed: g.Sealed,
		})
	}
	s.nextKey = s.book.NextKey()
	artifacts, err := s.ix.Artifacts(ctx)
	if err != nil {
		return err
	}
	for _, a := range artifacts {
		s.book.AddArtifact(retention.Artifact(a))
	}
	pins, err := s.ix.Pins(ctx)
	if err != nil {
		return err
	}
	for _, p := range pins {
		s.book.AddPin(retention.Pin(p))
	}
	return s.loadEnds(ctx)
}

func (s *Store) loadEnds(ctx context.Context) error {
	ends, err := s.ix.Streams(ctx)
	if err != nil {
		return err
	}
	for _, e := range ends {
		s.streams[retention.Stream{Session: e.Session, Target: e.Target}] = &streamEnd{ordinal: e.LastOrdinal}
	}
	err = s.ix.Do(ctx, func(tx *index.Tx) error {
		oldest, err := tx.OldestEvent()
		s.book.EventsFrom(oldest)
		return err
	})
	if err != nil {
		return err
	}
	s.fileBytes, err = filesBelow(s.fs, ".")
	return err
}

// filesBelow sums the sizes of all files apart from the index's own, which are measured at each decision.
func filesBelow(tree disk.FS, dir string) (int64, error) {
	entries, err := tree.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, e := range entries {
		name := filepath.ToSlash(filepath.Join(dir, e.Name()))
		n, err := int64(0), error(nil)
		if e.IsDir() {
			n, err = filesBelow(tree, name)
		} else if !isIndexFile(name) {
			n, err = tree.Size(name)
		}
		if err = ignoreMissing(err); err != nil {
			return sum, err
		}
		sum += n
	}
	return sum, nil
}

func isIndexFile(name string) bool {
	return slices.Contains(index.Files(), name)
}

var _ Peers = (*instance.Instance)(nil)

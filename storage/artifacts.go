package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/retention"
)

// Names inside an artifact's folder, and of a folder that is being filled.
const (
	artifactFile  = "file"
	manifestFile  = "manifest.json"
	unfinishedDir = index.ArtifactsDir + "/.new-"
)

// FindArtifact implements record.ArtifactStore.
func (s *Store) FindArtifact(ctx context.Context, cacheKey string) (record.Artifact, bool, error) {
	a, ok, err := s.ix.ArtifactByKey(ctx, cacheKey)
	return a, ok, readFault(err)
}

// PublishArtifact implements record.ArtifactStore. The digest and length are computed here. An artifact without
// an identifier gets one. When an artifact with the same cache key exists already, that one is returned.
func (s *Store) PublishArtifact(ctx context.Context, a record.Artifact, file io.Reader, manifest []byte) (record.Artifact, []*fault.Error, error) {
	content, err := readArtifact(file, manifest)
	if err != nil {
		return a, nil, err
	}
	if existing, ok, err := s.ix.ArtifactByKey(ctx, a.CacheKey); err != nil || ok {
		return existing, nil, readFault(err)
	}
	if _, err := id.Parse[id.Artifact](string(a.ID)); a.ID != "" && err != nil {
		return a, nil, fault.Input("artifact_id", err.Error())
	}
	if a.ID == "" {
		a.ID = id.New[id.Artifact]()
	}
	digest := sha256.Sum256(content)
	a.SHA256, a.Bytes, a.CreatedAt = hex.EncodeToString(digest[:]), int64(len(content)), s.wallTime()
	size := int64(len(content) + len(manifest))
	warnings, err := s.reserve(size)
	if err != nil {
		return a, warnings, err
	}
	if err := s.writeArtifact(a.ID, content, manifest); err != nil {
		s.discard(a.ID, size)
		return a, warnings, err
	}
	published, err := s.enterArtifact(ctx, a, size)
	return published, warnings, err
}

func readArtifact(file io.Reader, manifest []byte) ([]byte, error) {
	var content bytes.Buffer
	n, err := io.Copy(&content, io.LimitReader(file, MaxArtifact+1))
	if err != nil {
		return nil, fault.New(fault.ArtifactGenerationFailed, "the derived file could not be read").Because(err)
	}
	if n > MaxArtifact {
		return nil, fault.New(fault.ResourceLimitExceeded, "the derived file is larger than an artifact may be").
			WithLimit("artifact_bytes", n, MaxArtifact, MaxArtifact)
	}
	if len(manifest) > MaxManifest {
		return nil, fault.New(fault.ResourceLimitExceeded, "the manifest is larger than a manifest may be").
			WithLimit("manifest_bytes", int64(len(manifest)), MaxManifest, MaxManifest)
	}
	return content.Bytes(), nil
}

// reserve admits n bytes before they are written outside the lock.
func (s *Store) reserve(n int64) ([]*fault.Error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return nil, err
	}
	overrode, err := s.admitLocked(n, retention.Stream{}, admitEvidence)
	var warnings []*fault.Error
	if overrode {
		warnings = append(warnings, fault.New(fault.ArtifactGraceOverridden,
			"the disk budget forced out evidence of artifacts that were made a short time ago"))
	}
	if err == nil {
		s.reserved += n
	}
	return warnings, err
}

// writeArtifact fills a hidden folder, makes it durable and gives it its name.
func (s *Store) writeArtifact(a id.Artifact, content, manifest []byte) error {
	hidden := unfinishedDir + string(a)
	if err := s.fs.Mkdir(hidden); err != nil {
		return usableFault("create", err)
	}
	if err := writeFile(s.fs, hidden+"/"+artifactFile, content); err != nil {
		return err
	}
	if err := writeFile(s.fs, hidden+"/"+manifestFile, manifest); err != nil {
		return err
	}
	if err := s.fs.SyncDir(hidden); err != nil {
		return usableFault("sync_directory", err)
	}
	if err := s.fs.Rename(hidden, index.ArtifactDir(a)); err != nil {
		return usableFault("rename", err)
	}
	if err := s.fs.SyncDir(index.ArtifactsDir); err != nil {
		return usableFault("sync_directory", err)
	}
	return nil
}

func writeFile(tree disk.FS, name string, content []byte) error {
	f, err := tree.Create(name)
	if err != nil {
		return usableFault("create", err)
	}
	_, err = f.WriteAt(content, 0)
	operation := "write"
	if err == nil {
		operation = "sync"
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return usableFault(operation, err)
	}
	return nil
}

// enterArtifact makes written files an artifact, or removes them when their evidence went meanwhile. Row and
// book change under one lock, so that no eviction comes between.
func (s *Store) enterArtifact(ctx context.Context, a record.Artifact, size int64) (record.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var segments []int64
	var ok bool
	err := s.ix.Do(context.WithoutCancel(ctx), func(tx *index.Tx) (err error) {
		segments, ok, err = tx.AddArtifact(a, size)
		return err
	})
	if err != nil || !ok {
		s.discardLocked(a.ID, size)
		return s.notEntered(ctx, a, err)
	}
	s.reserved -= size
	s.fileBytes += size
	s.book.AddArtifact(retention.Artifact{ID: a.ID, Session: a.SessionID, Bytes: size, CreatedWall: a.CreatedAt.UnixNano(), Segments: segments})
	return a, nil
}

// notEntered explains why an artifact got no row. Another request may have published the same one meanwhile.
func (s *Store) notEntered(ctx context.Context, a record.Artifact, err error) (record.Artifact, error) {
	if err == nil {
		return a, invalidated("the evidence of the derived file was evicted while it was made")
	}
	if existing, ok, _ := s.ix.ArtifactByKey(ctx, a.CacheKey); ok {
		return existing, nil
	}
	if f := s.Failure(); f != nil {
		return a, f
	}
	return a, usableFault(opIndex, err)
}

// discard removes what an unsuccessful publication left and gives its bytes back.
func (s *Store) discard(a id.Artifact, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discardLocked(a, size)
}

func (s *Store) discardLocked(a id.Artifact, size int64) {
	s.reserved -= size
	for _, name := range []string{unfinishedDir + string(a), index.ArtifactDir(a)} {
		left := folderBytes(s.fs, name)
		if err := removeFolder(s.fs, name); err != nil {
			s.options.Logger.Warn("an unfinished artifact still occupies the disk", "category", category(err))
			s.fileBytes += left
			s.deletions = append(s.deletions, index.Deletion{Path: name, Bytes: left})
		}
	}
}

func folderBytes(tree disk.FS, name string) int64 {
	entries, err := tree.ReadDir(name)
	if err != nil {
		return 0
	}
	var sum int64
	for _, e := range entries {
		if size, err := tree.Size(name + "/" + e.Name()); err == nil {
			sum += size
		}
	}
	return sum
}

// Artifact implements record.ArtifactStore.
func (s *Store) Artifact(ctx context.Context, a id.Artifact) (record.Artifact, error) {
	out, ok, err := s.ix.Artifact(ctx, a)
	if err != nil || ok {
		return out, readFault(err)
	}
	reason, err := s.ix.Gone(ctx, string(a))
	switch {
	case err != nil:
		return out, readFault(err)
	case reason != 0:
		return out, invalidated("the artifact was removed")
	}
	return out, notFound("artifact")
}

// ReadArtifact implements record.ArtifactStore.
func (s *Store) ReadArtifact(ctx context.Context, a id.Artifact) ([]byte, error) {
	return s.readArtifactFile(ctx, a, artifactFile, MaxArtifact)
}

// ReadManifest implements record.ArtifactStore.
func (s *Store) ReadManifest(ctx context.Context, a id.Artifact) ([]byte, error) {
	return s.readArtifactFile(ctx, a, manifestFile, MaxManifest)
}

func (s *Store) readArtifactFile(ctx context.Context, a id.Artifact, name string, limit int64) ([]byte, error) {
	if _, err := s.Artifact(ctx, a); err != nil {
		return nil, err
	}
	f, err := s.fs.Open(index.ArtifactDir(a) + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, invalidated("the artifact was removed")
	}
	if err != nil {
		return nil, readFault(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.NewSectionReader(f, 0, limit))
	return content, readFault(err)
}

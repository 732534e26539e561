package storage

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/disk"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/segment"
)

// RecoveryReport says what Open repaired. It is empty for a root that was closed properly, and for one that was
// recovered before.
type RecoveryReport struct {
	// Cleared: the index was not of the current format and the recording cache was removed.
	Cleared bool `json:"cleared,omitempty"`
	// SealedSegments were open and are complete now; TruncatedBytes were cut from their ends.
	SealedSegments int   `json:"sealed_segments,omitempty"`
	TruncatedBytes int64 `json:"truncated_bytes,omitempty"`
	// IndexedFrames were in files and had no row.
	IndexedFrames int `json:"indexed_frames,omitempty"`
	// LostSegments had rows and no usable file; their frames became gaps.
	LostSegments int `json:"lost_segments,omitempty"`
	// LostFrames had rows behind the good end of their file; they became gaps.
	LostFrames int `json:"lost_frames,omitempty"`
	// RemovedFiles belonged to nothing, or to something already deleted.
	RemovedFiles int `json:"removed_files,omitempty"`
	// LostArtifacts had rows and no complete files.
	LostArtifacts int `json:"lost_artifacts,omitempty"`
}

// Empty reports that nothing was repaired.
func (r RecoveryReport) Empty() bool { return r == RecoveryReport{} }

// recovery brings files and index of a root together.
type recovery struct {
	s      *Store
	report *RecoveryReport
	rows   map[id.Segment]index.Segment
	next   int64
}

func (r *recovery) run() error {
	ctx := context.Background()
	rows, err := r.s.ix.Segments(ctx)
	if err != nil {
		return err
	}
	r.rows, r.next = map[id.Segment]index.Segment{}, 1
	for _, row := range rows {
		r.rows[row.ID] = row
		r.next = row.Key + 1
	}
	if err := r.finishDeletions(ctx); err != nil {
		return err
	}
	if err := r.segments(ctx); err != nil {
		return err
	}
	if err := r.artifacts(ctx); err != nil {
		return err
	}
	return r.scratch()
}

// scratch removes files that were never published.
func (r *recovery) scratch() error {
	entries, err := r.s.fs.ReadDir(ScratchDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := r.removeStray(ScratchDir + "/" + e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// finishDeletions unlinks what a removal had listed when it was interrupted. The deletion of an artifact whose
// folder was never named is listed under its hidden name.
func (r *recovery) finishDeletions(ctx context.Context) error {
	return r.s.ix.Do(ctx, func(tx *index.Tx) error {
		listed, err := tx.Deletions()
		if err != nil || len(listed) == 0 {
			return err
		}
		paths := make([]string, 0, len(listed))
		for _, d := range listed {
			if _, err := r.s.fs.Size(d.Path); err == nil {
				r.report.RemovedFiles++
			}
			if err := removeListed(r.s.fs, d.Path); err != nil {
				return err
			}
			paths = append(paths, d.Path)
		}
		for _, dir := range []string{segment.Dir, index.ArtifactsDir} {
			if err := r.s.fs.SyncDir(dir); err != nil {
				return err
			}
		}
		return tx.Deleted(paths...)
	})
}

// segments walks the segment files and then the rows that no file answered to.
func (r *recovery) segments(ctx context.Context) error {
	entries, err := r.s.fs.ReadDir(segment.Dir)
	if err != nil {
		return err
	}
	seen := map[id.Segment]bool{}
	for _, e := range entries {
		name, suffix := splitName(e.Name())
		if suffix == "" || e.IsDir() {
			if err := r.removeStray(segment.Dir + "/" + e.Name()); err != nil {
				return err
			}
			continue
		}
		kept, err := r.segmentFile(ctx, foundSegment{name: name, path: segment.Dir + "/" + e.Name(), sealed: suffix == segment.SealedSuffix})
		if err != nil {
			return err
		}
		seen[name] = seen[name] || kept
	}
	for name, row := range r.rows {
		if !seen[name] {
			if err := r.loseSegment(ctx, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func splitName(file string) (id.Segment, string) {
	suffix := path.Ext(file)
	if suffix != segment.OpenSuffix && suffix != segment.SealedSuffix {
		return "", ""
	}
	name, err := id.Parse[id.Segment](strings.TrimSuffix(file, suffix))
	if err != nil {
		return "", ""
	}
	return name, suffix
}

func (r *recovery) removeStray(name string) error {
	r.report.RemovedFiles++
	return ignoreMissing(removeFileOrFolder(r.s.fs, name))
}

func removeFileOrFolder(tree disk.FS, name string) error {
	if err := tree.Remove(name); err == nil {
		return nil
	}
	return removeFolder(tree, name)
}

// foundSegment is one segment file with the row it has, if any.
type foundSegment struct {
	name   id.Segment
	path   string
	sealed bool // by its name
	row    index.Segment
	known  bool // has a row

	extent segment.Extent
	frames []frameMeta
	size   int64
}

// segmentFile checks one file. kept is false when the file had to go.
func (r *recovery) segmentFile(ctx context.Context, f foundSegment) (kept bool, err error) {
	if f.size, err = r.s.fs.Size(f.path); err != nil {
		return false, err
	}
	f.row, f.known = r.rows[f.name]
	if f.sealed && f.known && f.row.Sealed && f.row.Bytes == f.size {
		return true, nil // the ordinary case: nothing to read
	}
	err = r.readAndComplete(&f)
	if isForeign(err) {
		return false, r.removeStray(f.path)
	}
	if err != nil {
		return false, err
	}
	if f.extent.Frames == 0 {
		return false, r.removeEmpty(f)
	}
	return true, r.adopt(ctx, f)
}

func (r *recovery) readAndComplete(f *foundSegment) error {
	file, err := r.s.fs.Open(f.path)
	if err != nil {
		return err
	}
	err = f.scan(file)
	if err == nil {
		err = r.complete(file, f)
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	return err
}

// isForeign says that the file's header is not one that this program wrote completely.
func isForeign(err error) bool {
	return errors.Is(err, segment.ErrNotASegment) || errors.Is(err, segment.ErrUnsupportedVersion) || errors.Is(err, segment.ErrCorrupt)
}

// removeEmpty removes a segment that was created and never got a record.
func (r *recovery) removeEmpty(f foundSegment) error {
	if err := r.removeStray(f.path); err != nil || !f.known {
		return err
	}
	delete(r.rows, f.name)
	return r.s.ix.Do(context.Background(), func(tx *index.Tx) error { return tx.ForgetSegment(f.row.Key) })
}

func (f *foundSegment) scan(file disk.File) error {
	extent, err := segment.Scan(file, f.size, func(rec segment.Record) error {
		var m frameMeta
		if json.Unmarshal(rec.Meta, &m) != nil || checkFrame(m.Frame) != nil {
			return nil // a valid record of a frame that cannot be named is of no use
		}
		m.SegmentID, m.Offset, m.Bytes = f.name, rec.Offset, rec.Payload
		f.frames = append(f.frames, m)
		return nil
	})
	f.extent = extent
	return err
}

// complete cuts the file behind its last good record and seals it there.
func (r *recovery) complete(file disk.File, f *foundSegment) error {
	if f.extent.Sealed && f.sealed || f.extent.Frames == 0 {
		return nil
	}
	r.report.SealedSegments++
	if !f.extent.Sealed {
		r.report.TruncatedBytes += f.size - f.extent.End
		if err := file.Truncate(f.extent.End); err != nil {
			return err
		}
		if err := segment.WriteSeal(file, f.extent); err != nil {
			return err
		}
		f.size = f.extent.End + segment.SealSize
	}
	return file.Sync()
}

// adopt gives a complete file its sealed name and its rows.
func (r *recovery) adopt(ctx context.Context, f foundSegment) error {
	if !f.sealed {
		if err := r.s.fs.Rename(f.path, segment.SealedName(f.name)); err != nil {
			return err
		}
	}
	if err := r.s.fs.SyncDir(segment.Dir); err != nil {
		return err
	}
	row := f.row
	if !f.known {
		row = index.Segment{Key: r.next, ID: f.name, Session: f.extent.Header.Session, CreatedWall: f.extent.Header.CreatedWallNS}
		r.next++
	}
	row.Sealed, row.Bytes, row.LastWall = true, f.size, max(row.LastWall, row.CreatedWall)
	for _, m := range f.frames {
		row.LastWall = max(row.LastWall, m.WallNS)
	}
	return r.s.ix.Do(ctx, func(tx *index.Tx) error { return r.enter(tx, row, f) })
}

// enter brings the rows of an adopted file in line with what is in it.
func (r *recovery) enter(tx *index.Tx, row index.Segment, f foundSegment) error {
	if err := tx.Apply(index.SegmentRow{Segment: row}); err != nil {
		return err
	}
	if err := tx.EnsureSession(record.Session{ID: row.Session, StartedAt: time.Unix(0, row.CreatedWall)}); err != nil {
		return err
	}
	lost, err := tx.LoseFramesBehind(row.Key, f.extent.End, r.s.wallTime().UnixNano())
	if err != nil {
		return err
	}
	before, err := tx.CountFrames(row.Key)
	if err != nil {
		return err
	}
	for _, m := range f.frames {
		if err := tx.Apply(index.FrameRow{Frame: m.Frame, Segment: row.Key}); err != nil {
			return err
		}
	}
	after, err := tx.CountFrames(row.Key)
	r.report.LostFrames += lost
	r.report.IndexedFrames += after - before
	return err
}

// loseSegment turns the rows of a segment without a file into gaps.
func (r *recovery) loseSegment(ctx context.Context, row index.Segment) error {
	r.report.LostSegments++
	return r.s.ix.Do(ctx, func(tx *index.Tx) error {
		name := segment.SealedName(row.ID)
		if _, err := tx.EvictSegment(row.Key, name, r.s.wallTime().UnixNano()); err != nil {
			return err
		}
		return tx.Deleted(name)
	})
}

// artifacts removes folders without a row and rows without their files.
func (r *recovery) artifacts(ctx context.Context) error {
	rows, err := r.s.ix.Artifacts(ctx)
	if err != nil {
		return err
	}
	known := map[string]index.Artifact{}
	for _, a := range rows {
		known[string(a.ID)] = a
	}
	entries, err := r.s.fs.ReadDir(index.ArtifactsDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		a, ok := known[e.Name()]
		if ok && folderBytes(r.s.fs, index.ArtifactDir(a.ID)) == a.Bytes {
			delete(known, e.Name())
			continue
		}
		if !ok {
			if err := r.removeStray(index.ArtifactsDir + "/" + e.Name()); err != nil {
				return err
			}
		}
	}
	for _, a := range known {
		if err := r.loseArtifact(ctx, a.ID); err != nil {
			return err
		}
	}
	return nil
}

func (r *recovery) loseArtifact(ctx context.Context, a id.Artifact) error {
	r.report.LostArtifacts++
	if err := removeFolder(r.s.fs, index.ArtifactDir(a)); err != nil {
		return err
	}
	return r.s.ix.Do(ctx, func(tx *index.Tx) error {
		var out index.Removal
		if err := tx.DropArtifact(a, index.Evicted, &out); err != nil {
			return err
		}
		return tx.Deleted(index.ArtifactDir(a))
	})
}

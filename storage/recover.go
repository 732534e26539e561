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
	return r.artifacts(ctx)
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
		kept, err := r.segmentFile(ctx, name, suffix == segment.SealedSuffix)
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

// segmentFile checks one file. kept is false when the file had to go.
func (r *recovery) segmentFile(ctx context.Context, name id.Segment, sealed bool) (kept bool, err error) {
	file := segment.OpenName(name)
	if sealed {
		file = segment.SealedName(name)
	}
	size, err := r.s.fs.Size(file)
	if err != nil {
		return false, err
	}
	row, known := r.rows[name]
	if sealed && known && row.Sealed && row.Bytes == size {
		return true, nil // the ordinary case: nothing to read
	}
	f, err := r.s.fs.Open(file)
	if err != nil {
		return false, err
	}
	found, err := r.scan(f, size)
	if err == nil {
		err = r.complete(f, &found, size, sealed)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if isForeign(err) {
		return false, r.removeStray(file)
	}
	if err != nil {
		return false, err
	}
	if found.empty() {
		return false, r.removeEmpty(file, known, row)
	}
	return true, r.adopt(ctx, name, found, row, known, sealed)
}

// isForeign says that the file's header is not one that this program wrote completely.
func isForeign(err error) bool {
	return errors.Is(err, segment.ErrNotASegment) || errors.Is(err, segment.ErrUnsupportedVersion) || errors.Is(err, segment.ErrCorrupt)
}

// removeEmpty removes a segment that was created and never got a record.
func (r *recovery) removeEmpty(file string, known bool, row index.Segment) error {
	if err := r.removeStray(file); err != nil || !known {
		return err
	}
	delete(r.rows, row.ID)
	return r.s.ix.Do(context.Background(), func(tx *index.Tx) error { return tx.ForgetSegment(row.Key) })
}

// found is what a segment file holds.
type foundSegment struct {
	extent segment.Extent
	frames []frameMeta
	size   int64 // after completion
}

func (f foundSegment) empty() bool { return f.extent.Frames == 0 }

func (r *recovery) scan(f disk.File, size int64) (foundSegment, error) {
	var out foundSegment
	var err error
	out.extent, err = segment.Scan(f, size, func(rec segment.Record) error {
		var m frameMeta
		if json.Unmarshal(rec.Meta, &m) != nil || checkFrame(m.Frame) != nil {
			return nil // a valid record of a frame that cannot be named is of no use
		}
		m.Offset, m.Bytes = rec.Offset, rec.Payload
		out.frames = append(out.frames, m)
		return nil
	})
	out.size = size
	return out, err
}

// complete cuts the file behind its last good record and seals it there.
func (r *recovery) complete(f disk.File, found *foundSegment, size int64, sealed bool) error {
	if found.extent.Sealed && sealed || found.empty() {
		return nil
	}
	r.report.SealedSegments++
	if !found.extent.Sealed {
		r.report.TruncatedBytes += size - found.extent.End
		if err := f.Truncate(found.extent.End); err != nil {
			return err
		}
		if err := segment.WriteSeal(f, found.extent); err != nil {
			return err
		}
		found.size = found.extent.End + segment.SealSize
	}
	return f.Sync()
}

// adopt gives a complete file its sealed name and its rows.
func (r *recovery) adopt(ctx context.Context, name id.Segment, found foundSegment, row index.Segment, known, sealed bool) error {
	if !sealed {
		if err := r.s.fs.Rename(segment.OpenName(name), segment.SealedName(name)); err != nil {
			return err
		}
	}
	if err := r.s.fs.SyncDir(segment.Dir); err != nil {
		return err
	}
	if !known {
		row = index.Segment{Key: r.next, ID: name, Session: found.extent.Header.Session, CreatedWall: found.extent.Header.CreatedWallNS}
		r.next++
	}
	row.Sealed, row.Bytes, row.LastWall = true, found.size, max(row.LastWall, row.CreatedWall)
	rows := make([]index.Row, 0, len(found.frames))
	for _, m := range found.frames {
		row.LastWall = max(row.LastWall, m.WallNS)
		m.Frame.SegmentID = name
		rows = append(rows, index.FrameRow{Frame: m.Frame, Segment: row.Key})
	}
	placeholder := record.Session{ID: row.Session, StartedAt: time.Unix(0, row.CreatedWall)}
	return r.s.ix.Do(ctx, func(tx *index.Tx) error {
		if err := tx.Apply(index.SegmentRow{Segment: row}); err != nil {
			return err
		}
		if err := tx.EnsureSession(placeholder); err != nil {
			return err
		}
		lost, err := tx.LoseFramesBehind(row.Key, found.extent.End, r.s.wallTime().UnixNano())
		if err != nil {
			return err
		}
		r.report.LostFrames += lost
		before, err := tx.CountFrames(row.Key)
		if err != nil {
			return err
		}
		if err := tx.Apply(rows...); err != nil {
			return err
		}
		after, err := tx.CountFrames(row.Key)
		r.report.IndexedFrames += after - before
		return err
	})
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

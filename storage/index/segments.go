package index

import (
	"context"
	"database/sql"

	"github.com/krometrail/krometrail/core/id"
)

// Segment is the row of one segment file.
type Segment struct {
	Key     int64
	ID      id.Segment
	Session id.Session
	Sealed  bool
	// Bytes is the file's length; of an open segment, the length at its last change of row.
	Bytes int64
	// CreatedWall and LastWall are the wall times of the file's creation and of its newest record.
	CreatedWall, LastWall int64
}

// SegmentRow adds or replaces a segment's row. The caller chooses the key.
type SegmentRow struct{ Segment Segment }

func (r SegmentRow) apply(t *Tx) error {
	s := r.Segment
	_, err := t.exec(`INSERT OR REPLACE INTO segments(key, id, session, sealed, bytes, created_wall, last_wall) VALUES(?,?,?,?,?,?,?)`,
		s.Key, s.ID, s.Session, s.Sealed, s.Bytes, s.CreatedWall, s.LastWall)
	return err
}

// Apply writes rows inside work that runs alone.
func (t *Tx) Apply(rows ...Row) error {
	for _, r := range rows {
		if err := r.apply(t); err != nil {
			return err
		}
	}
	return nil
}

// Segments returns all rows in key order, which is the order of creation.
func (x *Index) Segments(ctx context.Context) ([]Segment, error) {
	scan := func(r *sql.Rows) (s Segment, err error) {
		err = r.Scan(&s.Key, &s.ID, &s.Session, &s.Sealed, &s.Bytes, &s.CreatedWall, &s.LastWall)
		return s, err
	}
	return list(ctx, x.read, scan, `SELECT key, id, session, sealed, bytes, created_wall, last_wall FROM segments ORDER BY key`)
}

// Artifact is the part of an artifact's row that retention needs.
type Artifact struct {
	ID          id.Artifact
	Session     id.Session
	Bytes       int64
	CreatedWall int64
	// Segments are the keys of the segments that hold its sources.
	Segments []int64
}

// Artifacts returns all artifacts, oldest first.
func (x *Index) Artifacts(ctx context.Context) ([]Artifact, error) {
	scan := func(r *sql.Rows) (a Artifact, err error) {
		err = r.Scan(&a.ID, &a.Session, &a.Bytes, &a.CreatedWall)
		return a, err
	}
	all, err := list(ctx, x.read, scan, `SELECT id, session, bytes, created_wall FROM artifacts ORDER BY created_wall, id`)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Segments, err = list(ctx, x.read, scanOne[int64], `SELECT segment FROM artifact_segments WHERE artifact = ? ORDER BY segment`, all[i].ID)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// StreamState is what a stream's writer has to know after a restart.
type StreamState struct {
	Session     id.Session
	Target      id.Target
	LastOrdinal uint64
	NewestNS    int64
}

// Streams returns the end of each stream that has frames.
func (x *Index) Streams(ctx context.Context) ([]StreamState, error) {
	scan := func(r *sql.Rows) (s StreamState, err error) {
		var ordinal int64
		err = r.Scan(&s.Session, &s.Target, &ordinal, &s.NewestNS)
		s.LastOrdinal = uint64(ordinal)
		return s, err
	}
	return list(ctx, x.read, scan, `SELECT session, target, o, n FROM (SELECT session, target,
		(SELECT max(ordinal) FROM frames WHERE stream = s.key) AS o, (SELECT max(time_ns) FROM frames WHERE stream = s.key) AS n
		FROM streams s) WHERE o IS NOT NULL`)
}

// OldestEvent returns the wall time of the oldest event that no pin protects; 0 when there is none.
func (t *Tx) OldestEvent() (wall int64, err error) {
	_, err = t.one(`SELECT wall FROM events WHERE 1`+unpinnedEvent+` ORDER BY wall LIMIT 1`, nil, &wall)
	return wall, err
}

package index

import (
	"context"
	"slices"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// ArtifactsDir is the folder of artifacts inside an instance root.
const ArtifactsDir = "artifacts"

// ArtifactDir is the folder of one artifact.
func ArtifactDir(a id.Artifact) string { return ArtifactsDir + "/" + string(a) }

// AddArtifact stores an artifact whose files are in place; bytes is the length of all its files. ok is false,
// and nothing is stored, when one of its sources has no row any more. The segments of the sources are returned.
func (t *Tx) AddArtifact(a record.Artifact, bytes int64) (segments []int64, ok bool, err error) {
	for _, source := range a.Sources {
		key, ok, err := t.segmentOf(source, segments)
		if err != nil || !ok {
			return nil, false, err
		}
		if !slices.Contains(segments, key) {
			segments = append(segments, key)
		}
	}
	text, err := encode(storedArtifact{Artifact: a, CacheKey: a.CacheKey, Sources: a.Sources})
	if err != nil {
		return nil, false, err
	}
	if _, err := t.exec(`INSERT INTO artifacts(id, cache_key, session, bytes, created_wall, body) VALUES(?,?,?,?,?,?)`,
		a.ID, a.CacheKey, a.SessionID, bytes, a.CreatedAt.UnixNano(), text); err != nil {
		return nil, false, err
	}
	for _, key := range segments {
		if _, err := t.exec(`INSERT INTO artifact_segments(artifact, segment) VALUES(?, ?)`, a.ID, key); err != nil {
			return nil, false, err
		}
	}
	return segments, true, nil
}

// segmentOf finds the segment of a frame, first among the segments of its neighbours.
func (t *Tx) segmentOf(f id.Frame, near []int64) (key int64, ok bool, err error) {
	for _, key := range near {
		ok, err := t.one(`SELECT segment FROM frames WHERE segment = ? AND id = ?`, []any{key, packID(string(f))}, &key)
		if err != nil || ok {
			return key, ok, err
		}
	}
	ok, err = t.one(`SELECT g.key FROM segments g CROSS JOIN frames f INDEXED BY frames_by_segment ON f.segment = g.key
		WHERE f.id = ? ORDER BY g.key DESC LIMIT 1`, []any{packID(string(f))}, &key)
	return key, ok, err
}

// storedArtifact adds what an artifact's public form leaves out.
type storedArtifact struct {
	record.Artifact
	CacheKey string     `json:"cache_key"`
	Sources  []id.Frame `json:"sources"`
}

func (s storedArtifact) artifact() record.Artifact {
	a := s.Artifact
	a.CacheKey, a.Sources = s.CacheKey, s.Sources
	return a
}

// ArtifactByKey returns the artifact with a cache key; ok is false when there is none.
func (x *Index) ArtifactByKey(ctx context.Context, cacheKey string) (record.Artifact, bool, error) {
	s, ok, err := body[storedArtifact](ctx, x, `SELECT body FROM artifacts WHERE cache_key = ?`, cacheKey)
	return s.artifact(), ok, err
}

// Artifact returns one artifact; ok is false when it has no row.
func (x *Index) Artifact(ctx context.Context, a id.Artifact) (record.Artifact, bool, error) {
	s, ok, err := body[storedArtifact](ctx, x, `SELECT body FROM artifacts WHERE id = ?`, a)
	return s.artifact(), ok, err
}

// Gone says why an identifier leads nowhere: Evicted, Deleted, or 0 when it is not remembered.
func (x *Index) Gone(ctx context.Context, name string) (int, error) {
	var reason int
	err := x.read.QueryRowContext(ctx, `SELECT reason FROM gone WHERE id = ?`, name).Scan(&reason)
	reason, _, err = found(reason, err)
	return reason, err
}

package index

import (
	"database/sql"
	"math"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Reasons why an identifier leads nowhere any more.
const (
	Evicted = 1
	Deleted = 2
	// goneLimit bounds how many of them are remembered, the newest.
	goneLimit = 65536
)

// Removal is what a change took out of the index. The files are still there: the change put their paths into
// the deletions, and only after that may they be unlinked.
type Removal struct {
	Frames, Events, Artifacts, Pins, Rows int
	// ArtifactIDs are the artifacts that went.
	ArtifactIDs []id.Artifact
}

// loss is what one stream loses with a segment.
type loss struct {
	stream      int64
	session     id.Session
	target      id.Target
	start, end  clock.SessionTime
	first, last int64
	count       int64
}

// EvictSegment removes a segment's rows and the artifacts made from it, records the evicted stretch of each
// stream as a gap, and schedules the files for deletion. path is the segment's file name.
func (t *Tx) EvictSegment(key int64, path string, wall int64) (Removal, error) {
	var out Removal
	losses, err := t.losses(key)
	if err != nil {
		return out, err
	}
	if err := t.dropArtifactsOf(key, &out); err != nil {
		return out, err
	}
	if err := t.dropFrames(key, Evicted, &out); err != nil {
		return out, err
	}
	for _, l := range losses {
		if err := t.recordLoss(l, wall); err != nil {
			return out, err
		}
	}
	return out, t.dropSegmentRow(key, path)
}

func (t *Tx) losses(key int64) ([]loss, error) {
	rows, err := t.query(`SELECT f.stream, s.session, s.target, min(f.time_ns), max(f.time_ns), min(f.ordinal), max(f.ordinal), count(*)
		FROM frames f JOIN streams s ON s.key = f.stream WHERE f.segment = ? GROUP BY f.stream`, key)
	if err != nil {
		return nil, err
	}
	return collect(rows, scanLoss)
}

func scanLoss(r *sql.Rows) (l loss, err error) {
	err = r.Scan(&l.stream, &l.session, &l.target, &l.start, &l.end, &l.first, &l.last, &l.count)
	return l, err
}

// recordLoss marks the stretch as evicted. It extends the stream's evicted gap when nothing retained lies
// between, so that a long recording has one such gap and not one for each segment.
func (t *Tx) recordLoss(l loss, wall int64) error {
	if _, err := t.exec(`UPDATE streams SET evicted_through_ns = max(coalesce(evicted_through_ns, ?1), ?1) WHERE key = ?2`, l.end, l.stream); err != nil {
		return err
	}
	gap := record.Gap{
		ID: id.New[id.Gap](), SessionID: l.session, TargetID: l.target, Reason: record.GapEvicted, Stream: record.StreamFrames,
		StartNS: l.start, EndNS: &l.end, FirstOrdinal: uint64(l.first), LastOrdinal: uint64(l.last), Count: uint64(l.count),
	}
	var text []byte
	ok, err := t.one(`SELECT body FROM facts WHERE session = ? AND target = ? AND tag = 'evicted'
		AND body ->> '$.stream' = 'frames' AND body ->> '$.last_ordinal' < ? ORDER BY body ->> '$.last_ordinal' DESC LIMIT 1`, []any{l.session, l.target, l.first}, &text)
	if err != nil {
		return err
	}
	if ok {
		if err := t.extend(&gap, text, l); err != nil {
			return err
		}
	}
	return t.putGap(gap, wall)
}

func (t *Tx) putGap(gap record.Gap, wall int64) error {
	row, err := NewFactRow(gap, wall)
	if err != nil {
		return err
	}
	return row.apply(t)
}

// absorb makes gap the continuation of an earlier one, whose place it takes.
func absorb(gap *record.Gap, before record.Gap) {
	end := max(openEnd(before.EndNS), *gap.EndNS)
	gap.ID, gap.StartNS, gap.EndNS = before.ID, min(before.StartNS, gap.StartNS), &end
	gap.Count += before.Count
}

// extend makes gap the continuation of the earlier one in text when they touch.
func (t *Tx) extend(gap *record.Gap, text []byte, l loss) error {
	before, err := decode[record.Gap](text)
	if err != nil {
		return err
	}
	var between bool
	_, err = t.one(`SELECT EXISTS(SELECT 1 FROM frames WHERE stream = ? AND ordinal > ? AND ordinal < ?)`,
		[]any{l.stream, int64(before.LastOrdinal), l.first}, &between)
	if err != nil || between {
		return err
	}
	gap.FirstOrdinal = before.FirstOrdinal
	absorb(gap, before)
	return nil
}

func (t *Tx) dropFrames(key int64, reason int, out *Removal) error {
	rows, err := t.query(`SELECT id FROM frames WHERE segment = ?`, key)
	if err != nil {
		return err
	}
	ids, err := collect(rows, scanOne[int64])
	if err != nil {
		return err
	}
	for _, packed := range ids {
		if err := t.remember(unpackID(id.Frame("").Prefix(), packed), reason); err != nil {
			return err
		}
	}
	if err := t.forgetOldest(); err != nil {
		return err
	}
	n, err := t.exec(`DELETE FROM frames WHERE segment = ?`, key)
	out.Frames += int(n)
	out.Rows += int(n)
	return err
}

func (t *Tx) remember(name string, reason int) error {
	_, err := t.exec(`INSERT INTO gone(id, reason) VALUES(?, ?) ON CONFLICT(id) DO UPDATE SET reason = excluded.reason`, name, reason)
	return err
}

func (t *Tx) forgetOldest() error {
	_, err := t.exec(`DELETE FROM gone WHERE seq <= (SELECT max(seq) FROM gone) - ?`, goneLimit)
	return err
}

func (t *Tx) dropSegmentRow(key int64, path string) error {
	if _, err := t.exec(`DELETE FROM pin_segments WHERE segment = ?`, key); err != nil {
		return err
	}
	if _, err := t.exec(`INSERT OR REPLACE INTO deletions(path, bytes) SELECT ?, bytes FROM segments WHERE key = ?`, path, key); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM segments WHERE key = ?`, key)
	return err
}

func (t *Tx) dropArtifactsOf(segment int64, out *Removal) error {
	rows, err := t.query(`SELECT artifact FROM artifact_segments WHERE segment = ?`, segment)
	if err != nil {
		return err
	}
	ids, err := collect(rows, scanOne[id.Artifact])
	if err != nil {
		return err
	}
	for _, a := range ids {
		if err := t.DropArtifact(a, Evicted, out); err != nil {
			return err
		}
	}
	return nil
}

// DropArtifact removes an artifact's rows and schedules its folder for deletion.
func (t *Tx) DropArtifact(a id.Artifact, reason int, out *Removal) error {
	_, err := t.exec(`INSERT OR REPLACE INTO deletions(path, bytes) SELECT ?, bytes FROM artifacts WHERE id = ?`, ArtifactDir(a), a)
	if err != nil {
		return err
	}
	if _, err := t.exec(`DELETE FROM artifact_segments WHERE artifact = ?`, a); err != nil {
		return err
	}
	n, err := t.exec(`DELETE FROM artifacts WHERE id = ?`, a)
	if err != nil || n == 0 {
		return err
	}
	out.Artifacts++
	out.Rows++
	out.ArtifactIDs = append(out.ArtifactIDs, a)
	return t.remember(string(a), reason)
}

// unpinned is the condition that no pin covers an event or fact of the outer query's table.
const unpinnedEvent = ` AND NOT EXISTS(SELECT 1 FROM pins p WHERE p.session = events.session AND events.target IN (p.target, '')
	AND events.at_ns BETWEEN p.start_ns AND p.end_ns)`

// DropEvents removes events that were accepted at or before wall, at most limit of the oldest, pinned ones
// excepted. What went of a target is one gap of its events, from the first to the last of them.
func (t *Tx) DropEvents(wall int64, limit int, now int64) (int, error) {
	const chosen = `SELECT key FROM events WHERE wall <= ?` + unpinnedEvent + ` ORDER BY wall LIMIT ?`
	rows, err := t.query(`SELECT session, target, min(at_ns), max(at_ns), count(*) FROM events WHERE key IN (`+chosen+`)
		GROUP BY session, target`, wall, limit)
	if err != nil {
		return 0, err
	}
	lost, err := collect(rows, scanEventLoss)
	if err != nil {
		return 0, err
	}
	n, err := t.exec(`DELETE FROM events WHERE key IN (`+chosen+`)`, wall, limit)
	if err != nil {
		return 0, err
	}
	for _, l := range lost {
		if err := t.recordEventLoss(l, now); err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

func scanEventLoss(r *sql.Rows) (record.Gap, error) {
	var end clock.SessionTime
	g := record.Gap{ID: id.New[id.Gap](), Reason: record.GapEvicted, Stream: record.StreamEvents, EndNS: &end}
	err := r.Scan(&g.SessionID, &g.TargetID, &g.StartNS, &end, &g.Count)
	return g, err
}

// recordEventLoss extends the target's gap of evicted events: they go in the order of their acceptance, so one does.
func (t *Tx) recordEventLoss(lost record.Gap, now int64) error {
	var text []byte
	ok, err := t.one(`SELECT body FROM facts WHERE session = ? AND target = ? AND tag = 'evicted' AND body ->> '$.stream' = ?`,
		[]any{lost.SessionID, lost.TargetID, record.StreamEvents}, &text)
	if err != nil {
		return err
	}
	if ok {
		before, err := decode[record.Gap](text)
		if err != nil {
			return err
		}
		absorb(&lost, before)
	}
	return t.putGap(lost, now)
}

// DropAged removes facts and samples that were accepted before wall, and ended sessions of which nothing else
// is left. It returns how many rows went.
func (t *Tx) DropAged(wall int64) (int, error) {
	facts, err := t.exec(`DELETE FROM facts WHERE wall < ? AND NOT EXISTS(SELECT 1 FROM pins p WHERE p.session = facts.session
		AND facts.target IN (p.target, '') AND facts.end_ns >= p.start_ns AND facts.start_ns <= p.end_ns)`, wall)
	if err != nil {
		return 0, err
	}
	samples, err := t.exec(`DELETE FROM samples WHERE wall_ns < ? AND session NOT IN (SELECT session FROM pins)`, wall)
	if err != nil {
		return 0, err
	}
	sessions, err := t.dropEmptySessions(wall)
	return int(facts+samples) + sessions, err
}

// DropFactsBefore removes the oldest facts, at most limit, whatever their age: the last thing that is left to
// give when the index itself fills the share.
func (t *Tx) DropFactsBefore(limit int) (int, error) {
	n, err := t.exec(`DELETE FROM facts WHERE (kind, id) IN (SELECT kind, id FROM facts WHERE tag <> 'evicted' AND end_ns < ?
		AND NOT EXISTS(SELECT 1 FROM pins p WHERE p.session = facts.session AND facts.target IN (p.target, ''))
		ORDER BY wall LIMIT ?)`, int64(math.MaxInt64), limit)
	return int(n), err
}

// Deletion is a file or artifact folder that no row refers to and that is still to be unlinked.
type Deletion struct {
	Path  string
	Bytes int64
}

// Deletions lists what is still to be unlinked.
func (t *Tx) Deletions() ([]Deletion, error) {
	rows, err := t.query(`SELECT path, bytes FROM deletions ORDER BY path`)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(r *sql.Rows) (d Deletion, err error) { err = r.Scan(&d.Path, &d.Bytes); return d, err })
}

// Deleted forgets deletions whose files are gone for good.
func (t *Tx) Deleted(paths ...string) error {
	for _, p := range paths {
		if _, err := t.exec(`DELETE FROM deletions WHERE path = ?`, p); err != nil {
			return err
		}
	}
	return nil
}

// DeletedRow forgets deletions with the next batch.
type DeletedRow struct{ Paths []string }

func (r DeletedRow) apply(t *Tx) error { return t.Deleted(r.Paths...) }

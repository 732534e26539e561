package index

import (
	"github.com/krometrail/krometrail/core/id"
)

// dropEmptySessions removes ended sessions without any evidence.
func (t *Tx) dropEmptySessions(wall int64) (int, error) {
	rows, err := t.query(`SELECT id FROM sessions s WHERE ended_wall < ?
		AND NOT EXISTS(SELECT 1 FROM segments WHERE session = s.id) AND NOT EXISTS(SELECT 1 FROM events WHERE session = s.id)
		AND NOT EXISTS(SELECT 1 FROM artifacts WHERE session = s.id) AND NOT EXISTS(SELECT 1 FROM facts WHERE session = s.id AND tag <> 'evicted')`, wall)
	if err != nil {
		return 0, err
	}
	ids, err := collect(rows, scanOne[id.Session])
	if err != nil {
		return 0, err
	}
	total := 0
	for _, s := range ids {
		n, err := t.dropSessionRows(s)
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// dropSessionRows removes every row that names the session, apart from frames, segments and artifacts.
func (t *Tx) dropSessionRows(s id.Session) (int, error) {
	total := 0
	for _, query := range []string{
		`DELETE FROM facts WHERE session = ?`, `DELETE FROM samples WHERE session = ?`, `DELETE FROM events WHERE session = ?`,
		`DELETE FROM streams WHERE session = ?`, `DELETE FROM sessions WHERE id = ?`,
	} {
		n, err := t.exec(query, s)
		if err != nil {
			return total, err
		}
		total += int(n)
	}
	for name := range t.streams {
		if name.session == string(s) {
			delete(t.streams, name)
		}
	}
	return total, nil
}

// DropSession removes everything of a session and schedules its files for deletion. paths maps the keys of its
// segments to their file names.
func (t *Tx) DropSession(s id.Session, paths map[int64]string) (Removal, error) {
	var out Removal
	rows, err := t.query(`SELECT id FROM artifacts WHERE session = ?`, s)
	if err != nil {
		return out, err
	}
	artifacts, err := collect(rows, scanOne[id.Artifact])
	if err != nil {
		return out, err
	}
	for _, a := range artifacts {
		if err := t.DropArtifact(a, Deleted, &out); err != nil {
			return out, err
		}
	}
	if err := t.dropPins(s, &out); err != nil {
		return out, err
	}
	for key, path := range paths {
		if err := t.dropFrames(key, Deleted, &out); err != nil {
			return out, err
		}
		if err := t.dropSegmentRow(key, path); err != nil {
			return out, err
		}
		out.Rows++
	}
	if out.Events, err = t.DropEventsOf(s); err != nil {
		return out, err
	}
	n, err := t.dropSessionRows(s)
	out.Rows += n + out.Events
	return out, err
}

// DropEventsOf removes all events of a session.
func (t *Tx) DropEventsOf(s id.Session) (int, error) {
	n, err := t.exec(`DELETE FROM events WHERE session = ?`, s)
	return int(n), err
}

func (t *Tx) dropPins(s id.Session, out *Removal) error {
	if _, err := t.exec(`DELETE FROM pin_segments WHERE pin IN (SELECT key FROM pins WHERE session = ?)`, s); err != nil {
		return err
	}
	n, err := t.exec(`DELETE FROM pins WHERE session = ?`, s)
	out.Pins = int(n)
	out.Rows += int(n)
	return err
}

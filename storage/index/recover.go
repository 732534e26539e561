package index

import (
	"github.com/krometrail/krometrail/core/record"
)

// ForgetSegment removes the row of a segment that never got a frame.
func (t *Tx) ForgetSegment(key int64) error {
	_, err := t.exec(`DELETE FROM segments WHERE key = ?`, key)
	return err
}

// EnsureSession adds a session unless it has a row.
func (t *Tx) EnsureSession(s record.Session) error {
	var exists bool
	_, err := t.one(`SELECT EXISTS(SELECT 1 FROM sessions WHERE id = ?)`, []any{s.ID}, &exists)
	if err != nil || exists {
		return err
	}
	body, err := encode(s)
	if err != nil {
		return err
	}
	return t.putSession(s, body)
}

// CountFrames counts the frame rows of a segment.
func (t *Tx) CountFrames(segment int64) (n int, err error) {
	_, err = t.one(`SELECT count(*) FROM frames WHERE segment = ?`, []any{segment}, &n)
	return n, err
}

// LoseFramesBehind turns the rows of a segment whose payload ends behind the good end of the file into gaps, and
// returns how many there were.
func (t *Tx) LoseFramesBehind(segment, end, wall int64) (int, error) {
	rows, err := t.query(`SELECT f.stream, s.session, s.target, min(f.time_ns), max(f.time_ns), min(f.ordinal), max(f.ordinal), count(*)
		FROM frames f JOIN streams s ON s.key = f.stream WHERE f.segment = ? AND f.offset + f.bytes > ? GROUP BY f.stream`, segment, end)
	if err != nil {
		return 0, err
	}
	losses, err := collect(rows, scanLoss)
	if err != nil {
		return 0, err
	}
	n, err := t.exec(`DELETE FROM frames WHERE segment = ? AND offset + bytes > ?`, segment, end)
	if err != nil {
		return 0, err
	}
	for _, l := range losses {
		if err := t.recordLoss(l, wall); err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

package index

import (
	"context"
	"database/sql"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/record"
)

// Pin is a stored pin with the segments it protects.
type Pin struct {
	Key    int64
	Window record.Window
	// ThroughNS is the newest recorded time when the pin was made: the part behind it is not protected.
	ThroughNS clock.SessionTime
	Segments  []int64
}

// AddPin stores a pin and the segments that hold its window and the frame before it. ok is false when the
// window is pinned already; the pin returned is then the existing one.
func (t *Tx) AddPin(w record.Window) (p Pin, ok bool, err error) {
	p.Window = w
	exists, err := t.findPin(&p)
	if err != nil || exists {
		return p, false, err
	}
	stream, err := t.stream(string(w.SessionID), string(w.TargetID))
	if err != nil {
		return p, false, err
	}
	if p.Segments, err = t.segmentsOf(stream, w); err != nil {
		return p, false, err
	}
	var newest sql.NullInt64
	if _, err := t.one(`SELECT max(time_ns) FROM frames WHERE stream = ?`, []any{stream}, &newest); err != nil {
		return p, false, err
	}
	p.ThroughNS = min(w.EndNS, clock.SessionTime(newest.Int64))
	if len(p.Segments) == 0 {
		return p, false, nil
	}
	if _, err := t.exec(`INSERT INTO pins(session, target, start_ns, end_ns, through_ns) VALUES(?,?,?,?,?)`,
		w.SessionID, w.TargetID, w.StartNS, w.EndNS, p.ThroughNS); err != nil {
		return p, false, err
	}
	stored := Pin{Window: w}
	if _, err := t.findPin(&stored); err != nil {
		return p, false, err
	}
	p.Key = stored.Key
	return p, true, t.ProtectSegments(p.Key, p.Segments...)
}

// ProtectSegments adds segments to a pin.
func (t *Tx) ProtectSegments(pin int64, segments ...int64) error {
	for _, s := range segments {
		if _, err := t.exec(`INSERT INTO pin_segments(pin, segment) VALUES(?, ?) ON CONFLICT DO NOTHING`, pin, s); err != nil {
			return err
		}
	}
	return nil
}

// PinSegmentRow adds one segment to a pin with the next batch.
type PinSegmentRow struct{ Pin, Segment int64 }

func (r PinSegmentRow) apply(t *Tx) error { return t.ProtectSegments(r.Pin, r.Segment) }

func (t *Tx) findPin(p *Pin) (bool, error) {
	w := p.Window
	ok, err := t.one(`SELECT key, through_ns FROM pins WHERE session = ? AND target = ? AND start_ns = ? AND end_ns = ?`,
		[]any{w.SessionID, w.TargetID, w.StartNS, w.EndNS}, &p.Key, &p.ThroughNS)
	if err != nil || !ok {
		return false, err
	}
	rows, err := t.query(`SELECT segment FROM pin_segments WHERE pin = ? ORDER BY segment`, p.Key)
	if err != nil {
		return false, err
	}
	p.Segments, err = collect(rows, scanOne[int64])
	return true, err
}

// segmentsOf finds the segments of the window's frames and of the carry-in frame before them.
func (t *Tx) segmentsOf(stream int64, w record.Window) ([]int64, error) {
	rows, err := t.query(`SELECT DISTINCT segment FROM frames WHERE stream = ?1 AND time_ns BETWEEN ?2 AND ?3
		UNION SELECT segment FROM (SELECT segment FROM frames WHERE stream = ?1 AND time_ns < ?2 ORDER BY time_ns DESC, ordinal DESC LIMIT 1)`,
		stream, w.StartNS, w.EndNS)
	if err != nil {
		return nil, err
	}
	return collect(rows, scanOne[int64])
}

// RemovePin removes the pin of exactly this window; ok is false when there is none.
func (t *Tx) RemovePin(w record.Window) (p Pin, ok bool, err error) {
	p.Window = w
	if ok, err = t.findPin(&p); err != nil || !ok {
		return p, false, err
	}
	if _, err := t.exec(`DELETE FROM pin_segments WHERE pin = ?`, p.Key); err != nil {
		return p, false, err
	}
	_, err = t.exec(`DELETE FROM pins WHERE key = ?`, p.Key)
	return p, err == nil, err
}

// Pins returns all pins in order of creation.
func (x *Index) Pins(ctx context.Context) ([]Pin, error) {
	scan := func(r *sql.Rows) (p Pin, err error) {
		w := &p.Window
		err = r.Scan(&p.Key, &w.SessionID, &w.TargetID, &w.StartNS, &w.EndNS, &p.ThroughNS)
		return p, err
	}
	pins, err := list(ctx, x.read, scan, `SELECT key, session, target, start_ns, end_ns, through_ns FROM pins ORDER BY key`)
	if err != nil {
		return nil, err
	}
	for i := range pins {
		pins[i].Segments, err = list(ctx, x.read, scanOne[int64], `SELECT segment FROM pin_segments WHERE pin = ? ORDER BY segment`, pins[i].Key)
		if err != nil {
			return nil, err
		}
	}
	return pins, nil
}

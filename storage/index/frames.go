package index

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// FrameRow makes a stored frame visible. Its segment is named by the key of AddSegment. A frame whose ordinal
// is already there is left as it is, so recovery may repeat rows.
type FrameRow struct {
	Frame   record.Frame
	Segment int64
}

func (r FrameRow) apply(t *Tx) error {
	f := r.Frame
	stream, err := t.stream(string(f.SessionID), string(f.TargetID))
	if err != nil {
		return err
	}
	viewport, err := encode(f.Viewport)
	if err != nil {
		return err
	}
	var warnings any
	if len(f.Warnings) > 0 {
		if warnings, err = encode(f.Warnings); err != nil {
			return err
		}
	}
	_, err = t.exec(`INSERT INTO frames(stream, ordinal, id, time_ns, received_ns, presented_ns, chrome_timestamp, format,
		width, height, segment, offset, bytes, viewport, warnings) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
		stream, int64(f.Ordinal), packID(string(f.ID)), int64(f.Time()), int64(f.ReceivedNS), nullTime(f.PresentedNS),
		f.ChromeTimestamp, f.Format, f.Width, f.Height, r.Segment, f.Offset, f.Bytes, viewport, warnings)
	return err
}

func nullTime(t *clock.SessionTime) any {
	if t == nil {
		return nil
	}
	return int64(*t)
}

const frameColumns = `SELECT f.id, s.session, s.target, f.ordinal, f.received_ns, f.presented_ns, f.chrome_timestamp, f.format,
	f.width, f.height, g.id, f.offset, f.bytes, f.viewport, f.warnings
	FROM frames f INDEXED BY frames_by_time JOIN streams s ON s.key = f.stream JOIN segments g ON g.key = f.segment `

func scanFrame(r interface{ Scan(...any) error }) (record.Frame, error) {
	var (
		f                  record.Frame
		packed, ordinal    int64
		presented          sql.NullInt64
		viewport, warnings []byte
	)
	err := r.Scan(&packed, &f.SessionID, &f.TargetID, &ordinal, &f.ReceivedNS, &presented, &f.ChromeTimestamp, &f.Format,
		&f.Width, &f.Height, &f.SegmentID, &f.Offset, &f.Bytes, &viewport, &warnings)
	if err != nil {
		return f, err
	}
	f.ID, f.Ordinal = id.Frame(unpackID(f.ID.Prefix(), packed)), uint64(ordinal)
	if presented.Valid {
		t := clock.SessionTime(presented.Int64)
		f.PresentedNS = &t
	}
	if err := json.Unmarshal(viewport, &f.Viewport); err != nil {
		return f, err
	}
	if warnings != nil {
		err = json.Unmarshal(warnings, &f.Warnings)
	}
	return f, err
}

// frameByID walks the segments from the newest and looks into the part of the index of each.
const frameByID = `SELECT f.id, s.session, s.target, f.ordinal, f.received_ns, f.presented_ns, f.chrome_timestamp, f.format,
	f.width, f.height, g.id, f.offset, f.bytes, f.viewport, f.warnings
	FROM segments g CROSS JOIN frames f INDEXED BY frames_by_segment ON f.segment = g.key JOIN streams s ON s.key = f.stream
	WHERE f.id = ? ORDER BY g.key DESC LIMIT 1`

const streamKey = `(SELECT key FROM streams WHERE session = ? AND target = ?)`

// Frames lists frames of a window in ordinal order; limit 0 means all.
func (x *Index) Frames(ctx context.Context, w record.Window, offset, limit int) ([]record.Frame, int, error) {
	var frames []record.Frame
	var total int
	err := x.view(ctx, func(v *sql.Tx) error {
		err := v.QueryRowContext(ctx, `SELECT count(*) FROM frames WHERE stream = `+streamKey+` AND time_ns BETWEEN ? AND ?`,
			w.SessionID, w.TargetID, w.StartNS, w.EndNS).Scan(&total)
		if err != nil || total == 0 {
			return err
		}
		if limit <= 0 {
			limit = -1
		}
		rows, err := v.QueryContext(ctx, frameColumns+`WHERE f.stream = `+streamKey+` AND f.time_ns BETWEEN ? AND ?
			ORDER BY f.ordinal LIMIT ? OFFSET ?`, w.SessionID, w.TargetID, w.StartNS, w.EndNS, limit, offset)
		if err != nil {
			return err
		}
		frames, err = collect(rows, func(r *sql.Rows) (record.Frame, error) { return scanFrame(r) })
		return err
	})
	return frames, total, err
}

// Frame returns one frame; ok is false when it has no row.
func (x *Index) Frame(ctx context.Context, f id.Frame) (frame record.Frame, ok bool, err error) {
	row := x.read.QueryRowContext(ctx, frameByID, packID(string(f)))
	frame, err = scanFrame(row)
	return found(frame, err)
}

// CarryIn returns the newest frame before t; ok is false when there is none or when a newer one was evicted.
func (x *Index) CarryIn(ctx context.Context, s id.Session, target id.Target, at clock.SessionTime) (frame record.Frame, ok bool, err error) {
	err = x.view(ctx, func(v *sql.Tx) error {
		row := v.QueryRowContext(ctx, frameColumns+`WHERE f.stream = `+streamKey+` AND f.time_ns < ?
			ORDER BY f.time_ns DESC, f.ordinal DESC LIMIT 1`, s, target, at)
		frame, ok, err = found(scanFrame(row))
		if err != nil || !ok {
			return err
		}
		var hidden bool
		err := v.QueryRowContext(ctx, `SELECT EXISTS(SELECT 1 FROM facts WHERE session = ? AND target = ? AND tag = 'evicted'
			AND body ->> '$.stream' = 'frames' AND end_ns > ? AND end_ns < ?)`, s, target, frame.Time(), at).Scan(&hidden)
		ok = err == nil && !hidden
		return err
	})
	if !ok {
		frame = record.Frame{}
	}
	return frame, ok, err
}

// Retained returns the bounds of what a stream still has.
func (x *Index) Retained(ctx context.Context, s id.Session, target id.Target) (record.Retained, error) {
	var out record.Retained
	err := x.view(ctx, func(v *sql.Tx) error {
		var oldest, newest, evicted sql.NullInt64
		// Two lookups at the ends of the time index and one count of it: no frame row is read.
		err := v.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM frames WHERE stream = s.key), (SELECT min(time_ns) FROM frames WHERE stream = s.key),
			(SELECT max(time_ns) FROM frames WHERE stream = s.key), evicted_through_ns
			FROM streams s WHERE session = ? AND target = ?`, s, target).Scan(&out.Frames, &oldest, &newest, &evicted)
		if _, ok, err := found(0, err); !ok {
			return err
		}
		out.OldestNS, out.NewestNS = clock.SessionTime(oldest.Int64), clock.SessionTime(newest.Int64)
		if evicted.Valid {
			t := clock.SessionTime(evicted.Int64)
			out.EvictedThroughNS = &t
		}
		return nil
	})
	return out, err
}

package index

import (
	"context"
	"database/sql"

	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Sessions returns all sessions, newest first.
func (x *Index) Sessions(ctx context.Context) ([]record.Session, error) {
	return list(ctx, x.read, scanBody[record.Session], `SELECT body FROM sessions ORDER BY started_wall DESC, id`)
}

// Session returns one session; ok is false when it is unknown.
func (x *Index) Session(ctx context.Context, s id.Session) (record.Session, bool, error) {
	return body[record.Session](ctx, x, `SELECT body FROM sessions WHERE id = ?`, s)
}

// Targets returns a session's targets in creation order.
func (x *Index) Targets(ctx context.Context, s id.Session) ([]record.Target, error) {
	return list(ctx, x.read, scanBody[record.Target],
		`SELECT body FROM streams WHERE session = ? AND body IS NOT NULL ORDER BY created_ns, target`, s)
}

// ClockSamples returns a session's samples in time order.
func (x *Index) ClockSamples(ctx context.Context, s id.Session) ([]record.ClockSample, error) {
	scan := func(r *sql.Rows) (record.ClockSample, error) {
		c := record.ClockSample{SessionID: s}
		err := r.Scan(&c.AtNS, &c.WallNS)
		return c, err
	}
	return list(ctx, x.read, scan, `SELECT at_ns, wall_ns FROM samples WHERE session = ? ORDER BY at_ns`, s)
}

// Usage returns one row for each session, newest first, without Bytes: rows do not know how open segments grow.
func (x *Index) Usage(ctx context.Context) ([]record.SessionUsage, error) {
	scan := func(r *sql.Rows) (u record.SessionUsage, err error) {
		var text []byte
		if err := r.Scan(&text, &u.Targets, &u.Frames, &u.Events); err != nil {
			return u, err
		}
		u.Session, err = decode[record.Session](text)
		return u, err
	}
	return list(ctx, x.read, scan, `SELECT body,
		(SELECT count(*) FROM streams WHERE session = s.id AND body IS NOT NULL),
		(SELECT count(*) FROM frames WHERE stream IN (SELECT key FROM streams WHERE session = s.id)),
		(SELECT count(*) FROM events WHERE session = s.id)
		FROM sessions s ORDER BY started_wall DESC, id`)
}

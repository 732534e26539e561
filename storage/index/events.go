package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"

	"github.com/krometrail/krometrail/core/record"
)

// EventRow stores one event; WallNS is the wall time it was accepted at.
type EventRow struct {
	Event  record.Event
	WallNS int64
}

func (r EventRow) apply(t *Tx) error {
	e := r.Event
	_, err := t.exec(`INSERT INTO events(session, target, source, sequence, at_ns, wall, class, severity, payload) VALUES(?,?,?,?,?,?,?,?,?)`,
		e.SessionID, e.TargetID, e.Source, int64(e.Sequence), e.AtNS, r.WallNS, e.Class, e.Severity.Rank(), string(e.Payload))
	return err
}

var severities = [...]record.Severity{record.Debug, record.Info, record.Warning, record.Error}

// A page's lower bound in time is passed twice: as a range, which finds the place in the index, and with source and
// sequence, where the unary plus keeps the comparison from being taken for that range. The two forms of the target
// keep each of its indexes usable.
const (
	eventFilter = ` FROM events WHERE session = ?1 AND at_ns BETWEEN ?3 AND ?4
	AND severity >= ?5 AND (?6 = '' OR class IN (SELECT value FROM json_each(?6)))
	AND (+at_ns, source, sequence) > (?7, ?8, ?9)`
	anyTarget = ` AND ?2 = ''`
	oneTarget = ` AND target = ?2`
)

func eventArguments(q record.EventQuery) (filter string, args []any, err error) {
	classes := ""
	if len(q.Classes) > 0 {
		if classes, err = encode(q.Classes); err != nil {
			return "", nil, err
		}
	}
	rank := 0
	if q.MinSeverity != "" {
		rank = q.MinSeverity.Rank()
	}
	after := record.EventKey{AtNS: math.MinInt64}
	if q.After != nil {
		after = *q.After
	}
	filter = eventFilter + oneTarget
	if q.TargetID == "" {
		filter = eventFilter + anyTarget
	}
	return filter, []any{q.SessionID, q.TargetID, max(q.StartNS, after.AtNS), q.EndNS, rank, classes, after.AtNS, after.Source, int64(after.Sequence)}, nil
}

// Events returns up to q.Limit events in the order of record.EventReader and how many match; limit 0 means all. An empty
// target means all targets and the session's own events.
func (x *Index) Events(ctx context.Context, q record.EventQuery) ([]record.Event, int, error) {
	filter, args, err := eventArguments(q)
	if err != nil {
		return nil, 0, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	var events []record.Event
	var total int
	err = x.view(ctx, func(v *sql.Tx) error {
		if err := v.QueryRowContext(ctx, `SELECT count(*)`+filter, args...).Scan(&total); err != nil {
			return err
		}
		rows, err := v.QueryContext(ctx, `SELECT session, target, source, sequence, at_ns, class, severity, payload`+filter+ //nolint:gosec // one of two constants
			` ORDER BY at_ns, source, sequence LIMIT ?10`, append(args, limit)...)
		if err != nil {
			return err
		}
		events, err = collect(rows, scanEvent)
		return err
	})
	return events, total, err
}

func scanEvent(r *sql.Rows) (e record.Event, err error) {
	var sequence int64
	var rank int
	var payload []byte
	err = r.Scan(&e.SessionID, &e.TargetID, &e.Source, &sequence, &e.AtNS, &e.Class, &rank, &payload)
	e.Sequence, e.Severity, e.Payload = uint64(sequence), severities[rank], json.RawMessage(payload)
	return e, err
}

// CountEvents counts the matches of q by class, without its limit.
func (x *Index) CountEvents(ctx context.Context, q record.EventQuery) (map[record.EventClass]int, error) {
	filter, args, err := eventArguments(q)
	if err != nil {
		return nil, err
	}
	counts := map[record.EventClass]int{}
	scan := func(r *sql.Rows) (struct{}, error) {
		var class record.EventClass
		var n int
		err := r.Scan(&class, &n)
		counts[class] = n
		return struct{}{}, err
	}
	_, err = list(ctx, x.read, scan, `SELECT class, count(*)`+filter+` GROUP BY class`, args...)
	return counts, err
}

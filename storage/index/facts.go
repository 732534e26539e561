package index

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Kinds of facts in the facts table.
const (
	kindGap         = 1
	kindInteraction = 2
	kindNavigation  = 3
	kindMarker      = 4
	kindObserver    = 5
)

// FactRow puts one fact on the timeline.
type FactRow struct {
	fact record.Fact
	wall int64
	body string
}

// NewFactRow renders a fact that was accepted at a wall time in nanoseconds. The error means that the fact holds
// something without a JSON form.
func NewFactRow(f record.Fact, wall int64) (FactRow, error) {
	body, err := encode(f)
	return FactRow{fact: f, wall: wall, body: body}, err
}

func (r FactRow) apply(t *Tx) error {
	switch f := r.fact.(type) {
	case record.Session:
		return t.putSession(f, r.body)
	case record.Target:
		return t.putTarget(f, r.body)
	case record.ClockSample:
		_, err := t.exec(`INSERT OR REPLACE INTO samples(session, at_ns, wall_ns) VALUES(?,?,?)`, f.SessionID, f.AtNS, f.WallNS)
		return err
	case record.Gap:
		return t.putFact(kindGap, string(f.ID), f.SessionID, f.TargetID, f.StartNS, openEnd(f.EndNS), r.wall, string(f.Reason), r.body)
	case record.Interaction:
		return t.putFact(kindInteraction, string(f.ID), f.SessionID, f.TargetID, f.StartedNS, f.End(), r.wall, f.Operation, r.body)
	case record.Navigation:
		return t.putFact(kindNavigation, string(f.ID), f.SessionID, f.TargetID, f.StartNS, navigationEnd(f), r.wall, f.State, r.body)
	case record.Marker:
		return t.putFact(kindMarker, string(f.ID), f.SessionID, f.TargetID, f.AtNS, f.AtNS, r.wall, "", r.body)
	case record.Observer:
		name := fmt.Sprintf("%s/%s/%s/%d", f.SessionID, f.TargetID, f.Kind, f.StartNS)
		return t.putFact(kindObserver, name, f.SessionID, f.TargetID, f.StartNS, f.EndNS, r.wall, "", r.body)
	}
	return fmt.Errorf("index: unknown fact %T", r.fact)
}

// openEnd stands for "still lasting" in comparisons.
func openEnd(t *clock.SessionTime) clock.SessionTime {
	if t == nil {
		return math.MaxInt64
	}
	return *t
}

func navigationEnd(n record.Navigation) clock.SessionTime {
	end := n.StartNS
	for _, t := range []*clock.SessionTime{n.CommitNS, n.DOMNS, n.LoadNS} {
		if t != nil {
			end = max(end, *t)
		}
	}
	return end
}

func (t *Tx) putSession(s record.Session, body string) error {
	var ended any
	if s.EndedAt != nil {
		ended = s.EndedAt.UnixNano()
	}
	_, err := t.exec(`INSERT OR REPLACE INTO sessions(id, started_wall, ended_wall, body) VALUES(?,?,?,?)`,
		s.ID, s.StartedAt.UnixNano(), ended, body)
	return err
}

func (t *Tx) putTarget(target record.Target, body string) error {
	_, err := t.exec(`INSERT INTO streams(session, target, created_ns, body) VALUES(?,?,?,?)
		ON CONFLICT(session, target) DO UPDATE SET created_ns = excluded.created_ns, body = excluded.body`,
		target.SessionID, target.ID, target.CreatedNS, body)
	return err
}

func (t *Tx) putFact(kind int, name string, s id.Session, target id.Target, start, end clock.SessionTime, wall int64, tag, body string) error {
	_, err := t.exec(`INSERT OR REPLACE INTO facts(kind, id, session, target, start_ns, end_ns, wall, tag, body) VALUES(?,?,?,?,?,?,?,?,?)`,
		kind, name, s, target, start, end, wall, tag, body)
	return err
}

// Within returns the facts that touch w, those of the whole session included. An empty target means all.
func (x *Index) Within(ctx context.Context, w record.Window) (record.Facts, error) {
	var facts record.Facts
	err := x.view(ctx, func(v *sql.Tx) error {
		var err error
		if facts.Gaps, err = touching[record.Gap](ctx, v, kindGap, w); err != nil {
			return err
		}
		if facts.Interactions, err = touching[record.Interaction](ctx, v, kindInteraction, w); err != nil {
			return err
		}
		if facts.Navigations, err = touching[record.Navigation](ctx, v, kindNavigation, w); err != nil {
			return err
		}
		if facts.Markers, err = touching[record.Marker](ctx, v, kindMarker, w); err != nil {
			return err
		}
		facts.Observers, err = touching[record.Observer](ctx, v, kindObserver, w)
		return err
	})
	return facts, err
}

func touching[T any](ctx context.Context, v *sql.Tx, kind int, w record.Window) ([]T, error) {
	rows, err := v.QueryContext(ctx, `SELECT body FROM facts INDEXED BY facts_by_end WHERE session = ?1 AND kind = ?2 AND end_ns >= ?3 AND start_ns <= ?4
		AND (?5 = '' OR target IN (?5, '')) ORDER BY start_ns, id`, w.SessionID, kind, w.StartNS, w.EndNS, w.TargetID)
	if err != nil {
		return nil, err
	}
	return collect(rows, scanBody[T])
}

// Interactions returns the newest n interactions of a session, newest first; an empty target means all.
func (x *Index) Interactions(ctx context.Context, s id.Session, target id.Target, n int) ([]record.Interaction, error) {
	return list(ctx, x.read, scanBody[record.Interaction], `SELECT body FROM facts WHERE session = ?1 AND kind = ?2
		AND (?3 = '' OR target = ?3) ORDER BY start_ns DESC, id DESC LIMIT ?4`, s, kindInteraction, target, n)
}

// Interaction returns one interaction; ok is false when it is unknown.
func (x *Index) Interaction(ctx context.Context, i id.Interaction) (record.Interaction, bool, error) {
	return fact[record.Interaction](ctx, x, kindInteraction, string(i))
}

// Navigation returns one navigation; ok is false when it is unknown.
func (x *Index) Navigation(ctx context.Context, n id.Navigation) (record.Navigation, bool, error) {
	return fact[record.Navigation](ctx, x, kindNavigation, string(n))
}

// Marker returns one marker; ok is false when it is unknown.
func (x *Index) Marker(ctx context.Context, m id.Marker) (record.Marker, bool, error) {
	return fact[record.Marker](ctx, x, kindMarker, string(m))
}

func fact[T any](ctx context.Context, x *Index, kind int, name string) (v T, ok bool, err error) {
	return body[T](ctx, x, `SELECT body FROM facts WHERE kind = ? AND id = ?`, kind, name)
}

func body[T any](ctx context.Context, x *Index, query string, args ...any) (v T, ok bool, err error) {
	var text []byte
	_, ok, err = found(0, x.read.QueryRowContext(ctx, query, args...).Scan(&text))
	if !ok {
		return v, false, err
	}
	v, err = decode[T](text)
	return v, err == nil, err
}

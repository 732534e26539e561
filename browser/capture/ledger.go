package capture

import (
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// MaxGaps bounds the gaps of one stream; later ones are counted in one ledger_saturated gap.
const MaxGaps = 256

// ledger keeps the gaps of one stream. A gap lasts until the next good frame; losses for the same reason in
// between belong to it. The stream's lock protects it.
type ledger struct {
	session id.Session
	target  id.Target
	gaps    []record.Gap
	open    map[record.GapReason]int // index of the lasting gap of a reason
	total   uint64
	put     func(record.Gap)
}

func newLedger(session id.Session, target id.Target, put func(record.Gap)) *ledger {
	return &ledger{session: session, target: target, open: map[record.GapReason]int{}, put: put}
}

// begin opens a gap of the reason at t, or adds to the one that lasts. ordinal 0 means that no numbered frame is
// known to be lost.
func (l *ledger) begin(reason record.GapReason, t clock.SessionTime, ordinal uint64) {
	i, ok := l.open[reason]
	if !ok {
		i = l.add(reason, t)
		l.open[reason] = i
	}
	l.lose(i, ordinal)
	l.put(l.gaps[i])
}

// add appends a gap, or returns the saturated one when there is no room.
func (l *ledger) add(reason record.GapReason, t clock.SessionTime) int {
	l.total++
	if len(l.gaps) < MaxGaps {
		l.gaps = append(l.gaps, record.Gap{
			ID: id.New[id.Gap](), SessionID: l.session, TargetID: l.target, Reason: reason, StartNS: t, Stream: record.StreamFrames,
		})
		return len(l.gaps) - 1
	}
	if len(l.gaps) == MaxGaps {
		l.gaps = append(l.gaps, record.Gap{
			ID: id.New[id.Gap](), SessionID: l.session, TargetID: l.target, Reason: record.GapLedgerSaturated, StartNS: t,
			Stream: record.StreamFrames,
		})
	}
	l.gaps[MaxGaps].EndNS = nil
	return MaxGaps
}

func (l *ledger) lose(i int, ordinal uint64) {
	if ordinal == 0 {
		return
	}
	g := &l.gaps[i]
	if g.FirstOrdinal == 0 {
		g.FirstOrdinal = ordinal
	}
	g.LastOrdinal = ordinal
	g.Count++
}

// end closes the gap of the reason at t, if one lasts.
func (l *ledger) end(reason record.GapReason, t clock.SessionTime) {
	i, ok := l.open[reason]
	if !ok {
		return
	}
	delete(l.open, reason)
	l.close(i, t)
}

func (l *ledger) close(i int, t clock.SessionTime) {
	for _, other := range l.open {
		if other == i {
			return // the saturated gap stands for several
		}
	}
	t = max(t, l.gaps[i].StartNS)
	if end := l.gaps[i].EndNS; end != nil {
		t = max(t, *end)
	}
	l.gaps[i].EndNS = &t
	l.put(l.gaps[i])
}

// good closes the gaps that the arrival of a good frame at t ends.
func (l *ledger) good(t clock.SessionTime) {
	if len(l.open) == 0 {
		return
	}
	for _, reason := range []record.GapReason{
		record.GapQueueSaturated, record.GapPersistenceRejected, record.GapFrameRejected, record.GapDisconnected,
		record.GapCrashed, record.GapCaptureNotStarted,
	} {
		l.end(reason, t)
	}
}

// endAll closes everything at t.
func (l *ledger) endAll(t clock.SessionTime) {
	for reason := range l.open {
		l.end(reason, t)
	}
}

// whole records a gap whose both ends are known.
func (l *ledger) whole(reason record.GapReason, from, to clock.SessionTime) {
	i := l.add(reason, from)
	l.close(i, to)
}

func (l *ledger) since(t clock.SessionTime) []id.Gap {
	var list []id.Gap
	for _, g := range l.gaps {
		if g.StartNS >= t || g.EndNS == nil || *g.EndNS >= t {
			list = append(list, g.ID)
		}
	}
	return list
}

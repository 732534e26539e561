package events

import (
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// maxGaps bounds the gaps of one page. Later losses share one gap that grows.
const maxGaps = 256

// ledger makes gaps out of losses.
type ledger struct {
	session id.Session
	pages   map[id.Target]*account
}

type account struct {
	gaps int
	last record.Gap
}

func newLedger(session id.Session) *ledger {
	return &ledger{session: session, pages: map[id.Target]*account{}}
}

// enter returns the gap to put: a new one, or the last one grown.
func (l *ledger) enter(lost loss) record.Gap {
	a := l.pages[lost.target]
	if a == nil {
		a = &account{}
		l.pages[lost.target] = a
	}
	adjacent := a.gaps > 0 && a.last.Reason == lost.reason && a.last.EndNS != nil && lost.from <= *a.last.EndNS
	saturated := a.gaps >= maxGaps
	if adjacent || saturated && a.last.Reason == record.GapLedgerSaturated {
		end := max(*a.last.EndNS, lost.to)
		a.last.EndNS = &end
		a.last.StartNS = min(a.last.StartNS, lost.from)
		a.last.Count += lost.count
		return a.last
	}
	reason := lost.reason
	if saturated {
		reason = record.GapLedgerSaturated
	}
	a.gaps++
	end := lost.to
	a.last = record.Gap{
		ID: id.New[id.Gap](), SessionID: l.session, TargetID: lost.target, Reason: reason,
		StartNS: lost.from, EndNS: &end, Count: lost.count, Stream: record.StreamEvents,
	}
	return a.last
}

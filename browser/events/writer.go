package events

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

type sessionTime = clock.SessionTime

// Source is the name of this evidence source in events.
const Source = "browser"

const (
	// gatherTime is how long the writer waits for more before it writes a small batch.
	gatherTime = 50 * time.Millisecond
	// batchEvents is how many events go to the sink at once.
	batchEvents = 512
	// sinkLimit bounds one hand-over to the sink.
	sinkLimit = 5 * time.Second
)

// writer is the one goroutine behind the queue. Everything but its counters belongs to it.
type writer struct {
	session  id.Session
	clock    clock.Session
	sink     record.EventSink
	facts    record.FactSink
	log      *slog.Logger
	queue    *queue
	ledger   *ledger
	times    *times
	urls     *urls
	requests *requests
	followed func(worker string) bool

	batch    []record.Event
	sequence uint64
	showing  map[*stream]clock.SessionTime // became visible, perhaps only for a picture

	mu     sync.Mutex
	counts counts
}

type counts struct {
	recorded, rejected, malformed, gaps uint64
	failure                             *fault.Error
}

// run writes until stop is closed, and then what is left.
func (w *writer) run(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	for {
		select {
		case <-w.queue.wake:
			w.gather(stop)
			w.write(w.queue.take())
		case <-stop:
			w.queue.close()
			w.write(w.queue.take())
			return
		}
	}
}

// gather waits a moment for more, unless there is enough already.
func (w *writer) gather(stop <-chan struct{}) {
	enough := make(chan struct{})
	timer := w.clock.Clock().AfterFunc(gatherTime, func() { close(enough) })
	defer timer.Stop()
	select {
	case <-enough:
	case <-w.queue.full:
	case <-stop:
	}
}

func (w *writer) write(items []item, lost []loss) {
	w.times.refresh()
	w.settleVisible()
	for _, l := range lost {
		w.gap(l)
	}
	for _, it := range items {
		switch {
		case it.visit != nil:
			it.visit()
		case it.made != nil:
			w.emit(it.stream, it.made.class, it.made.severity, it.made.at, it.made.payload)
		default:
			w.handle(it.stream, it.message)
		}
	}
	w.flush()
}

// decode counts messages that are not what the protocol says.
func (w *writer) decode(e cdp.Event, v any) bool {
	if e.Decode(v) == nil {
		return true
	}
	w.mu.Lock()
	w.counts.malformed++
	w.mu.Unlock()
	return false
}

func (w *writer) emit(s *stream, class record.EventClass, severity record.Severity, at clock.SessionTime, payload any) {
	w.sequence++
	w.batch = append(w.batch, record.Event{
		SessionID: w.session, TargetID: s.target, Source: Source, Sequence: w.sequence, AtNS: at, Class: class, Severity: severity, Payload: encode(payload),
	})
	if len(w.batch) >= batchEvents {
		w.flush()
	}
}

// flush hands the batch to the sink. What the sink refuses is lost and becomes a gap; the recording goes on.
func (w *writer) flush() {
	if len(w.batch) == 0 {
		return
	}
	batch := w.batch
	w.batch = make([]record.Event, 0, batchEvents)
	ctx, cancel := clock.WithTimeout(context.Background(), w.clock.Clock(), sinkLimit)
	err := w.sink.AppendEvents(ctx, batch)
	cancel()
	if err == nil {
		w.mu.Lock()
		w.counts.recorded += uint64(len(batch))
		w.mu.Unlock()
		return
	}
	w.refused(batch, err)
}

func (w *writer) refused(batch []record.Event, err error) {
	w.mu.Lock()
	w.counts.rejected += uint64(len(batch))
	first := w.counts.failure == nil
	if first {
		w.counts.failure = fault.From(err)
	}
	w.mu.Unlock()
	if first {
		w.log.Warn("browser events were not stored", "error", err)
	}
	byTarget := map[id.Target]*loss{}
	var order []id.Target
	for _, e := range batch {
		l := byTarget[e.TargetID]
		if l == nil {
			l = &loss{target: e.TargetID, from: e.AtNS, to: e.AtNS, reason: record.GapPersistenceRejected}
			byTarget[e.TargetID] = l
			order = append(order, e.TargetID)
		}
		l.from, l.to = min(l.from, e.AtNS), max(l.to, e.AtNS)
		l.count++
	}
	for _, target := range order {
		w.gap(*byTarget[target])
	}
}

func (w *writer) gap(l loss) {
	w.mu.Lock()
	w.counts.gaps++
	w.mu.Unlock()
	w.put(w.ledger.enter(l))
}

func (w *writer) put(f record.Fact) {
	ctx, cancel := clock.WithTimeout(context.Background(), w.clock.Clock(), sinkLimit)
	defer cancel()
	// The sink reports its failures through its own status.
	if err := w.facts.Put(ctx, f); err != nil {
		w.log.Debug("a fact of the page was not stored", "error", err)
	}
}

package storage

import (
	"context"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/storage/index"
	"github.com/krometrail/krometrail/storage/retention"
)

// Pin implements record.PinStore. It protects the segments of the window's frames and of the frame before it.
// What is not recorded yet is not protected; a window of which nothing is recorded gives range_not_captured.
func (s *Store) Pin(_ context.Context, w record.Window) (record.PinResult, error) {
	return s.changePins(w, s.pinLocked)
}

// changePins runs change on a window that may be pinned, with the lock held on a store that accepts changes.
func (s *Store) changePins(w record.Window, change func(record.Window) (record.PinResult, error)) (record.PinResult, error) {
	if err := checkWindow(w); err != nil {
		return record.PinResult{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return record.PinResult{}, err
	}
	return change(w)
}

func (s *Store) pinLocked(w record.Window) (record.PinResult, error) {
	var pin index.Pin
	var added bool
	err := s.change(func(tx *index.Tx) (err error) {
		pin, added, err = tx.AddPin(w)
		return err
	})
	if err != nil {
		return record.PinResult{}, err
	}
	if pin.Key == 0 {
		return record.PinResult{}, fault.New(fault.RangeNotCaptured, "nothing is recorded in the range").
			About(fault.Context{SessionID: w.SessionID, TargetID: w.TargetID, Range: &fault.Range{StartNS: w.StartNS, EndNS: w.EndNS}})
	}
	if added {
		s.book.AddPin(retention.Pin(pin))
	}
	return s.pinResultLocked(pin, added), nil
}

func checkWindow(w record.Window) error {
	if w.SessionID == "" || w.TargetID == "" {
		return fault.Input("range", "must name a session and a target")
	}
	if w.EndNS < w.StartNS {
		return fault.Input("range", "must not end before it starts")
	}
	return nil
}

func (s *Store) pinResultLocked(pin index.Pin, changed bool) record.PinResult {
	out := record.PinResult{Changed: changed, Segments: len(pin.Segments), Bytes: s.book.Bytes(pin.Segments)}
	if pin.ThroughNS < pin.Window.EndNS {
		from := pin.ThroughNS + 1
		out.UnrecordedFromNS = &from
	}
	limit := s.limitLocked(admitFacts)
	if total := s.book.PinnedBytes(); total > limit {
		out.Warnings = append(out.Warnings, fault.New(fault.PinnedExceedsShare,
			"pinned evidence is larger than this instance's share of the disk budget; recording will pause").
			WithLimit("pinned_bytes", total, limit, 0).WithRecovery("unpin a range or raise the disk budget"))
	}
	return out
}

// Unpin implements record.PinStore. The window must be exactly one that was pinned; any other changes nothing.
func (s *Store) Unpin(_ context.Context, w record.Window) (record.PinResult, error) {
	return s.changePins(w, s.unpinLocked)
}

func (s *Store) unpinLocked(w record.Window) (record.PinResult, error) {
	var pin index.Pin
	var removed bool
	var oldest int64
	err := s.change(func(tx *index.Tx) (err error) {
		if pin, removed, err = tx.RemovePin(w); err == nil {
			oldest, err = tx.OldestEvent()
		}
		return err
	})
	if err != nil || !removed {
		return record.PinResult{}, err
	}
	s.book.RemovePin(pin.Key)
	s.book.EventsFrom(oldest)
	return record.PinResult{Changed: true, Segments: len(pin.Segments), Bytes: s.book.Bytes(pin.Segments)}, nil
}

// Pins implements record.PinStore: all pins in order of creation, or those that touch w.
func (s *Store) Pins(_ context.Context, w *record.Window) ([]record.Pin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []record.Pin{}
	for _, p := range s.book.Pins() {
		if w == nil || touches(p.Window, *w) {
			out = append(out, record.Pin{Window: p.Window, Segments: len(p.Segments), Bytes: s.book.Bytes(p.Segments)})
		}
	}
	return out, nil
}

// touches says whether two windows share a session, a target (empty means any) and a point in time.
func touches(a, w record.Window) bool {
	return a.SessionID == w.SessionID && (w.TargetID == "" || a.TargetID == w.TargetID) && a.StartNS <= w.EndNS && w.StartNS <= a.EndNS
}

package operations

import (
	"context"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

func (o Operations) addMarker() capability.Op {
	return define[evidence.MarkerRequest, evidence.MarkerResult](capability.Spec{
		Name: "add_marker", Kind: capability.Lifecycle, Title: "Add a marker",
		Summary: "Label a moment of the page's timeline, to find it again and see it on pictures.",
	}, func(ctx context.Context, r *evidence.MarkerRequest) (capability.Outcome, error) {
		session, clk, selected, ok := o.Running.Running()
		if !ok {
			return capability.Outcome{Stage: "session"}, fault.New(fault.SessionEnded, "no session is running, so nothing can be marked").
				WithRecovery("start one with start_browser")
		}
		m := record.Marker{ID: id.New[id.Marker](), SessionID: session, TargetID: r.Target, AtNS: clk.Now(), Kind: r.Kind, Label: r.Label}
		if m.TargetID == "" {
			m.TargetID = selected
		}
		if m.Kind == "" {
			m.Kind = "note"
		}
		if r.AtNS != nil {
			if *r.AtNS < 0 || *r.AtNS > m.AtNS {
				return capability.Outcome{Stage: "decode"}, fault.Input("at_ns", "must lie between the start of the session and now")
			}
			m.AtNS = *r.AtNS
		}
		if err := o.Facts.Put(ctx, m); err != nil {
			return capability.Outcome{Stage: "record"}, err
		}
		return capability.Outcome{Result: evidence.MarkerResult{Marker: m}}, nil
	})
}

// PinRequest names the range to protect or release.
type PinRequest struct{ evidence.RangeRef }

// PinsRequest asks for all pins, or for those of one range.
type PinsRequest struct{ evidence.RangeRef }

// PinList is the result of query_pins.
type PinList struct {
	Pins []PinRow `json:"pins"`
}

// PinRow is one pinned range.
type PinRow struct {
	SessionID id.Session `json:"session_id"`
	TargetID  id.Target  `json:"target_id"`
	StartNS   int64      `json:"start_ns"`
	EndNS     int64      `json:"end_ns"`
	Segments  int        `json:"protected_segments"`
	Bytes     int64      `json:"pinned_bytes"`
}

func (o Operations) pin() capability.Op {
	return define[PinRequest, record.PinResult](capability.Spec{
		Name: "pin_range", Kind: capability.Lifecycle, Idempotent: true, Title: "Pin a range",
		Summary: "Protect a range from eviction and expiry until it is unpinned.",
	}, func(ctx context.Context, r *PinRequest) (capability.Outcome, error) {
		return o.pinning(ctx, r.RangeRef, o.Pins.Pin)
	})
}

func (o Operations) unpin() capability.Op {
	return define[PinRequest, record.PinResult](capability.Spec{
		Name: "unpin_range", Kind: capability.Lifecycle, Idempotent: true, Title: "Unpin a range",
		Summary: "Release a pinned range to ordinary retention.",
	}, func(ctx context.Context, r *PinRequest) (capability.Outcome, error) {
		return o.pinning(ctx, r.RangeRef, o.Pins.Unpin)
	})
}

func (o Operations) pinning(ctx context.Context, ref evidence.RangeRef, do func(context.Context, record.Window) (record.PinResult, error)) (capability.Outcome, error) {
	out, seq, err := o.sequence(ctx, ref)
	if err != nil {
		return out, err
	}
	w := record.Window{SessionID: seq.Range.SessionID, TargetID: seq.Range.TargetID, StartNS: seq.Range.StartNS, EndNS: seq.Range.EndNS}
	// The baseline is part of what a range shows, so it is protected with it.
	if seq.CarryIn != nil {
		w.StartNS = min(w.StartNS, seq.CarryIn.Time())
	}
	result, err := do(ctx, w)
	out.Warnings = append(out.Warnings, result.Warnings...)
	if err != nil {
		out.Stage = "pin"
		return out, err
	}
	// The range was cut to what was recorded; a quiet page that sent no frame up to its end lacks nothing.
	result.UnrecordedFromNS = nil
	if seq.Range.Requested.EndNS > seq.Range.EndNS {
		from := seq.Range.EndNS
		result.UnrecordedFromNS = &from
	}
	out.Result = result
	return out, nil
}

func (o Operations) queryPins() capability.Op {
	return define[PinsRequest, PinList](capability.Spec{
		Name: "query_pins", Title: "List pins", Summary: "Pinned ranges and their bytes, all or those touching one range.",
	}, func(ctx context.Context, r *PinsRequest) (capability.Outcome, error) {
		var out capability.Outcome
		var w *record.Window
		if r.RangeRef != (evidence.RangeRef{}) {
			found, seq, err := o.sequence(ctx, r.RangeRef)
			if err != nil {
				return found, err
			}
			out = found
			w = &record.Window{SessionID: seq.Range.SessionID, TargetID: seq.Range.TargetID, StartNS: seq.Range.StartNS, EndNS: seq.Range.EndNS}
		}
		pins, err := o.Pins.Pins(ctx, w)
		if err != nil {
			out.Stage = "read"
			return out, err
		}
		list := PinList{Pins: []PinRow{}}
		for _, p := range pins {
			list.Pins = append(list.Pins, PinRow{p.SessionID, p.TargetID, int64(p.StartNS), int64(p.EndNS), p.Segments, p.Bytes})
		}
		out.Result = list
		return out, nil
	})
}

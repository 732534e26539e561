package visual

import (
	"image"
	"time"
)

// PlanPolicy says how a video presents recorded time.
type PlanPolicy string

const (
	// RealTime keeps the relative timing of all source frames.
	RealTime PlanPolicy = "real_time"
	// ModelOptimized shows the selected frames only and holds each long enough
	// for a viewer that samples about one frame per second.
	ModelOptimized PlanPolicy = "model_optimized"
)

// EntryKind says what an entry of a video plan shows.
type EntryKind string

const (
	// EntryFrame shows one source frame.
	EntryFrame EntryKind = "frame"
	// EntryGap shows a slate in place of missing evidence.
	EntryGap EntryKind = "gap_slate"
	// EntryEpoch shows a slate between frames of different size.
	EntryEpoch EntryKind = "epoch_slate"
)

const (
	holdTile     = time.Second
	holdEvent    = 1500 * time.Millisecond
	slateTime    = time.Second
	defaultHold  = time.Second / 60 // last frame of a plan with no step to learn from
	defaultTotal = 60 * time.Second
)

// PlanOptions are the parameters of a video plan; the zero value is ready to use.
type PlanOptions struct {
	Policy PlanPolicy // empty means RealTime
	// Tiles bounds the frames of ModelOptimized, 3..12; 0 means 12.
	Tiles int
	// MaxDuration bounds the presentation; 0 means 60 s. A longer plan is a
	// *LimitError, in milliseconds.
	MaxDuration time.Duration
}

// PlanEntry is a stretch of a video. Entries follow each other without a break.
type PlanEntry struct {
	Kind EntryKind `json:"kind"`
	// Start and Duration are presentation time.
	Start    time.Duration `json:"start_ns"`
	Duration time.Duration `json:"duration_ns"`
	// From and To are the sequence time the entry stands for, [From, To).
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
	// Frame is the frame shown; empty for slates.
	Frame   FrameID `json:"frame,omitempty"`
	CarryIn bool    `json:"carry_in,omitempty"`
	// Frames are the source frames that fall into [From, To), Frame included.
	Frames  []FrameID `json:"frames,omitempty"`
	Reasons []Reason  `json:"reasons,omitempty"`
	// Label is what a slate says.
	Label string `json:"label,omitempty"`

	index int
}

// Index is the position of Frame in the source, or -1 for a slate.
func (e *PlanEntry) Index() int {
	if e.Kind != EntryFrame {
		return -1
	}
	return e.index
}

// VideoPlan is what to show when. It encodes nothing.
type VideoPlan struct {
	Policy   PlanPolicy     `json:"policy"`
	Version  string         `json:"version"`
	Range    Range          `json:"range"`
	Anchor   Anchor         `json:"anchor"`
	Sampling SamplingCounts `json:"sampling"`
	// Canvas is the size that holds every frame shown unscaled; smaller frames
	// are centred in it, never stretched.
	Canvas  image.Point   `json:"canvas"`
	Gaps    []Gap         `json:"gaps"`
	Total   time.Duration `json:"total_ns"`
	Entries []PlanEntry   `json:"entries"`
	// Skipped counts the source frames that are not shown.
	Skipped int `json:"skipped_frames"`
}

// Plan lays out a video of the sequence. Gaps and changes of frame size become
// labelled slates; nothing is interpolated.
func (a *Analysis) Plan(o PlanOptions) (*VideoPlan, error) {
	orDefault(&o.Tiles, maxTiles)
	if o.MaxDuration == 0 {
		o.MaxDuration = defaultTotal
	}
	p := &VideoPlan{
		Policy: o.Policy, Version: Version, Range: a.rng, Anchor: a.anchor, Sampling: a.sampling,
		Gaps: append([]Gap{}, a.gaps...), Canvas: a.canvasSize(),
	}
	b := &planBuilder{a: a, plan: p}
	switch o.Policy {
	case "", RealTime:
		p.Policy = RealTime
		b.realTime()
	case ModelOptimized:
		sel, err := a.Select(o.Tiles)
		if err != nil {
			return nil, err
		}
		b.optimized(sel)
	default:
		return nil, invalid("plan policy %q", o.Policy)
	}
	b.count()
	if p.Total > o.MaxDuration {
		return nil, &LimitError{Subject: "presentation_ms", Value: p.Total.Milliseconds(), Limit: o.MaxDuration.Milliseconds()}
	}
	return p, nil
}

func (a *Analysis) canvasSize() image.Point {
	var out image.Point
	for i := range a.epochs {
		out.X, out.Y = max(out.X, a.epochs[i].Size.X), max(out.Y, a.epochs[i].Size.Y)
	}
	return out
}

type planBuilder struct {
	a    *Analysis
	plan *VideoPlan
}

func (b *planBuilder) append(e PlanEntry) {
	e.Start = b.plan.Total
	b.plan.Total += e.Duration
	b.plan.Entries = append(b.plan.Entries, e)
}

// frame appends frame i, which stands for the time up to `to`.
func (b *planBuilder) frame(i int, to, hold time.Duration, reasons []Reason) {
	f := &b.a.frames[i]
	e := PlanEntry{Kind: EntryFrame, Duration: hold, From: f.Time, To: max(to, f.Time), Frame: f.ID, CarryIn: f.carry, Reasons: reasons, index: i}
	for j := i; j < len(b.a.frames) && (j == i || b.a.frames[j].Time < to); j++ {
		e.Frames = append(e.Frames, b.a.frames[j].ID)
	}
	b.append(e)
}

// slates appends what separates frame j from frame i.
func (b *planBuilder) slates(i, j int) {
	gaps, epoch := b.a.edgeBetween(i, j)
	for _, g := range gaps {
		label := "no evidence for " + lengthText(g.End-g.Start)
		if g.Reason != "" {
			label += " (" + g.Reason + ")"
		}
		b.append(PlanEntry{Kind: EntryGap, Duration: slateTime, From: g.Start, To: g.End, Label: label})
	}
	if epoch {
		e := b.a.epochs[b.a.frames[j].epoch]
		b.append(PlanEntry{Kind: EntryEpoch, Duration: slateTime, From: b.a.frames[j].Time, To: b.a.frames[j].Time, Label: "frames are now " + sizeText(e.Size)})
	}
}

// realTime shows every analyzed frame until the next one.
func (b *planBuilder) realTime() {
	var shown []int
	for i := range b.a.frames {
		if b.a.frames[i].read {
			shown = append(shown, i)
		}
	}
	var steps []int64
	for k := 1; k < len(shown); k++ {
		if !b.separated(shown[k-1], shown[k]) {
			steps = append(steps, int64(b.a.frames[shown[k]].Time-b.a.frames[shown[k-1]].Time))
		}
	}
	usual := medianStep(steps)
	for k, i := range shown {
		start := max(b.a.frames[i].Time, b.a.rng.Start)
		end := start + usual
		if k+1 < len(shown) {
			end = b.a.frames[shown[k+1]].Time
			if b.separated(i, shown[k+1]) {
				end = min(end, start+usual)
			}
		}
		b.frame(i, end, max(0, end-start), nil)
		if k+1 < len(shown) {
			b.slates(i, shown[k+1])
		}
	}
}

func (b *planBuilder) separated(i, j int) bool {
	return b.a.frames[i].segment != b.a.frames[j].segment
}

// optimized holds the selected frames, events longer.
func (b *planBuilder) optimized(sel Selection) {
	for k := range sel.Frames {
		c := &sel.Frames[k]
		to := max(b.a.rng.End, c.Time)
		if k+1 < len(sel.Frames) {
			to = sel.Frames[k+1].Time
			if gaps, _ := b.a.edgeBetween(c.index, sel.Frames[k+1].index); len(gaps) > 0 {
				to = max(c.Time, gaps[0].Start)
			}
		}
		hold := holdTile
		for _, r := range c.Reasons {
			if r == ReasonReturn || r == ReasonExcursion {
				hold = holdEvent
			}
		}
		b.frame(c.index, to, hold, c.Reasons)
		if k+1 < len(sel.Frames) {
			b.slates(c.index, sel.Frames[k+1].index)
		}
	}
}

func (b *planBuilder) count() {
	shown := 0
	for i := range b.plan.Entries {
		if e := &b.plan.Entries[i]; e.Kind == EntryFrame && !e.CarryIn {
			shown++
		}
	}
	b.plan.Skipped = b.a.sampling.Source - shown
}

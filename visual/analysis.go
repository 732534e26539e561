package visual

import (
	"context"
	"errors"
	"image"
	"time"

	"github.com/krometrail/krometrail/visual/internal/grid"
	"github.com/krometrail/krometrail/visual/internal/pick"
)

// Analysis is the result of reading a sequence once: what changed where and
// when, and the block means of the frames worth showing. Every picture is
// drawn from it. It is immutable and safe for concurrent use.
type Analysis struct {
	*timeline
	seq      Sequence
	opts     Options
	source   AnalysisSource
	sampling SamplingCounts
	epochs   []epochData
	segments []Segment
	changes  []Change
	peak     int // frame index, or -1
	baseline int // frame index
	regions  []ChangedRegion
	input    []pick.Input // one per segment
}

// SamplingCounts says how much of a sequence a result rests on.
type SamplingCounts struct {
	Mode     Sampling `json:"mode"`
	Source   int      `json:"source_frames"`   // frames of the sequence, carry-in not counted
	Analyzed int      `json:"analyzed_frames"` // read and compared with their neighbour
	Kept     int      `json:"kept_frames"`     // candidates for tiles; fewer only when thinned
	Omitted  int      `json:"omitted_frames"`  // Source - Analyzed
}

// Epoch is a run of frames with one geometry.
type Epoch struct {
	Number int           `json:"number"` // from 1, in time order
	Size   image.Point   `json:"size"`
	First  FrameID       `json:"first_frame"`
	Last   FrameID       `json:"last_frame"`
	Start  time.Duration `json:"start_ns"`
	End    time.Duration `json:"end_ns"`
}

// Segment is a run of frames within one epoch with no gap inside. Frames of
// different segments are never compared.
type Segment struct {
	Epoch  int           `json:"epoch"` // Epoch.Number
	First  FrameID       `json:"first_frame"`
	Last   FrameID       `json:"last_frame"`
	Start  time.Duration `json:"start_ns"`
	End    time.Duration `json:"end_ns"`
	Frames int           `json:"analyzed_frames"`
}

// epochData is the evidence gathered for one epoch.
type epochData struct {
	Epoch
	geo     grid.Geometry
	include []byte // per signature byte 0xff or 0; nil when everything counts
	cells   int    // luma cells that count
	clip    image.Rectangle
	acc     *accumulator
}

// Analyze reads every frame of seq it needs, in order, and returns what every
// artifact and measure is made from. It returns a *FrameError for a frame that
// cannot be read, a *LimitError for a sequence beyond a limit, ErrNoFrames and
// the other sentinel errors for bad input, and ctx.Err() when ctx ends; ctx is
// polled at every frame. No goroutine outlives the call.
func Analyze(ctx context.Context, seq Sequence, o Options) (*Analysis, error) {
	opts, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if err := seq.validate(); err != nil {
		return nil, err
	}
	if seq.Region != nil {
		if err := seq.Region.validate(); err != nil {
			return nil, err
		}
	}
	tl, err := newTimeline(&seq)
	if err != nil {
		return nil, err
	}
	for _, source := range sourcesFor(&opts) {
		a := &Analysis{timeline: tl.clone(), seq: seq, opts: opts, source: source, peak: -1, baseline: -1}
		err = a.read(ctx)
		if !errors.Is(err, errRestart) {
			if err != nil {
				return nil, err
			}
			return a, nil
		}
	}
	return nil, err
}

func sourcesFor(o *Options) []AnalysisSource {
	if o.Noise.Exact {
		return []AnalysisSource{DecodedPixels}
	}
	return []AnalysisSource{DCTBlockMeans, DecodedBlockMeans}
}

func (t *timeline) clone() *timeline {
	c := *t
	c.frames = append([]frameInfo(nil), t.frames...)
	return &c
}

// Sampling returns the counts every result rests on.
func (a *Analysis) Sampling() SamplingCounts { return a.sampling }

// Source names how block means were obtained, the same for all frames.
func (a *Analysis) Source() AnalysisSource { return a.source }

// Range returns the time the analysis speaks about.
func (a *Analysis) Range() Range { return a.rng }

// Epochs lists the runs of equal geometry in time order.
func (a *Analysis) Epochs() []Epoch {
	out := make([]Epoch, len(a.epochs))
	for i := range a.epochs {
		out[i] = a.epochs[i].Epoch
	}
	return out
}

// Segments lists the runs of frames that were compared with each other.
func (a *Analysis) Segments() []Segment { return append([]Segment(nil), a.segments...) }

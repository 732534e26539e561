package visual

import (
	"context"
	"image"
	"time"
)

// FrameID names a frame to the caller. It appears in manifests and labels
// unchanged; it must be unique in a sequence and not empty.
type FrameID string

// FrameMeta is what is known about a frame without opening it.
type FrameMeta struct {
	ID FrameID
	// Time is when the frame was shown, counted from a zero the caller chooses
	// once for frames, gaps, markers and ranges together.
	Time time.Duration
	// Epoch is the caller's own count of geometry changes. Frames of different
	// Epoch are never compared, even when their sizes agree. Leave it zero when
	// only the pixel size matters; a new size starts an epoch by itself.
	Epoch int
}

// Frame is one opened frame. Exactly one of Data and Image is set.
type Frame struct {
	FrameMeta
	// Data is a complete JPEG or PNG file. The package never writes to it and
	// keeps no reference to it after the call that opened it returns.
	Data []byte
	// Image is an already decoded frame, used in place of Data. It must not
	// change while the sequence is in use.
	Image image.Image
}

// FrameSource gives access to the frames of a sequence without holding them
// all in memory. Len and Meta must answer the same for the life of the source
// and are called often. Frames are in time order; equal times are allowed.
type FrameSource interface {
	// Len is the number of frames.
	Len() int
	// Meta describes frame i, 0 <= i < Len().
	Meta(i int) FrameMeta
	// Open returns frame i. During Analyze it is called once per analyzed
	// frame, in order, from one goroutine (twice when the analysis has to start
	// over with full decoding). Artifacts call it again for the frames whose
	// original pixels they need, from several goroutines. It must return the
	// same content every time and stop when ctx ends.
	Open(ctx context.Context, i int) (Frame, error)
}

// Slice returns a source over frames held in memory. The slice and its
// contents must not change while the source is in use.
func Slice(frames []Frame) FrameSource { return sliceSource(frames) }

type sliceSource []Frame

func (s sliceSource) Len() int             { return len(s) }
func (s sliceSource) Meta(i int) FrameMeta { return s[i].FrameMeta }
func (s sliceSource) Open(ctx context.Context, i int) (Frame, error) {
	return s[i], ctx.Err()
}

// Lazy returns a source over known metadata whose frames are opened on demand
// by open, which must be safe for concurrent use.
func Lazy(metas []FrameMeta, open func(ctx context.Context, i int) (Frame, error)) FrameSource {
	return lazySource{metas, open}
}

type lazySource struct {
	metas []FrameMeta
	open  func(ctx context.Context, i int) (Frame, error)
}

func (s lazySource) Len() int             { return len(s.metas) }
func (s lazySource) Meta(i int) FrameMeta { return s.metas[i] }
func (s lazySource) Open(ctx context.Context, i int) (Frame, error) {
	return s.open(ctx, i)
}

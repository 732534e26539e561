package visual

import (
	"errors"
	"fmt"
)

// Errors a call can return for a bad sequence or option. They are matched with
// errors.Is; a wrapping error adds the frame or value concerned.
var (
	// ErrNoFrames means the sequence holds no frame besides a carry-in frame,
	// or none in the epoch an artifact asked for.
	ErrNoFrames = errors.New("visual: no frames")
	// ErrUnordered means frame times decrease or a range, gap or interval ends before it starts.
	ErrUnordered = errors.New("visual: times out of order")
	// ErrDuplicateID means two frames share an id, or an id is empty.
	ErrDuplicateID = errors.New("visual: frame ids must be unique and not empty")
	// ErrMixedGeometry means an input that needs one frame size met several.
	ErrMixedGeometry = errors.New("visual: frames differ in size")
	// ErrRegionOutside means the region does not touch the frame.
	ErrRegionOutside = errors.New("visual: region lies outside the frame")
	// ErrMaskSize means the mask is not the size of the frames.
	ErrMaskSize = errors.New("visual: mask size differs from frame size")
	// ErrMaskEmpty means mask and region together select no pixel.
	ErrMaskEmpty = errors.New("visual: mask selects nothing")
	// ErrUnsupportedImage means the bytes are neither JPEG nor PNG, or a variant no decoder reads.
	ErrUnsupportedImage = errors.New("visual: unsupported image")
	// ErrCorruptImage means an image is truncated or damaged.
	ErrCorruptImage = errors.New("visual: corrupt image")
	// ErrFrameChanged means a source returned another picture for a frame than
	// it returned during the analysis.
	ErrFrameChanged = errors.New("visual: frame content changed since analysis")
	// ErrInvalidOption means an option or sequence field is out of its documented range.
	ErrInvalidOption = errors.New("visual: invalid option")
	// ErrBadManifest means a manifest could not be read.
	ErrBadManifest = errors.New("visual: bad manifest")
)

// LimitError reports a bound that an input exceeds. It is returned before the
// memory in question is allocated.
type LimitError struct {
	Subject   string // what is bounded, e.g. "frame_pixels"
	Value     int64  // the actual value
	Limit     int64  // the bound
	TryAtMost int64  // a value that fits, or 0 when none can be computed
}

// Error implements error.
func (e *LimitError) Error() string {
	s := fmt.Sprintf("visual: %s is %d, limit %d", e.Subject, e.Value, e.Limit)
	if e.TryAtMost > 0 {
		s += fmt.Sprintf(", try at most %d", e.TryAtMost)
	}
	return s
}

// FrameError names the frame an error belongs to.
type FrameError struct {
	Index int     // position in the source
	ID    FrameID // its id
	Err   error   // the cause; errors.Is and errors.As see through to it
}

// Error implements error.
func (e *FrameError) Error() string {
	return fmt.Sprintf("visual: frame %d (%s): %v", e.Index, e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *FrameError) Unwrap() error { return e.Err }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidOption, fmt.Sprintf(format, args...))
}

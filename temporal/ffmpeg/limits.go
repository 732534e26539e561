package ffmpeg

import (
	"time"

	"github.com/krometrail/krometrail/core/fault"
)

// Limits bound one encode. A request above one of them fails with resource_limit_exceeded and writes nothing.
type Limits struct {
	// Width and Height of the pictures in pixels.
	Width, Height int
	// Pictures of one clip.
	Pictures int
	// Presentation is the length of the clip.
	Presentation time.Duration
	// Bytes of the finished file.
	Bytes int64
	// Wall is how long one encode may take, without waiting for another one to end.
	Wall time.Duration
}

// DefaultLimits returns the limits of the running system.
func DefaultLimits() Limits {
	return Limits{Width: 1920, Height: 1080, Pictures: 4096, Presentation: 60 * time.Second, Bytes: 64 << 20, Wall: 60 * time.Second}
}

// check holds what can be known of r before ffmpeg runs.
func (l Limits) check(r Request, presentation time.Duration) error {
	for _, bound := range []struct {
		subject       string
		actual, limit int64
	}{
		{"video_width_px", int64(r.Width), int64(l.Width)},
		{"video_height_px", int64(r.Height), int64(l.Height)},
		{"video_pictures", int64(len(r.Durations)), int64(l.Pictures)},
		{"video_presentation_ms", presentation.Milliseconds(), l.Presentation.Milliseconds()},
	} {
		if bound.actual > bound.limit {
			return exceeded(bound.subject, bound.actual, bound.limit, bound.limit)
		}
	}
	return nil
}

func exceeded(subject string, actual, limit, tryAtMost int64) *fault.Error {
	return fault.New(fault.ResourceLimitExceeded, "the video exceeds the limit of %s", subject).
		WithLimit(subject, actual, limit, tryAtMost).
		WithRecovery("ask for a shorter range, a smaller picture or the other presentation policy")
}

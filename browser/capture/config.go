package capture

import (
	"log/slog"

	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Limits of the hand-over.
const (
	// QueueFrames is how many frames of one page wait for the sink.
	QueueFrames = 16
	// QueueBytes bounds the waiting frames of all pages together, as sent.
	QueueBytes = 256 << 20
	// MaxPayload bounds one frame's picture as sent; larger ones are rejected.
	MaxPayload = 16 << 20
)

// Config of a recorder.
type Config struct {
	Session id.Session
	Clock   clock.Session
	Frames  record.FrameSink
	// Facts takes gaps. Put is called on the reading goroutine and must not block.
	Facts   record.FactSink
	Capture record.CaptureConfig
	// Monotonic reads the clock behind Chrome's timestamps; nil means SystemMonotonic.
	Monotonic Monotonic
	Logger    *slog.Logger
}

// screencast returns the parameters of Page.startScreencast. A wide window keeps frames flowing while their
// acknowledgements are under way; the last frame is kept so that a change during a full window is not lost. Unscaled
// frames cost so much that both would slow the page down instead.
func screencast(c record.CaptureConfig) map[string]any {
	p := map[string]any{
		"format": c.Format, "quality": c.Quality, "everyNthFrame": c.EveryNthFrame,
		"maxFramesInFlight": 5, "sendLastFrame": true,
	}
	switch c.Size {
	case "balanced":
		p["maxWidth"], p["maxHeight"] = 1280, 1280
	case "fast":
		p["maxWidth"], p["maxHeight"] = 960, 960
	default:
		p["maxFramesInFlight"], p["sendLastFrame"] = 3, false
	}
	return p
}

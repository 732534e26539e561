package video

import (
	"context"
	"image"
	"io"
	"time"

	"github.com/krometrail/krometrail/core/fault"
)

// Encoder makes one clip of still pictures. Errors are faults: resource_limit_exceeded, cancelled,
// encoder_unavailable, artifact_generation_failed, persistence_failed, and what Job.Picture returned.
type Encoder interface {
	Identity() Identity
	Encode(ctx context.Context, j Job) (Clip, error)
}

// Identity is everything about an encoder that decides what a clip looks like.
type Identity struct {
	// Build is the encoding program's own version line, Encoder the H.264 encoder in it.
	Build   string `json:"build"`
	Encoder string `json:"encoder"`
	// Parameters are the encoding arguments, without paths.
	Parameters []string `json:"parameters"`
}

// Job is a clip to make.
type Job struct {
	Width, Height int
	// Durations has one entry for each picture, each at least a microsecond.
	Durations []time.Duration
	// Picture returns picture i, once for each i in order. It is read before the next call only.
	Picture func(ctx context.Context, i int) (*image.RGBA, error)
	// MaxBytes lowers the limit of the file; 0 keeps it.
	MaxBytes int64
	// Progress is called after each picture.
	Progress func(done, total int)
}

// Clip is a finished clip outside the store. The owner discards it.
type Clip struct {
	Open          func() (io.ReadCloser, error)
	Discard       func() error
	Bytes         int64
	SHA256        string
	MediaType     string
	Width, Height int
	// Times says when each picture begins, exactly as it stands in the file.
	Times  []time.Duration
	Length time.Duration
	// Warnings are about what making the clip did to other evidence; they may come with an error.
	Warnings []*fault.Error
}

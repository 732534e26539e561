package visual

import "runtime"

// Sampling says what happens when a sequence holds more frames than fit.
type Sampling string

const (
	// Bounded reads at most four times Options.MaxFrames frames, evenly spaced,
	// and keeps those that changed, up to MaxFrames and MemoryBudget. What was
	// left out is counted in every result. It is the default.
	Bounded Sampling = "bounded"
	// Exhaustive analyzes every frame, or fails with a *LimitError.
	Exhaustive Sampling = "exhaustive"
)

// Noise says which differences are too small to count as a change. Levels are
// those of 8-bit luma and chroma. The zero value means the documented defaults.
type Noise struct {
	// Luma is the difference of two 4x4-pixel means above which the block
	// differs. 0 means 10; at most 127.
	Luma int `json:"luma"`
	// Chroma is the same for 8x8-pixel means of colour difference. 0 means 8.
	Chroma int `json:"chroma"`
	// Exact compares every decoded pixel instead of block means: a block
	// differs when one of its pixels differs by more than Luma (0: any
	// difference). It finds single-pixel changes that means hide, and costs a
	// full decode of each frame and up to two more decoded frames in memory.
	Exact bool `json:"exact,omitempty"`
}

// Options are the parameters of an analysis. The zero value is ready to use.
type Options struct {
	// Title heads every picture. Empty means the artifact's own name.
	Title string
	// SourceLabel names where the frames come from, e.g. a page or a file.
	SourceLabel string
	Noise       Noise
	Sampling    Sampling
	// MaxFrames bounds the frames kept for selection; 0 means 240, at most 960.
	MaxFrames int
	// MemoryBudget bounds, in bytes, the block means and distances an Analysis
	// keeps. 0 means 64 MiB. Decoded frames come on top: at most Workers at a
	// time, plus two with Noise.Exact.
	MemoryBudget int64
	// Workers is the number of goroutines that decode; 0 means GOMAXPROCS.
	// It never changes a result.
	Workers int
	// MaxEdge bounds the longer side of a picture in pixels; 0 means 1568. A
	// picture whose labels alone need more is a *LimitError.
	MaxEdge int
	// MaxPixels bounds the area of a picture; 0 means 1,150,000.
	MaxPixels int
	// MaxFramePixels bounds the area of a source frame, checked from its header
	// before decoding; 0 means 67,108,864 (64 Mi).
	MaxFramePixels int64
	// MaxFrameBytes bounds the encoded size of a source frame; 0 means 32 MiB.
	MaxFrameBytes int64
}

const (
	defaultMaxFrames      = 240
	maxMaxFrames          = 960
	readFactor            = 4
	defaultBudget         = 64 << 20
	defaultMaxEdge        = 1568
	defaultMaxPixels      = 1_150_000
	defaultMaxFramePixels = 64 << 20
	defaultMaxFrameBytes  = 32 << 20
	minEdge               = 800
	minPixels             = 500_000
)

func orDefault[T int | int64](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// resolve fills defaults and checks ranges.
func (o Options) resolve() (Options, error) {
	orDefault(&o.MaxFrames, defaultMaxFrames)
	orDefault(&o.MemoryBudget, defaultBudget)
	orDefault(&o.Workers, runtime.GOMAXPROCS(0))
	orDefault(&o.MaxEdge, defaultMaxEdge)
	orDefault(&o.MaxPixels, defaultMaxPixels)
	orDefault(&o.MaxFramePixels, defaultMaxFramePixels)
	orDefault(&o.MaxFrameBytes, defaultMaxFrameBytes)
	if !o.Noise.Exact {
		orDefault(&o.Noise.Luma, 10)
		orDefault(&o.Noise.Chroma, 8)
	}
	if o.Sampling == "" {
		o.Sampling = Bounded
	}
	return o, o.check()
}

func (o *Options) check() error {
	switch {
	case o.Sampling != Bounded && o.Sampling != Exhaustive:
		return invalid("sampling %q", o.Sampling)
	case o.MaxFrames < minTiles || o.MaxFrames > maxMaxFrames:
		return invalid("max frames %d, want %d..%d", o.MaxFrames, minTiles, maxMaxFrames)
	case o.Workers < 1 || o.Workers > 256:
		return invalid("workers %d, want 1..256", o.Workers)
	case o.Noise.Luma < 0 || o.Noise.Luma > 127 || o.Noise.Chroma < 0 || o.Noise.Chroma > 127:
		return invalid("noise levels %d and %d, want 0..127", o.Noise.Luma, o.Noise.Chroma)
	case o.MaxEdge < minEdge || o.MaxEdge > 1<<14:
		return invalid("max edge %d, want %d..%d", o.MaxEdge, minEdge, 1<<14)
	case o.MaxPixels < minPixels || o.MaxPixels > 1<<26:
		return invalid("max pixels %d, want %d..%d", o.MaxPixels, minPixels, 1<<26)
	case o.MemoryBudget < 1<<20 || o.MaxFrameBytes < 1 || o.MaxFramePixels < 1:
		return invalid("memory budget below 1 MiB or a frame limit below 1")
	}
	return nil
}

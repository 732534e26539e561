package visualtest

import (
	"context"
	"fmt"
	"image"
	"image/draw"
	"runtime"
	"sync"
	"time"
)

// Options set the size of sequences. The zero value asks for 60 frames of 1280 x 720 at scale 1.
type Options struct {
	// Width and Height in pixels, at least 640 x 360 times Scale and at most 4096 each.
	Width, Height int
	// Scale is the device pixel ratio, 1 to 3: text is 13 x Scale px and all distances grow with it.
	Scale int
	// Frames of the sequence, 60 to 600.
	Frames int
	// Workers that draw and encode at once, 0 for one a CPU. It never changes the result.
	Workers int
}

func (o Options) withDefaults() Options {
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = 1280, 720
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	if o.Frames == 0 {
		o.Frames = 60
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	o.Workers = min(o.Workers, o.Frames)
	return o
}

func (o Options) validate() error {
	switch {
	case o.Scale < 1 || o.Scale > 3:
		return fmt.Errorf("visualtest: scale %d is not 1, 2 or 3", o.Scale)
	case o.Width < 640*o.Scale || o.Height < 360*o.Scale || o.Width > 4096 || o.Height > 4096:
		return fmt.Errorf("visualtest: size %d x %d is outside %d x %d to 4096 x 4096", o.Width, o.Height, 640*o.Scale, 360*o.Scale)
	case o.Frames < 60 || o.Frames > 600:
		return fmt.Errorf("visualtest: %d frames are outside 60 to 600", o.Frames)
	}
	return nil
}

// Frame is one picture of a sequence, as a recorder would keep it.
type Frame struct {
	// ID is unique in its sequence.
	ID string
	// Time since the first frame.
	Time time.Duration
	// JPEG is baseline, 4:2:0. Frames that look the same may share the bytes; do not write to them.
	JPEG []byte
}

// Truth says what is really the case at one frame.
type Truth struct {
	// Defect: the wrong state is on. In a reversal: the element is behind the furthest place it had reached.
	Defect bool
	// Position of the element along its way in pixels. Zero in all other kinds.
	Position int
	// Changed marks the cells of 4 x 4 px in which some channel of some pixel differs by more than 8 from the
	// frame before, without disturbances. It is empty at the first frame.
	Changed Grid
}

// Sequence is a generated sequence with its truth. It may be read concurrently.
type Sequence struct {
	Spec          Spec
	Width, Height int
	// Dark is true for pages in the dark theme.
	Dark   bool
	Frames []Frame
	// Truth has one entry a frame.
	Truth []Truth
	// Anchor is the index of the first frame after the moment that a question would be about, 6 to 11.
	Anchor int
	// AnchorTime lies between the frames Anchor-1 and Anchor.
	AnchorTime time.Duration
	// Where is the part of the page that the defect touches; empty for controls.
	Where image.Rectangle

	script *script
}

// Generate makes the sequence of spec. It fails for an invalid spec or size, and with the cause of ctx when that ends.
func Generate(ctx context.Context, spec Spec, opts Options) (*Sequence, error) {
	if spec.Distractor == "" {
		spec.Distractor = None
	}
	opts = opts.withDefaults()
	if err := spec.validate(); err != nil {
		return nil, err
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	script, err := newScript(spec, opts)
	if err != nil {
		return nil, err
	}
	s := &Sequence{
		Spec: spec, Width: opts.Width, Height: opts.Height, Dark: script.page.theme.dark,
		Frames: make([]Frame, opts.Frames), Truth: make([]Truth, opts.Frames), Anchor: script.anchor, Where: script.where, script: script,
	}
	s.tellTime()
	return s, s.film(ctx, opts.Workers)
}

// tellTime sets ids and times.
func (s *Sequence) tellTime() {
	r := s.Spec.random("time")
	var t time.Duration
	for i := range s.Frames {
		s.Frames[i].ID = fmt.Sprintf("f%03d", i)
		s.Frames[i].Time = t
		t += time.Duration(16700+r.IntN(2001)) * time.Microsecond
	}
	s.AnchorTime = (s.Frames[s.Anchor-1].Time + s.Frames[s.Anchor].Time) / 2
}

// Raw draws frame i as it was before any disturbance and before encoding. The caller owns the picture.
func (s *Sequence) Raw(i int) *image.RGBA {
	dst := image.NewRGBA(s.script.page.bounds)
	s.script.paint(dst, i)
	return dst
}

func (s *script) paint(dst *image.RGBA, i int) {
	draw.Draw(dst, dst.Bounds(), s.page.picture, image.Point{}, draw.Src)
	for _, a := range s.actors {
		a.paint(dst, i)
	}
}

// same reports whether the frames i and j are drawn alike.
func (s *script) same(i, j int) bool {
	for _, a := range s.actors {
		if a.key(i) != a.key(j) {
			return false
		}
	}
	return true
}

// film draws and encodes all frames, each worker a stretch of neighbours.
func (s *Sequence) film(ctx context.Context, workers int) error {
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		from, to := len(s.Frames)*w/workers, len(s.Frames)*(w+1)/workers
		wg.Go(func() { errs[w] = s.filmStretch(ctx, from, to) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Sequence) filmStretch(ctx context.Context, from, to int) error {
	before, now := image.NewRGBA(s.script.page.bounds), image.NewRGBA(s.script.page.bounds)
	s.script.paint(now, max(from-1, 0))
	lens := newLens(s.Spec)
	for i := from; i < to; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		still := i > 0 && s.script.same(i-1, i)
		if !still {
			before, now = now, before
			s.script.paint(now, i)
		}
		s.Truth[i] = s.truth(i, before, now, still || i == 0)
		if still && i > from && lens.clear() {
			s.Frames[i].JPEG = s.Frames[i-1].JPEG
			continue
		}
		data, err := lens.shoot(now, i)
		if err != nil {
			return fmt.Errorf("visualtest: encode frame %d of %s: %w", i, s.Spec, err)
		}
		s.Frames[i].JPEG = data
	}
	return nil
}

func (s *Sequence) truth(i int, before, now *image.RGBA, still bool) Truth {
	t := Truth{Defect: s.script.defect[i], Changed: NewGrid(s.Width, s.Height)}
	if s.script.position != nil {
		t.Position = s.script.position[i]
	}
	if !still {
		t.Changed.markChanges(before, now)
	}
	return t
}

package visualtest

import (
	"image"
	"math/rand/v2"
)

// script is what happens on a page: actors in painting order and the truth about them.
type script struct {
	page     *page
	frames   int
	anchor   int
	actors   []actor
	defect   []bool
	position []int // nil unless Reversal
	where    image.Rectangle
}

// newScript decides on everything that changes in the sequence.
func newScript(spec Spec, opts Options) (*script, error) {
	r := spec.random("script")
	scroll := opts.Scale * (200 + r.IntN(400))
	below := map[Kind]int{ScrollControl: scroll, LayoutShift: 64 * opts.Scale}[spec.Kind]
	p, err := newPage(spec, opts, below)
	if err != nil {
		return nil, err
	}
	s := &script{page: p, frames: opts.Frames, anchor: 6 + r.IntN(6), defect: make([]bool, opts.Frames)}
	shade := s.distractors(spec.random("distractor"), spec)
	free := p.pane
	if shade.Min.X > p.pane.Min.X {
		free.Max.X = shade.Min.X
	} else if !shade.Empty() {
		free.Max.Y = shade.Min.Y
	}
	harmless := s.actors
	s.actors = nil
	s.addDefect(spec.random("defect"), spec, free)
	if spec.Kind == ScrollControl {
		s.scroll(r, scroll)
	}
	s.arrange(harmless)
	return s, nil
}

// arrange paints distractors above what the defect does, but below a flash of the whole page.
func (s *script) arrange(harmless []actor) {
	if s.where == s.page.bounds {
		s.actors = append(harmless, s.actors...)
		return
	}
	s.actors = append(s.actors, harmless...)
}

// distractors adds the distractors or the controls of the spec and returns the place that a panel ends up covering.
func (s *script) distractors(r *rand.Rand, spec Spec) (shade image.Rectangle) {
	spinner := spec.Distractor == Spinner || spec.Distractor == PanelAndSpinner || spec.Kind == SpinnerControl
	panel := spec.Distractor == Panel || spec.Distractor == PanelAndSpinner || spec.Kind == PanelControl
	if spinner {
		s.spin(r)
	}
	if panel {
		shade = s.slidePanel(r)
	}
	if spec.Distractor == Caret || spec.Kind == CaretControl {
		s.blink(r)
	}
	return shade
}

// spin turns a ring of dots by 10 degrees a frame.
func (s *script) spin(r *rand.Rand) {
	p := s.page
	size := p.spot.Dx()
	pictures := make([]*image.RGBA, 36)
	for step := range pictures {
		pictures[step] = plain(p.spot.Size(), p.theme.chrome)
		for dot := range 12 {
			x, y := turn(step + dot*3)
			cx, cy := 2*size+x*size*13/(8*1024), 2*size+y*size*13/(8*1024)
			disc(pictures[step], cx, cy, size/3, mix(p.theme.chrome, p.theme.text, dot+1, 12))
		}
	}
	states := make([]int, s.frames)
	for i, at := 0, r.IntN(36); i < s.frames; i++ {
		states[i] = (at + i) % 36
	}
	s.actors = append(s.actors, stamp{at: p.spot.Min, pictures: pictures, states: states})
}

// blink shows and hides a caret in the search box every 16 to 30 frames.
func (s *script) blink(r *rand.Rand) {
	p := s.page
	half := 16 + r.IntN(15)
	phase := r.IntN(2 * half)
	states := make([]int, s.frames)
	for i := range states {
		states[i] = (i+phase)/half%2 - 1
	}
	at := p.search.Min.Add(image.Pt(p.px(12), p.px(6)))
	pic := plain(image.Pt(p.px(2), p.px(16)), p.theme.text)
	s.actors = append(s.actors, stamp{at: at, pictures: []*image.RGBA{pic}, states: states})
}

// slidePanel moves a large panel in from the right or from below, and leaves the first card free.
func (s *script) slidePanel(r *rand.Rand) image.Rectangle {
	p := s.page
	rest, from := p.pane, image.Point{}
	if r.IntN(3) > 0 {
		rest.Min.X = max(rest.Max.X-p.bounds.Dx()*(25+r.IntN(12))/100, p.cards[0].rect.Max.X+p.px(8))
		from.X = rest.Dx()
	} else {
		rest.Min.Y = max(rest.Max.Y-p.bounds.Dy()*(28+r.IntN(14))/100, p.cards[0].rect.Max.Y+p.px(8))
		from.Y = rest.Dy()
	}
	start, steps := s.anchor+1+r.IntN(12), 18+r.IntN(19)
	path := make([]image.Point, s.frames)
	for i := range path {
		left := image.Pt(from.X-ease(i-start, steps, from.X), from.Y-ease(i-start, steps, from.Y))
		path[i] = rest.Min.Add(left)
	}
	s.actors = append(s.actors, mover{picture: p.drawPanel(r, rest.Size()), clip: p.pane, path: path})
	return rest
}

// scroll moves the content by distance without turning back.
func (s *script) scroll(r *rand.Rand, distance int) {
	start, steps := s.anchor+1+r.IntN(6), 20+r.IntN(21)
	offsets := make([]int, s.frames)
	for i := range offsets {
		offsets[i] = ease(i-start, steps, distance)
	}
	s.actors = append(s.actors, slide{page: s.page, area: s.page.pane, offsets: offsets})
}

// drawPanel paints a panel with a title, rows of text and an edge all round.
func (p *page) drawPanel(r *rand.Rand, size image.Point) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: size})
	in := out.Bounds().Inset(p.px(16))
	frameRect(out, out.Bounds(), p.px(2), p.theme.subtle, p.theme.card)
	write(out, in, p.pen.bold, in.Min.X, in.Min.Y+p.px(14), sentence(r, 3), p.theme.text)
	for i, y := 0, in.Min.Y+p.px(30); y+p.px(20) < in.Max.Y; i, y = i+1, y+p.px(26) {
		disc(out, (in.Min.X+p.px(6))*4, (y+p.px(9))*4, p.px(4)*4, p.theme.accents[i%len(p.theme.accents)])
		write(out, in, p.pen.regular, in.Min.X+p.px(20), y+p.px(13), sentence(r, 3+r.IntN(4)), p.theme.subtle)
	}
	return out
}

package visualtest

import (
	"image"
	"image/color"
	"math/rand/v2"
	"strconv"
)

// addDefect adds the defect of the spec inside free; a control gets none.
func (s *script) addDefect(r *rand.Rand, spec Spec, free image.Rectangle) {
	switch spec.Kind {
	case Reversal:
		s.reverse(r, spec.Duration, free)
	case Flicker:
		s.flicker(r, spec.Duration, free)
	case Flash:
		s.flash(r, spec.Duration, free)
	case TextSwap:
		s.swapText(r, spec.Duration, free)
	case LayoutShift:
		s.shiftLayout(r, spec.Duration, free)
	case Teleport:
		s.teleport(r, spec.Duration, free)
	}
}

// moment chooses when the wrong state is on and notes it as truth. The states before, during and after it are given.
func (s *script) moment(r *rand.Rand, duration int, states [3]int) []int {
	first := s.anchor + 3
	first += r.IntN(s.frames - 4 - duration - first)
	out := make([]int, s.frames)
	for i := range out {
		switch {
		case i < first:
			out[i] = states[0]
		case i < first+duration:
			out[i], s.defect[i] = states[1], true
		default:
			out[i] = states[2]
		}
	}
	return out
}

// pickCard returns a card that lies in free as a whole; the first card always does.
func (s *script) pickCard(r *rand.Rand, free image.Rectangle) card {
	var open []card
	for _, c := range s.page.cards {
		if c.rect.In(free) {
			open = append(open, c)
		}
	}
	return open[r.IntN(len(open))]
}

// pickElement returns a card or a part of one, and the colour behind it.
func (s *script) pickElement(r *rand.Rand, free image.Rectangle) (image.Rectangle, color.RGBA) {
	c := s.pickCard(r, free)
	if r.IntN(3) == 0 {
		return c.rect, s.page.theme.page
	}
	return c.parts[r.IntN(len(c.parts))], s.page.theme.card
}

// reverse moves a box over the page: to 0.8 of its way, back, and on to the end.
func (s *script) reverse(r *rand.Rand, duration int, free image.Rectangle) {
	p := s.page
	size := image.Pt(p.px(110+r.IntN(70)), p.px(50+r.IntN(36)))
	room := free.Size().Sub(size)
	along := image.Pt(1, 0)
	if (r.IntN(2) == 0 && room.Y >= p.px(130)) || room.X < p.px(130) {
		along = image.Pt(0, 1)
	}
	span := room.X*along.X + room.Y*along.Y
	distance := p.px(120) + r.IntN(min(span, p.px(400))-p.px(120)+1)
	s.position = s.detour(r, duration, distance)
	from := free.Min.Add(image.Pt(r.IntN(room.X-distance*along.X+1), r.IntN(room.Y-distance*along.Y+1)))
	if r.IntN(2) == 0 {
		from, along = from.Add(along.Mul(distance)), along.Mul(-1)
	}
	path := make([]image.Point, s.frames)
	for i, way := range s.position {
		path[i] = from.Add(along.Mul(way))
		s.where = s.where.Union(image.Rectangle{Max: size}.Add(path[i]))
	}
	s.actors = append(s.actors, mover{picture: p.drawBox(r, size), clip: p.pane, path: path})
}

// detour returns the way covered at each frame and notes the frames behind the earlier maximum as truth.
func (s *script) detour(r *rand.Rand, duration, distance int) []int {
	back := [...]int{3 + r.IntN(2), 5, 6 + r.IntN(2)}[duration-1]
	depth := s.page.px(20 + r.IntN(61))
	peak := distance * 4 / 5
	start := s.anchor + 1 + r.IntN(6)
	out, home := 10+r.IntN(9), 8+r.IntN(7)
	way := make([]int, s.frames)
	most := 0
	for i := range way {
		at := i - start
		way[i] = ease(at, out, peak) - ease(at-out, back, depth) + ease(at-out-back, home, distance-peak+depth)
		s.defect[i] = way[i] < most
		most = max(most, way[i])
	}
	return way
}

func (p *page) drawBox(r *rand.Rand, size image.Point) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: size})
	frameRect(out, out.Bounds(), p.px(2), p.theme.accents[0], p.theme.card)
	in := out.Bounds().Inset(p.px(8))
	write(out, in, p.pen.bold, in.Min.X, in.Min.Y+p.px(13), sentence(r, 2), p.theme.text)
	write(out, in, p.pen.regular, in.Min.X, in.Min.Y+p.px(31), sentence(r, 4), p.theme.subtle)
	return out
}

func (s *script) flicker(r *rand.Rand, duration int, free image.Rectangle) {
	rect, behind := s.pickElement(r, free)
	s.stamp(rect, s.moment(r, duration, [3]int{-1, 0, -1}), plain(rect.Size(), behind))
}

func (s *script) flash(r *rand.Rand, duration int, free image.Rectangle) {
	rect, _ := s.pickElement(r, free)
	c := s.page.theme.accents[r.IntN(len(s.page.theme.accents))]
	if r.IntN(4) == 0 {
		rect, c = s.page.bounds, white
	}
	s.stamp(rect, s.moment(r, duration, [3]int{-1, 0, -1}), plain(rect.Size(), c))
}

func (s *script) stamp(rect image.Rectangle, states []int, pictures ...*image.RGBA) {
	s.where = rect
	s.actors = append(s.actors, stamp{at: rect.Min, pictures: pictures, states: states})
}

// swapText shows B in place of A, and then A again or C.
func (s *script) swapText(r *rand.Rand, duration int, free image.Rectangle) {
	p := s.page
	c := s.pickCard(r, free)
	titles := []string{otherText(r, c.name), sentence(r, 2)}
	pictures := make([]*image.RGBA, len(titles))
	for i, t := range titles {
		pictures[i] = plain(c.title.Size(), p.theme.card)
		write(pictures[i], pictures[i].Bounds(), p.pen.bold, 0, p.px(13), t, p.theme.text)
	}
	states := [3]int{-1, 0, -1}
	if r.IntN(2) == 0 {
		states[2] = 1
	}
	s.stamp(c.title, s.moment(r, duration, states), pictures...)
}

// otherText returns a placeholder, a number or another sentence, none of which can be what a card is named.
func otherText(r *rand.Rand, name string) string {
	switch r.IntN(4) {
	case 0:
		return "Loading"
	case 1:
		return strconv.Itoa(r.IntN(1000))
	case 2:
		return name + " " + sentence(r, 1)
	}
	return sentence(r, 3)
}

// shiftLayout moves what lies below a line of the content down, or in a quarter of the sequences up.
func (s *script) shiftLayout(r *rand.Rand, duration int, free image.Rectangle) {
	area := s.page.pane
	area.Min.Y += free.Dy() * (10 + r.IntN(51)) / 100
	by := -s.page.px(8 + r.IntN(53))
	if r.IntN(4) == 0 {
		by = -by
	}
	s.where = area
	s.actors = append(s.actors, slide{page: s.page, area: area, offsets: s.moment(r, duration, [3]int{0, by, 0})})
}

// teleport sends a ball across a canvas and shows it far from its path for a while.
func (s *script) teleport(r *rand.Rand, duration int, free image.Rectangle) {
	p := s.page
	size := image.Pt(min(free.Dx()-p.px(16), p.px(280+r.IntN(140))), min(free.Dy()-p.px(16), p.px(160+r.IntN(80))))
	room := free.Size().Sub(size)
	canvas := image.Rectangle{Max: size}.Add(free.Min).Add(image.Pt(r.IntN(room.X+1), r.IntN(room.Y+1)))
	frameRect(p.picture, canvas, p.px(1), p.theme.border, mix(p.theme.card, p.theme.page, 1, 2))
	radius := p.px(8 + r.IntN(7))
	ball := image.NewRGBA(image.Rect(0, 0, 2*radius+2, 2*radius+2))
	disc(ball, 4*radius+4, 4*radius+4, 4*radius, p.theme.accents[0])
	field := canvas.Inset(p.px(4))
	field.Max = field.Max.Sub(ball.Bounds().Size())
	path := flight(r, field, s.frames)
	for i, wrong := range s.moment(r, duration, [3]int{0, 1, 0}) {
		if wrong == 0 {
			continue
		}
		if s.where.Empty() {
			s.where = image.Rectangle{Max: ball.Bounds().Size()}.Add(elsewhere(r, field, path[i]))
		}
		path[i] = s.where.Min
	}
	s.actors = append(s.actors, mover{picture: ball, clip: canvas, path: path})
}

// flight returns an arc from one side of field to the other.
func flight(r *rand.Rand, field image.Rectangle, frames int) []image.Point {
	height := r.IntN(field.Dy() + 1)
	back := r.IntN(2) == 0
	path := make([]image.Point, frames)
	for i := range path {
		x := field.Dx() * i / (frames - 1)
		y := 4 * height * i * (frames - 1 - i) / ((frames - 1) * (frames - 1))
		path[i] = field.Min.Add(image.Pt(x, y))
		if back {
			path[i].X = field.Max.X - x
		}
	}
	return path
}

// elsewhere returns a place in field at least a quarter of its width away from p in x.
func elsewhere(r *rand.Rand, field image.Rectangle, p image.Point) image.Point {
	for {
		q := field.Min.Add(image.Pt(r.IntN(field.Dx()+1), r.IntN(field.Dy()+1)))
		if d := q.X - p.X; d > field.Dx()/4 || -d > field.Dx()/4 {
			return q
		}
	}
}

package visualtest

import (
	"image"
	"image/color"
	"math/rand/v2"
)

// page is the still picture that a sequence starts from, and what can happen on it.
type page struct {
	theme  theme
	pen    pen
	scale  int
	bounds image.Rectangle // the visible part
	pane   image.Rectangle // the visible part of the content, right of the sidebar and below the header
	search image.Rectangle // the search box in the header, where carets blink
	spot   image.Rectangle // the square where spinners turn
	cards  []card          // visible or partly visible ones, from the top
	// picture is taller than bounds when content has to scroll into view.
	picture *image.RGBA
}

// card is a box of text.
type card struct {
	rect  image.Rectangle
	title image.Rectangle
	name  string
	parts []image.Rectangle // text, photo and button, each on the card's own colour
}

// newPage draws the page of the spec with below more pixels of content under the visible part.
func newPage(spec Spec, opts Options, below int) (*page, error) {
	r := spec.random("page")
	pen, err := newPen(opts.Scale)
	if err != nil {
		return nil, err
	}
	p := &page{theme: newTheme(r), pen: pen, scale: opts.Scale, bounds: image.Rect(0, 0, opts.Width, opts.Height)}
	p.pane = image.Rect(min(p.px(208), opts.Width/5), p.px(56), opts.Width, opts.Height)
	p.picture = image.NewRGBA(image.Rect(0, 0, opts.Width, opts.Height+below))
	fill(p.picture, p.picture.Bounds(), p.theme.page)
	p.drawCards(r)
	p.drawSidebar(r)
	p.drawHeader(r)
	return p, nil
}

// px converts from pixels at scale 1.
func (p *page) px(n int) int { return n * p.scale }

func (p *page) drawHeader(r *rand.Rand) {
	head := image.Rect(0, 0, p.bounds.Dx(), p.pane.Min.Y)
	fill(p.picture, head, p.theme.chrome)
	fill(p.picture, image.Rect(0, head.Max.Y-p.px(1), head.Max.X, head.Max.Y), p.theme.border)
	base := p.px(33)
	write(p.picture, head, p.pen.bold, p.px(16), base, sentence(r, 1), p.theme.text)
	x := p.pane.Min.X + p.px(16)
	p.search = image.Rect(x, p.px(14), x+p.bounds.Dx()/5, p.px(42))
	frameRect(p.picture, p.search, p.px(1), p.theme.border, p.theme.card)
	write(p.picture, p.search, p.pen.regular, x+p.px(20), base, sentence(r, 2), p.theme.subtle)
	x = p.search.Max.X + p.px(24)
	for x < head.Max.X-p.px(160) {
		s := sentence(r, 1)
		write(p.picture, head, p.pen.regular, x, base, s, p.theme.text)
		x += textWidth(p.pen.regular, s) + p.px(20)
	}
	disc(p.picture, (head.Max.X-p.px(28))*4, head.Max.Y*2, p.px(14)*4, p.theme.accents[0])
	p.spot = image.Rect(head.Max.X-p.px(92), p.px(10), head.Max.X-p.px(56), p.px(46))
}

func (p *page) drawSidebar(r *rand.Rand) {
	side := image.Rect(0, p.pane.Min.Y, p.pane.Min.X, p.picture.Bounds().Max.Y)
	fill(p.picture, side, p.theme.chrome)
	fill(p.picture, image.Rect(side.Max.X-p.px(1), side.Min.Y, side.Max.X, side.Max.Y), p.theme.border)
	current := r.IntN(5)
	for i, y := 0, side.Min.Y+p.px(12); y+p.px(30) < p.bounds.Max.Y; i, y = i+1, y+p.px(32) {
		row := image.Rect(p.px(8), y, side.Max.X-p.px(9), y+p.px(28))
		ink := p.theme.subtle
		if i == current {
			fill(p.picture, row, mix(p.theme.chrome, p.theme.accents[0], 1, 6))
			ink = p.theme.text
		}
		disc(p.picture, (row.Min.X+p.px(14))*4, (y+p.px(14))*4, p.px(4)*4, p.theme.accents[i%len(p.theme.accents)])
		write(p.picture, row, p.pen.regular, row.Min.X+p.px(26), y+p.px(19), sentence(r, 1+r.IntN(2)), ink)
	}
}

// drawCards fills columns of cards from the top of the pane to the end of the picture.
func (p *page) drawCards(r *rand.Rand) {
	gap := p.px(16)
	columns := max(2, p.pane.Dx()/p.px(320))
	width := (p.pane.Dx() - gap*(columns+1)) / columns
	for c := range columns {
		x := p.pane.Min.X + gap + c*(width+gap)
		for y := p.pane.Min.Y + gap; y < p.picture.Bounds().Max.Y; {
			height := p.px(110 + r.IntN(40))
			if y > p.pane.Min.Y+gap {
				height += p.px(r.IntN(100))
			}
			made := p.drawCard(r, image.Rect(x, y, x+width, y+height))
			if made.rect.Max.Y <= p.bounds.Max.Y {
				p.cards = append(p.cards, made)
			}
			y += height + gap
		}
	}
}

func (p *page) drawCard(r *rand.Rand, rect image.Rectangle) card {
	frameRect(p.picture, rect, p.px(1), p.theme.border, p.theme.card)
	in := rect.Inset(p.px(12))
	c := card{rect: rect, name: sentence(r, 2), title: image.Rect(in.Min.X, in.Min.Y, in.Max.X, in.Min.Y+p.px(18))}
	write(p.picture, c.title, p.pen.bold, in.Min.X, in.Min.Y+p.px(13), c.name, p.theme.text)
	in.Min.Y = c.title.Max.Y + p.px(4)
	if r.IntN(2) == 0 {
		photo := image.Rect(in.Max.X-min(p.px(120), in.Dx()/3), in.Min.Y, in.Max.X, in.Max.Y)
		p.drawPhoto(r, photo)
		c.parts = append(c.parts, photo)
		in.Max.X = photo.Min.X - p.px(10)
	}
	if r.IntN(2) == 0 {
		button := image.Rect(in.Min.X, in.Max.Y-p.px(26), in.Min.X+p.px(84), in.Max.Y)
		fill(p.picture, button, p.theme.accents[r.IntN(len(p.theme.accents))])
		write(p.picture, button, p.pen.bold, button.Min.X+p.px(14), button.Min.Y+p.px(18), sentence(r, 1), white)
		c.parts = append(c.parts, button)
		in.Max.Y = button.Min.Y - p.px(6)
	}
	p.drawParagraph(r, in)
	c.parts = append(c.parts, in)
	return c
}

func (p *page) drawParagraph(r *rand.Rand, in image.Rectangle) {
	for y := in.Min.Y; y+p.px(17) <= in.Max.Y; y += p.px(18) {
		line := sentence(r, 12)
		for textWidth(p.pen.regular, line) > in.Dx() {
			line = line[:len(line)-1]
		}
		write(p.picture, in, p.pen.regular, in.Min.X, y+p.px(13), line, p.theme.subtle)
	}
}

// drawPhoto paints smooth light over coarse blobs with grain, which costs a JPEG encoder as much as a photo.
func (p *page) drawPhoto(r *rand.Rand, rect image.Rectangle) {
	cell := p.px(24)
	across, down := rect.Dx()/cell+2, rect.Dy()/cell+2
	knots := make([]color.RGBA, across*down)
	for i := range knots {
		knots[i] = color.RGBA{uint8(30 + r.IntN(200)), uint8(30 + r.IntN(200)), uint8(30 + r.IntN(180)), 255}
	}
	for y := range rect.Dy() {
		for x := range rect.Dx() {
			at := y/cell*across + x/cell
			top := mix(knots[at], knots[at+1], x%cell, cell)
			bottom := mix(knots[at+across], knots[at+across+1], x%cell, cell)
			c := mix(top, bottom, y%cell, cell)
			grain := r.IntN(25) - 12
			p.picture.SetRGBA(rect.Min.X+x, rect.Min.Y+y, color.RGBA{add(c.R, grain), add(c.G, grain), add(c.B, grain), 255})
		}
	}
}

// add moves a channel by d within its range.
func add(v uint8, d int) uint8 { return uint8(min(255, max(0, int(v)+d))) }

// plain returns a picture of one colour.
func plain(size image.Point, c color.RGBA) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: size})
	fill(out, out.Bounds(), c)
	return out
}

package visual

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strconv"
	"time"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/raster"
)

// StoryboardOptions are the parameters of a storyboard; the zero value is
// ready to use.
type StoryboardOptions struct {
	// Tiles is the most tiles to show, 3..12; 0 means 8. Fewer are shown when
	// fewer frames differ.
	Tiles int
}

// Storyboard draws the selected frames in time order with their offsets, ids
// and reasons.
func (a *Analysis) Storyboard(ctx context.Context, o StoryboardOptions) (*Artifact, error) {
	sel, err := a.Select(o.Tiles)
	if err != nil {
		return nil, err
	}
	faces, err := atlas.Load()
	if err != nil {
		return nil, err
	}
	m := a.newManifest(KindStoryboard, "Storyboard")
	m.param("tiles", strconv.Itoa(max(o.Tiles, defaultTiles*b2i(o.Tiles == 0))))
	m.Represented, m.Unmet = sel.Represented, sel.Unmet
	for i := range sel.Frames {
		m.Tiles = append(m.Tiles, a.tile(i, &sel))
		if !sel.Frames[i].CarryIn {
			m.Selected = append(m.Selected, sel.Frames[i].Frame)
		}
	}
	if n := len(m.Unmet); n > 0 {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%s had no room for a tile", plural(n, "wanted frame")))
	}
	m.Legend = m.axisLegend(true)
	a.addInsets(m, sel.Frames)
	return a.drawTiles(ctx, faces, m, sel.Frames)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tile describes selected frame i.
func (a *Analysis) tile(i int, sel *Selection) Tile {
	c := &sel.Frames[i]
	f := &a.frames[c.index]
	t := Tile{
		Number: i + 1, Frame: c.Frame, Time: c.Time, Offset: a.offset(c.Time), CarryIn: c.CarryIn,
		Epoch: f.epoch + 1, Reasons: c.Reasons, Region: c.Region,
		Source: image.Rectangle{Max: a.epochs[f.epoch].Size},
	}
	for _, m := range a.seq.Markers {
		if at := a.firstKeptFrom(m.Time); at == c.index || at >= 0 && sel.standsFor(c.Frame, a.frames[at].ID) {
			t.Markers = append(t.Markers, m.Label)
		}
	}
	t.Labels = a.tileLabels(&t, sel, i)
	return t
}

// standsFor reports whether the tile of frame by represents frame id.
func (s *Selection) standsFor(by, id FrameID) bool {
	return slices.ContainsFunc(s.Represented, func(r Represented) bool { return r.By == by && r.Frame == id })
}

func (a *Analysis) tileLabels(t *Tile, sel *Selection, i int) []string {
	first := fmt.Sprintf("%d  %s  %s", t.Number, offsetText(t.Offset), t.Frame)
	var second string
	if t.CarryIn {
		second = "carried in from before the range, "
	}
	if i > 0 {
		second = a.edgeText(sel.Frames[i-1].index, sel.Frames[i].index)
	}
	second += reasonText(t.Reasons)
	for _, r := range sel.Represented {
		if r.By == t.Frame {
			second += fmt.Sprintf(", same as %s %s", reasonWords[r.Reason], offsetText(a.offset(r.Time)))
		}
	}
	labels := []string{first, second}
	for _, m := range t.Markers {
		labels = append(labels, "▼"+m)
	}
	return labels
}

// reasonLines is how many lines the reasons of a tile may take.
const reasonLines = 2

func labelHeight(f *atlas.Set, tiles []Tile, cell int) int {
	most := 0
	for i := range tiles {
		n := 1 + len(wrap(f.Regular, tiles[i].Labels[1], cell, reasonLines)) + min(1, len(tiles[i].Labels)-2)
		most = max(most, n)
	}
	return most*lineH + 4
}

// drawTiles lays the tiles out and draws the whole picture.
func (a *Analysis) drawTiles(ctx context.Context, faces *atlas.Set, m *Manifest, chosen []Chosen) (*Artifact, error) {
	spec := a.tileSpec(faces, m, chosen)
	plan, err := a.opts.plan(faces, spec)
	if err != nil {
		return nil, err
	}
	c := newCanvas(faces, plan.width, plan.height)
	inner := image.Rect(margin, margin, plan.width-margin, plan.height-margin)
	spec.head.draw(c, inner)
	top := image.Pt((plan.width-plan.grid.width())/2, margin+spec.head.height(faces, inner.Dx()))
	var pieces []piece
	for i := range m.Tiles {
		t := &m.Tiles[i]
		at := top.Add(plan.grid.at(i))
		box := image.Rectangle{Min: at.Add(image.Pt(0, plan.grid.labels))}
		box.Max = box.Min.Add(plan.grid.box)
		size := fitInto(t.Source.Size(), box.Size())
		t.Rect = image.Rectangle{Min: box.Min, Max: box.Min.Add(size)}
		a.drawLabels(c, t, at, plan.grid.cell)
		raster.Outline(c.RGBA, t.Rect.Inset(-1), 1, colLine)
		a.drawEdges(c, chosen, i, box, plan.grid.gutter)
		pieces = append(pieces, piece{chosen[i].index, t.Rect, t.Source})
		pieces = append(pieces, placeInsets(c, t, chosen[i].index, plan.grid.cell)...)
	}
	if err := a.drawPieces(ctx, c.RGBA, pieces); err != nil {
		return nil, err
	}
	foot := inner
	foot.Min.Y = plan.height - margin - spec.foot.height(faces, inner.Dx())
	spec.foot.draw(c, foot)
	return a.seal(m, c)
}

// tileSpec is the page a set of tiles needs.
func (a *Analysis) tileSpec(f *atlas.Set, m *Manifest, chosen []Chosen) *pageSpec {
	s := &pageSpec{
		count: len(m.Tiles), gutter: gutter, head: m.header(true), foot: legendBlock(m.Legend),
		labels: func(cell int) int { return labelHeight(f, m.Tiles, cell) },
	}
	for i := range m.Tiles {
		size := m.Tiles[i].Source.Size()
		if s.aspect.X == 0 || int64(size.Y)*int64(s.aspect.X) > int64(s.aspect.Y)*int64(size.X) {
			s.aspect = size
		}
		s.natural = max(s.natural, size.X)
	}
	if len(m.Tiles[0].Insets) > 0 {
		s.under = func(cell int) int { return insetsHeight(m.Tiles[0].insetSources(), cell) }
	}
	if a.hasEdges(chosen) {
		s.gutter = wideGut
	}
	return s
}

func (a *Analysis) drawLabels(c *canvas, t *Tile, at image.Point, width int) {
	f := c.faces
	f.Bold.Draw(c.RGBA, at.X, at.Y, f.Bold.Fit(t.Labels[0], width), colText)
	y := at.Y + lineH
	for _, line := range wrap(f.Regular, t.Labels[1], width, reasonLines) {
		f.Regular.Draw(c.RGBA, at.X, y, line, colMuted)
		y += lineH
	}
	if len(t.Labels) > 2 {
		line := t.Labels[2]
		if n := len(t.Labels) - 3; n > 0 {
			line += fmt.Sprintf(" +%d", n)
		}
		f.Regular.Draw(c.RGBA, at.X, y, f.Regular.Fit(line, width), colMarker)
	}
}

// hasEdges reports whether a gap or size change lies between two tiles.
func (a *Analysis) hasEdges(chosen []Chosen) bool {
	for i := 1; i < len(chosen); i++ {
		if gaps, epoch := a.edgeBetween(chosen[i-1].index, chosen[i].index); gaps != nil || epoch {
			return true
		}
	}
	return false
}

// edgeBetween tells what separates two frames: the gaps between them and
// whether the geometry changes.
func (a *Analysis) edgeBetween(i, j int) (gaps []Gap, epoch bool) {
	p, q := &a.frames[i], &a.frames[j]
	for _, g := range a.gaps {
		if (&timeline{gaps: []Gap{g}}).gapBetween(p.Time, q.Time) {
			gaps = append(gaps, g)
		}
	}
	return gaps, p.epoch != q.epoch
}

// edgeText says in words what separates frame j from frame i.
func (a *Analysis) edgeText(i, j int) string {
	gaps, epoch := a.edgeBetween(i, j)
	s := ""
	if len(gaps) > 0 {
		var total time.Duration
		for _, g := range gaps {
			total += g.End - g.Start
		}
		s = fmt.Sprintf("after a gap of %s", lengthText(total))
		if r := gaps[0].Reason; r != "" {
			s += " (" + r + ")"
		}
		s += ", "
	}
	if epoch {
		size := a.epochs[a.frames[j].epoch].Size
		s += fmt.Sprintf("now %dx%d, ", size.X, size.Y)
	}
	return s
}

// drawEdges marks the gutter before tile i when a gap or size change lies there.
func (a *Analysis) drawEdges(c *canvas, chosen []Chosen, i int, box image.Rectangle, gutter int) {
	if i == 0 {
		return
	}
	gaps, epoch := a.edgeBetween(chosen[i-1].index, chosen[i].index)
	bar := image.Rect(box.Min.X-gutter+4, box.Min.Y, box.Min.X-4, box.Max.Y)
	switch {
	case gaps != nil:
		raster.Hatch(c.RGBA, bar, gapPattern, hatchPeriod, colGap)
		raster.Outline(c.RGBA, bar, 1, colGap)
	case epoch:
		mid := (bar.Min.X + bar.Max.X) / 2
		raster.Fill(c.RGBA, image.Rect(mid-3, bar.Min.Y, mid-1, bar.Max.Y), colText)
		raster.Fill(c.RGBA, image.Rect(mid+1, bar.Min.Y, mid+3, bar.Max.Y), colText)
	}
}

// seal completes the manifest and wraps the picture.
func (a *Analysis) seal(m *Manifest, c *canvas) (*Artifact, error) {
	if err := m.identify(a); err != nil {
		return nil, err
	}
	m.Output = Output{Width: c.Rect.Dx(), Height: c.Rect.Dy(), PixelsSHA256: pixelHash(c.RGBA)}
	return &Artifact{Image: c.RGBA, Manifest: *m}, nil
}

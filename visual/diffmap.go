package visual

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"strconv"
	"time"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/raster"
	"github.com/krometrail/krometrail/visual/palette"
)

// Palette names a colour scale for time.
type Palette string

// The colour scales.
const (
	Viridis Palette = "viridis" // the default
	Cividis Palette = "cividis"
)

func (p Palette) scale() (*palette.Scale, error) {
	switch p {
	case "", Viridis:
		return palette.Viridis(), nil
	case Cividis:
		return palette.Cividis(), nil
	}
	return nil, invalid("palette %q", p)
}

// MapOptions are the parameters of a difference map or motion history; the
// zero value is ready to use.
type MapOptions struct {
	// Palette colours time; empty means Viridis.
	Palette Palette
	// Epoch is the Epoch.Number to show; 0 means the one that holds the
	// baseline. Maps never combine epochs.
	Epoch int
	// Decay is the time after which a motion history forgets a change; 0 means
	// the length of the range. Difference maps ignore it: setting it there is
	// ErrInvalidOption.
	Decay time.Duration
}

func (a *Analysis) epochFor(n int) (*epochData, error) {
	if n == 0 {
		return &a.epochs[a.frames[a.baseline].epoch], nil
	}
	if n < 1 || n > len(a.epochs) {
		return nil, invalid("epoch %d, want 1..%d", n, len(a.epochs))
	}
	return &a.epochs[n-1], nil
}

// referenceFrame is the frame maps of an epoch are drawn over: the baseline,
// else the first kept frame.
func (a *Analysis) referenceFrame(e *epochData) int {
	if a.frames[a.baseline].epoch == e.Number-1 {
		return a.baseline
	}
	for i := range a.frames {
		if f := &a.frames[i]; f.kept && f.epoch == e.Number-1 {
			return i
		}
	}
	return a.baseline
}

// DifferenceMap draws three panels of one epoch: a reference frame, how often
// each place changed, and when. Places that changed in separate bursts are
// hatched, changed regions outlined and numbered.
func (a *Analysis) DifferenceMap(ctx context.Context, o MapOptions) (*Artifact, error) {
	if o.Decay != 0 {
		return nil, invalid("decay has no meaning for a difference map")
	}
	e, err := a.epochFor(o.Epoch)
	if err != nil {
		return nil, err
	}
	scale, err := o.Palette.scale()
	if err != nil {
		return nil, err
	}
	faces, err := atlas.Load()
	if err != nil {
		return nil, err
	}
	m := a.newManifest(KindDifferenceMap, "Difference map")
	a.describeMap(m, e, []string{"reference", "how often places changed", "when places changed (mean time)"})
	m.param("palette", string(orViridis(o.Palette)))
	m.param("frequency_scale", "linear, brightest = "+strconv.Itoa(e.maxCount()))
	m.Legend = append(m.axisLegend(false), mapLegend(a.countRegions(e.Number))...)
	m.Legend = append(m.Legend,
		LegendEntry{signRepeated, "changed again after a pause of a quarter of the range or more"},
		LegendEntry{signManyRepeats, "changed in three or more bursts"})
	d := &mapDrawing{a: a, e: e, m: m, scale: scale}
	d.panels = []panel{{}, {paint: d.frequency}, {overReference: true, paint: d.timing}}
	return d.draw(ctx, faces)
}

func mapLegend(regions int) []LegendEntry {
	if regions == 0 {
		return nil
	}
	return []LegendEntry{{signRegion, "changed region"}}
}

func (a *Analysis) countRegions(epoch int) int {
	n := 0
	for i := range a.regions {
		if a.regions[i].Epoch == epoch {
			n++
		}
	}
	return n
}

func orViridis(p Palette) Palette {
	if p == "" {
		return Viridis
	}
	return p
}

// describeMap fills the manifest of a picture whose tiles are panels over one
// reference frame.
func (a *Analysis) describeMap(m *Manifest, e *epochData, panels []string) {
	m.Epoch = e.Number
	ref := a.referenceFrame(e)
	f := &a.frames[ref]
	if !f.carry {
		m.Selected = []FrameID{f.ID}
	}
	for i, title := range panels {
		t := Tile{Number: i + 1, Frame: f.ID, Time: f.Time, Offset: a.offset(f.Time), CarryIn: f.carry, Epoch: e.Number, Source: image.Rectangle{Max: e.Size}}
		second := fmt.Sprintf("frame %s at %s, %s", f.ID, offsetText(t.Offset), a.referenceWord(ref))
		if i > 0 {
			second = "over that frame, " + plural(len(a.changes), "step") + " compared"
		}
		t.Labels = []string{strconv.Itoa(i+1) + "  " + title, second}
		m.Tiles = append(m.Tiles, t)
	}
}

func (a *Analysis) referenceWord(ref int) string {
	switch {
	case a.frames[ref].carry:
		return "carried in from before the range"
	case ref == a.before:
		return "last before the anchor"
	}
	return "first of its size"
}

// mapDrawing draws panels that share one geometry; the first is the reference
// frame when its paint is nil.
type mapDrawing struct {
	a      *Analysis
	e      *epochData
	m      *Manifest
	scale  *palette.Scale
	panels []panel
}

// panel is one picture of a map. Paint also draws the scale under it.
type panel struct {
	overReference bool
	paint         func(c *canvas, r image.Rectangle)
}

// rampH is the height of a colour ramp with its tick labels.
const rampH = 16 + lineH

func (d *mapDrawing) draw(ctx context.Context, faces *atlas.Set) (*Artifact, error) {
	foot := stack{legendBlock(d.m.Legend), space(6)}
	for _, line := range d.a.regionLines(d.e.Number) {
		foot = append(foot, textBlock{line, false, colText, 1})
	}
	spec := &pageSpec{
		count: len(d.m.Tiles), aspect: d.e.Size, natural: d.e.Size.X, gutter: gutter,
		head: d.m.header(false), foot: foot,
		labels: func(cell int) int { return labelHeight(faces, d.m.Tiles, cell) },
		under:  func(int) int { return 4 + rampH },
	}
	plan, err := d.a.opts.plan(faces, spec)
	if err != nil {
		return nil, err
	}
	c := newCanvas(faces, plan.width, plan.height)
	inner := image.Rect(margin, margin, plan.width-margin, plan.height-margin)
	spec.head.draw(c, inner)
	top := image.Pt((plan.width-plan.grid.width())/2, margin+spec.head.height(faces, inner.Dx()))
	for i := range d.m.Tiles {
		t := &d.m.Tiles[i]
		at := top.Add(plan.grid.at(i))
		d.a.drawLabels(c, t, at, plan.grid.cell)
		t.Rect.Min = at.Add(image.Pt(0, plan.grid.labels))
		t.Rect.Max = t.Rect.Min.Add(plan.grid.box)
	}
	if err := d.paintPanels(ctx, c); err != nil {
		return nil, err
	}
	box := inner
	box.Min.Y = plan.height - margin - foot.height(faces, inner.Dx())
	foot.draw(c, box)
	return d.a.seal(d.m, c)
}

func (d *mapDrawing) paintPanels(ctx context.Context, c *canvas) error {
	ref := d.a.referenceFrame(d.e)
	var pieces []piece
	for i, p := range d.panels {
		if p.paint == nil || p.overReference {
			pieces = append(pieces, piece{ref, d.m.Tiles[i].Rect, d.m.Tiles[i].Source})
		}
	}
	if err := d.a.drawPieces(ctx, c.RGBA, pieces); err != nil {
		return err
	}
	for i, p := range d.panels {
		r := d.m.Tiles[i].Rect
		if p.paint != nil {
			p.paint(c, r)
			d.a.outlineRegions(c, r, d.e.Number)
		}
		raster.Outline(c.RGBA, r.Inset(-1), 1, colLine)
	}
	return nil
}

// frequency: black never changed, brighter changed more often.
func (d *mapDrawing) frequency(c *canvas, r image.Rectangle) {
	raster.Fill(c.RGBA, r, color.RGBA{A: 0xff})
	most := max(1, d.e.maxCount())
	grey := func(n int) color.RGBA {
		v := uint8(255)
		if most > 1 {
			v = uint8(40 + 215*(n-1)/(most-1))
		}
		return color.RGBA{v, v, v, 0xff}
	}
	d.e.paint(r, byCount, func(x, y int, h *cellHistory) { c.SetRGBA(x, y, grey(int(h.count))) })
	ramp(c, r, func(v uint8) color.RGBA {
		l := 40 + int(v)*215/255
		return color.RGBA{uint8(l), uint8(l), uint8(l), 0xff}
	},
		frequencyLabels(d.e.maxCount()))
}

func frequencyLabels(most int) []string {
	switch most {
	case 0:
		return []string{"black: no change", ""}
	case 1:
		return []string{"black: no change", "white: 1 change"}
	}
	return []string{"black: none, grey: 1 change", plural(most, "change")}
}

// timing: the colour of the mean time of change over the dimmed reference.
func (d *mapDrawing) timing(c *canvas, r image.Rectangle) {
	dim(c.RGBA, r)
	d.e.paint(r, byCount, func(x, y int, h *cellHistory) {
		col := scaleColor(d.scale, d.a.meanTime(h))
		switch n := d.a.repeats(h); {
		case n == 2 && raster.Cross.Hits(x, y, densePeriod), n == 1 && raster.Rising.Hits(x, y, sparsePeriod):
			col = colBack
		}
		c.SetRGBA(x, y, col)
	})
	rng := d.a.rng
	ramp(c, r, func(v uint8) color.RGBA { return scaleColor(d.scale, v) }, []string{
		offsetText(d.a.offset(rng.Start)), offsetText(d.a.offset(rng.Start + rng.Length()/2)), offsetText(d.a.offset(rng.End)),
	})
}

// ramp draws a colour scale under r with labels at its ends and, when there
// are three, its middle.
func ramp(c *canvas, r image.Rectangle, col func(uint8) color.RGBA, labels []string) {
	y := r.Max.Y + 5
	for x := range r.Dx() {
		raster.Fill(c.RGBA, image.Rect(r.Min.X+x, y, r.Min.X+x+1, y+10), col(uint8(x*255/max(1, r.Dx()-1))))
	}
	f := c.faces.Regular
	y += 11
	f.Draw(c.RGBA, r.Min.X, y, labels[0], colText)
	last := labels[len(labels)-1]
	f.Draw(c.RGBA, r.Max.X-f.Width(last), y, last, colText)
	if len(labels) == 3 && f.Width(labels[0]+labels[1]+last) < r.Dx()-20 {
		f.Draw(c.RGBA, (r.Min.X+r.Max.X-f.Width(labels[1]))/2, y, labels[1], colText)
	}
}

const maxRegionLines = 6

// regionLines lists the regions of an epoch in words.
func (a *Analysis) regionLines(epoch int) []string {
	var out []string
	for i := range a.regions {
		r := &a.regions[i]
		if r.Epoch != epoch {
			continue
		}
		name := fmt.Sprintf("R%d", r.Number)
		if r.Merged > 0 {
			name = plural(r.Merged, "smaller region")
		}
		out = append(out, fmt.Sprintf("%s  at %d,%d  size %dx%d  %s  %s to %s", name, r.Bounds.Min.X, r.Bounds.Min.Y, r.Bounds.Dx(), r.Bounds.Dy(),
			plural(r.Changes, "change"), offsetText(a.offset(r.First)), offsetText(a.offset(r.Last))))
	}
	if len(out) == 0 {
		return []string{"no change above the noise level"}
	}
	if n := len(out) - maxRegionLines; n > 0 {
		out = append(out[:maxRegionLines], fmt.Sprintf("and %s more in the manifest", plural(n, "region")))
	}
	return out
}

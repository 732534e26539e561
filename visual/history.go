package visual

import (
	"context"
	"image"
	"image/color"

	"github.com/krometrail/krometrail/visual/internal/atlas"
)

// MotionHistory draws one panel of one epoch: places that changed, the more
// recently the brighter, over a subdued reference frame. A place that last
// changed longer than Decay before the end of the range is not marked.
func (a *Analysis) MotionHistory(ctx context.Context, o MapOptions) (*Artifact, error) {
	if o.Decay < 0 {
		return nil, invalid("decay %v", o.Decay)
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
	if o.Decay == 0 {
		o.Decay = a.rng.Length()
	}
	m := a.newManifest(KindMotionHistory, "Motion history")
	a.describeMap(m, e, []string{"most recent change of each place"})
	m.Tiles[0].Labels[1] = m.Tiles[0].Labels[1] + ", dimmed to a quarter"
	m.param("palette", string(orViridis(o.Palette)))
	m.param("decay", o.Decay.String()+", linear")
	m.Legend = append(m.axisLegend(false), mapLegend(a.countRegions(e.Number))...)
	d := &mapDrawing{a: a, e: e, m: m, scale: scale}
	decay := uint64(max(1, o.Decay.Milliseconds()))
	d.panels = []panel{{overReference: true, paint: func(c *canvas, r image.Rectangle) { d.history(c, r, decay) }}}
	return d.draw(ctx, faces)
}

// recency is 255 for a change at the end of the range, falling to 0 one decay
// before it.
func (a *Analysis) recency(h *cellHistory, decay uint64) uint8 {
	end := uint64(max(0, a.rng.Length().Milliseconds()))
	age := end - min(end, uint64(h.last))
	if age >= decay {
		return 0
	}
	return uint8(255 * (decay - age) / decay)
}

func (d *mapDrawing) history(c *canvas, r image.Rectangle, decay uint64) {
	dim(c.RGBA, r)
	// The lowest fifth of the scale is too dark to tell from the reference.
	shade := func(v uint8) color.RGBA { return scaleColor(d.scale, uint8(51+int(v)*204/255)) }
	d.e.paint(r, byLast, func(x, y int, h *cellHistory) {
		if v := d.a.recency(h, decay); v > 0 {
			c.SetRGBA(x, y, shade(v))
		}
	})
	end := d.a.offset(d.a.rng.End)
	from := end - msDuration(decay)
	ramp(c, r, shade, []string{"last changed " + offsetText(from) + " or before: unmarked", offsetText(end)})
}

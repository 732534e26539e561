package visual

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strconv"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/grid"
	"github.com/krometrail/krometrail/visual/internal/pick"
	"github.com/krometrail/krometrail/visual/internal/raster"
)

// FilmstripOptions are the parameters of a region filmstrip; the zero value is
// ready to use.
type FilmstripOptions struct {
	// Tiles is the most tiles to show, 1..24; 0 means 8.
	Tiles int
	// Scale is output pixels per image pixel in percent, 10..800; 0 means the
	// greatest whole multiple up to 4, or fraction, that fits. A scale that
	// does not fit is a *LimitError.
	Scale int
	// Places gives the region's position frame by frame, for a region that
	// moves. Exactly these frames are shown, in time order, and Region is only
	// the size every tile has; Method must then say how the places were found.
	Places []Place
	// Method names how Places were determined, e.g. "element box at capture".
	Method string
	// Epoch is the Epoch.Number whose frames are shown; 0 means the one that
	// holds the baseline.
	Epoch int
}

// Place is where the region lies in one frame: its centre is kept, its size is
// that of the filmstrip's region.
type Place struct {
	Frame FrameID         `json:"frame"`
	Rect  image.Rectangle `json:"rect"` // image pixels
}

const (
	maxStripTiles = 24
	maxMagnify    = 4
)

// strip is a filmstrip being planned.
type strip struct {
	a      *Analysis
	e      *epochData
	rect   image.Rectangle
	chosen []Chosen
	source []image.Rectangle // per tile
	sel    Selection
}

// Filmstrip draws one region over time at equal scale, with a picture that
// locates it in the frame. Parts of the region outside the frame are drawn as
// padding; a region wholly outside is ErrRegionOutside. Frames are those of one
// epoch, chosen by what changes inside the region.
func (a *Analysis) Filmstrip(ctx context.Context, region Region, o FilmstripOptions) (*Artifact, error) {
	s, err := a.planStrip(ctx, &region, &o)
	if err != nil {
		return nil, err
	}
	faces, err := atlas.Load()
	if err != nil {
		return nil, err
	}
	m := a.newManifest(KindFilmstrip, "Region filmstrip")
	m.Region, m.Epoch = &region, s.e.Number
	m.Represented, m.Unmet = s.sel.Represented, s.sel.Unmet
	m.param("tiles", strconv.Itoa(o.Tiles))
	m.param("region_pixels", s.rect.String())
	if len(o.Places) > 0 {
		m.param("place_method", o.Method)
	}
	for i := range s.chosen {
		t := a.tile(i, &s.sel)
		t.Source = s.source[i]
		m.Tiles = append(m.Tiles, t)
		if !t.CarryIn {
			m.Selected = append(m.Selected, t.Frame)
		}
	}
	m.Legend = m.axisLegend(true)
	if s.padded() {
		m.Legend = append(m.Legend, LegendEntry{signPadding, "padding: outside the frame"})
	}
	return s.draw(ctx, faces, m, o.Scale)
}

func (a *Analysis) planStrip(ctx context.Context, region *Region, o *FilmstripOptions) (*strip, error) {
	orDefault(&o.Tiles, defaultTiles)
	switch {
	case o.Tiles < 1 || o.Tiles > maxStripTiles:
		return nil, invalid("tiles %d, want 1..%d", o.Tiles, maxStripTiles)
	case o.Scale != 0 && (o.Scale < 10 || o.Scale > 800):
		return nil, invalid("scale %d %%, want 10..800", o.Scale)
	case len(o.Places) > maxStripTiles:
		return nil, &LimitError{Subject: "places", Value: int64(len(o.Places)), Limit: maxStripTiles, TryAtMost: maxStripTiles}
	case (o.Method == "") != (len(o.Places) == 0):
		return nil, invalid("places and method belong together")
	}
	if err := region.validate(); err != nil {
		return nil, err
	}
	e, err := a.epochFor(o.Epoch)
	if err != nil {
		return nil, err
	}
	s := &strip{a: a, e: e, rect: region.Pixels()}
	if len(o.Places) > 0 {
		return s, s.place(o.Places)
	}
	if s.rect.Intersect(image.Rectangle{Max: e.Size}).Empty() {
		return nil, fmt.Errorf("%w: region %v, frame %v", ErrRegionOutside, s.rect, e.Size)
	}
	if err := s.selectFrames(ctx, o.Tiles); err != nil {
		return nil, err
	}
	for range s.chosen {
		s.source = append(s.source, s.rect)
	}
	return s, nil
}

// place uses the caller's frames and positions.
func (s *strip) place(places []Place) error {
	at := make(map[FrameID]int, len(s.a.frames))
	for i := range s.a.frames {
		at[s.a.frames[i].ID] = i
	}
	type placed struct {
		frame int
		rect  image.Rectangle
	}
	var all []placed
	for _, p := range places {
		i, ok := at[p.Frame]
		if !ok || !s.a.frames[i].read || s.a.frames[i].epoch != s.e.Number-1 {
			return invalid("place for frame %q, which is not an analyzed frame of the epoch", p.Frame)
		}
		centre := p.Rect.Min.Add(p.Rect.Max).Div(2)
		r := s.rect.Sub(s.rect.Min).Add(centre.Sub(s.rect.Size().Div(2)))
		if r.Intersect(image.Rectangle{Max: s.e.Size}).Empty() {
			return fmt.Errorf("%w: place %v of frame %q", ErrRegionOutside, p.Rect, p.Frame)
		}
		all = append(all, placed{i, r})
	}
	slices.SortStableFunc(all, func(p, q placed) int { return p.frame - q.frame })
	for i, p := range all {
		if i > 0 && all[i-1].frame == p.frame {
			return fmt.Errorf("%w: two places for frame %q", ErrDuplicateID, s.a.frames[p.frame].ID)
		}
		s.chosen = append(s.chosen, s.a.choose(p.frame, ReasonPlaced))
		s.source = append(s.source, p.rect)
	}
	s.sel.Frames = s.chosen
	return nil
}

// selectFrames chooses frames by the changes inside the region.
func (s *strip) selectFrames(ctx context.Context, limit int) error {
	a := s.a
	in, sigs := s.inputs()
	var wants []pick.Want
	for seg := range in {
		if err := s.distances(ctx, &in[seg], sigs[seg]); err != nil {
			return err
		}
		if seg == a.frames[a.baseline].segment {
			wants = s.wants(&in[seg])
		}
	}
	for seg := range in {
		if n := len(in[seg].Frames); n > 0 && seg != a.frames[a.baseline].segment {
			wants = append(wants, pick.Want{Frame: in[seg].Frames[0], Reason: string(a.edgeReason(max(1, seg)))})
		}
	}
	res := pick.Select(&pick.Request{
		Segments: in, Wants: wants, Limit: limit, Least: min(minTiles, limit),
		Same: s.unchanged, Spread: s.spread,
	})
	s.sel = a.selection(res)
	s.chosen = s.sel.Frames
	return nil
}

// inputs prepares the segments of the epoch; others stay empty.
func (s *strip) inputs() ([]pick.Input, [][]grid.Signature) {
	in := make([]pick.Input, len(s.a.segments))
	sigs := make([][]grid.Signature, len(in))
	for i := range s.a.frames {
		if f := &s.a.frames[i]; f.kept && f.epoch == s.e.Number-1 {
			in[f.segment].Frames = append(in[f.segment].Frames, i)
			in[f.segment].Times = append(in[f.segment].Times, f.Time.Microseconds())
			sigs[f.segment] = append(sigs[f.segment], f.sig)
		}
	}
	return in, sigs
}

// tiles lists the changed tiles that touch the region.
func (s *strip) tiles() []int32 {
	var out []int32
	for t, h := range s.e.acc.tiles {
		if h != nil && s.e.tileRect(t).Overlaps(s.rect) {
			out = append(out, int32(t))
		}
	}
	return out
}

func (s *strip) distances(ctx context.Context, in *pick.Input, sigs []grid.Signature) error {
	states := make([]int32, len(sigs))
	for i := range states {
		states[i] = int32(i)
	}
	m := pick.NewMatrix(states, len(sigs))
	in.Regions = []pick.Region{{Root: 1, D: m}}
	tiles := s.tiles()
	for i := range sigs {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j := i + 1; j < len(sigs); j++ {
			m.Set(i, j, grid.Distance(sigs[i], sigs[j], tiles, stateThreshold))
		}
	}
	return nil
}

// wants lists the moments of the region in the baseline's segment.
func (s *strip) wants(in *pick.Input) []pick.Want {
	d := in.Regions[0].D
	base := indexOf(in.Frames, s.a.baseline)
	out := []pick.Want{{Frame: s.a.baseline, Reason: string(ReasonBefore)}}
	if s.a.baseline != s.a.before {
		out[0].Reason = string(ReasonFirstAfter)
	}
	peak, first := base, -1
	for f := base + 1; f < len(in.Frames); f++ {
		if d.At(base, f) > d.At(base, peak) {
			peak = f
		}
		if first < 0 && d.At(f-1, f) > 0 {
			first = f
		}
	}
	if peak > base {
		out = append(out, pick.Want{Frame: in.Frames[peak], Reason: string(ReasonPeak)})
	}
	out = append(out, pick.Want{Frame: in.Frames[len(in.Frames)-1], Reason: string(ReasonFinal)})
	if first >= 0 {
		out = append(out, pick.Want{Frame: in.Frames[first], Reason: string(ReasonFirstChange)})
	}
	return out
}

// unchanged reports whether no step from i to j changed a tile of the region.
func (s *strip) unchanged(i, j int) bool {
	if s.a.frames[i].segment != s.a.frames[j].segment {
		return false
	}
	tiles := s.tiles()
	for k := range s.a.changes {
		if c := &s.a.changes[k]; c.from >= i && c.to <= j && c.tiles != nil && touches(c.tiles, tiles) {
			return false
		}
	}
	return true
}

// spread is Analysis.spread within the epoch.
func (s *strip) spread(picked []int) int {
	i := s.a.spread(picked)
	if i >= 0 && s.a.frames[i].epoch != s.e.Number-1 {
		return -1
	}
	return i
}

func (s *strip) padded() bool {
	frame := image.Rectangle{Max: s.e.Size}
	return slices.ContainsFunc(s.source, func(r image.Rectangle) bool { return !r.In(frame) })
}

// draw lays the strip out and draws it.
func (s *strip) draw(ctx context.Context, faces *atlas.Set, m *Manifest, scale int) (*Artifact, error) {
	spec := s.a.tileSpec(faces, m, s.chosen)
	spec.natural = s.rect.Dx() * maxMagnify
	spec.foot = stack{spec.foot, space(8), &locator{s: s}}
	if scale != 0 {
		spec.natural = max(1, s.rect.Dx()*scale/100)
		spec.fixed = true
	}
	plan, err := s.a.opts.plan(faces, spec)
	if err == nil && scale == 0 && plan.grid.box.X > s.rect.Dx() {
		spec.natural = plan.grid.box.X / s.rect.Dx() * s.rect.Dx()
		plan, err = s.a.opts.plan(faces, spec)
	}
	if err != nil {
		return nil, err
	}
	m.param("scale", fmt.Sprintf("%d/%d", plan.grid.box.X, s.rect.Dx()))
	c := newCanvas(faces, plan.width, plan.height)
	inner := image.Rect(margin, margin, plan.width-margin, plan.height-margin)
	spec.head.draw(c, inner)
	top := image.Pt((plan.width-plan.grid.width())/2, margin+spec.head.height(faces, inner.Dx()))
	var pieces []piece
	for i := range m.Tiles {
		t := &m.Tiles[i]
		at := top.Add(plan.grid.at(i))
		t.Rect.Min = at.Add(image.Pt(0, plan.grid.labels))
		t.Rect.Max = t.Rect.Min.Add(plan.grid.box)
		s.a.drawLabels(c, t, at, plan.grid.cell)
		raster.Outline(c.RGBA, t.Rect.Inset(-1), 1, colLine)
		s.a.drawEdges(c, s.chosen, i, t.Rect, plan.grid.gutter)
		pieces = append(pieces, s.padTile(c, t, s.chosen[i].index))
	}
	foot := inner
	foot.Min.Y = plan.height - margin - spec.foot.height(faces, inner.Dx())
	spec.foot.draw(c, foot)
	at, src := (&locator{s: s}).picture(foot)
	pieces = append(pieces, piece{s.a.referenceFrame(s.e), at, src})
	if err := s.a.drawPieces(ctx, c.RGBA, pieces); err != nil {
		return nil, err
	}
	s.outline(c, at)
	return s.a.seal(m, c)
}

// padTile hatches the part of a tile outside the frame and returns the rest.
func (s *strip) padTile(c *canvas, t *Tile, frame int) piece {
	inside := t.Source.Intersect(image.Rectangle{Max: s.e.Size})
	w, h := t.Source.Dx(), t.Source.Dy()
	off := inside.Sub(t.Source.Min)
	at := image.Rect(
		t.Rect.Min.X+off.Min.X*t.Rect.Dx()/w, t.Rect.Min.Y+off.Min.Y*t.Rect.Dy()/h,
		t.Rect.Min.X+off.Max.X*t.Rect.Dx()/w, t.Rect.Min.Y+off.Max.Y*t.Rect.Dy()/h)
	if at.Dx() < 1 {
		at.Max.X = at.Min.X + 1
	}
	if at.Dy() < 1 {
		at.Max.Y = at.Min.Y + 1
	}
	if inside != t.Source {
		raster.Fill(c.RGBA, t.Rect, colPanel)
		raster.Hatch(c.RGBA, t.Rect, paddingPattern, paddingPeriod, colLine)
	}
	return piece{frame, at, inside}
}

// ReasonPlaced marks a frame the caller gave a place for.
const ReasonPlaced Reason = "placed"

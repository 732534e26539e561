package visual

import (
	"context"
	"fmt"
	"image"

	"github.com/krometrail/krometrail/visual/internal/atlas"
	"github.com/krometrail/krometrail/visual/internal/raster"
)

// DrawEntry draws entry i of a plan of this analysis onto dst. A frame is scaled down to fit and centred, never
// stretched, enlarged or labelled; a slate is hatched and says what it stands for. It returns ErrInvalidOption for an
// entry the plan does not have, and what reading the frame returned.
func (a *Analysis) DrawEntry(ctx context.Context, p *VideoPlan, i int, dst *image.RGBA) error {
	if i < 0 || i >= len(p.Entries) || dst.Rect.Empty() {
		return invalid("entry %d of %d on %v", i, len(p.Entries), dst.Rect)
	}
	raster.Fill(dst, dst.Rect, colBack)
	e := &p.Entries[i]
	if e.Kind != EntryFrame {
		return drawSlate(dst, e)
	}
	if e.index >= len(a.frames) || a.frames[e.index].ID != e.Frame {
		return invalid("entry %d is of another analysis", i)
	}
	size := a.epochs[a.frames[e.index].epoch].Size
	box := fitInto(size, image.Pt(min(size.X, dst.Rect.Dx()), min(size.Y, dst.Rect.Dy())))
	at := dst.Rect.Min.Add(dst.Rect.Size().Sub(box).Div(2))
	return a.drawPieces(ctx, dst, []piece{{e.index, image.Rectangle{Min: at, Max: at.Add(box)}, image.Rectangle{Max: size}}})
}

// drawSlate fills dst with a hatch and puts the slate's words into a clear band.
func drawSlate(dst *image.RGBA, e *PlanEntry) error {
	faces, err := atlas.Load()
	if err != nil {
		return err
	}
	pattern, col := gapPattern, colGap
	if e.Kind == EntryEpoch {
		pattern, col = paddingPattern, colLine
	}
	raster.Hatch(dst, dst.Rect, pattern, 4*hatchPeriod, col)
	c := &canvas{dst, faces}
	text := stack{titleBlock(slateTitle(e)), textBlock{e.Label, true, col, 3}, textBlock{slateSpan(e), false, colMuted, 2}}
	inner := dst.Rect.Inset(min(margin, dst.Rect.Dx()/8))
	inner.Min.Y += max(0, inner.Dy()-text.height(faces, inner.Dx())) / 2
	inner.Max.Y = min(inner.Max.Y, inner.Min.Y+text.height(faces, inner.Dx()))
	raster.Fill(dst, inner.Inset(-10).Intersect(dst.Rect), colBack)
	text.draw(c, inner)
	return nil
}

func slateTitle(e *PlanEntry) string {
	if e.Kind == EntryGap {
		return "Gap: nothing was recorded"
	}
	return "New frame size"
}

// slateSpan names the sequence time that the slate stands for.
func slateSpan(e *PlanEntry) string {
	return fmt.Sprintf("source time %.3f s to %.3f s", e.From.Seconds(), e.To.Seconds())
}

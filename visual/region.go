package visual

import "image"

// Space is the coordinate space a region was declared in.
type Space string

const (
	// ImagePixels are pixels of the frames as stored. It is the default.
	ImagePixels Space = "image_pixels"
	// Viewport are units of the viewport, converted by Region.Num / Region.Den.
	Viewport Space = "viewport"
)

// Region is a fixed rectangle. It stays where it was declared: it does not
// follow content that scrolls or moves.
type Region struct {
	Rect  image.Rectangle `json:"rect"`
	Space Space           `json:"space,omitempty"`
	// Num / Den is the number of image pixels per unit of a Viewport region;
	// 0 / 0 means 1.
	Num int `json:"num,omitempty"`
	Den int `json:"den,omitempty"`
	// Label is shown beside the region.
	Label string `json:"label,omitempty"`
}

// Pixels is the region in image pixels, rounded outward. It may extend beyond
// the frame.
func (r Region) Pixels() image.Rectangle {
	if r.Space != Viewport || r.Num <= 0 || r.Den <= 0 {
		return r.Rect
	}
	return image.Rect(
		floorDiv(r.Rect.Min.X*r.Num, r.Den), floorDiv(r.Rect.Min.Y*r.Num, r.Den),
		-floorDiv(-r.Rect.Max.X*r.Num, r.Den), -floorDiv(-r.Rect.Max.Y*r.Num, r.Den))
}

func (r Region) validate() error {
	switch {
	case r.Space != "" && r.Space != ImagePixels && r.Space != Viewport:
		return invalid("region space %q", r.Space)
	case r.Num < 0 || r.Den < 0 || (r.Num == 0) != (r.Den == 0) || r.Num > 1<<16 || r.Den > 1<<16:
		return invalid("region scale %d/%d", r.Num, r.Den)
	case r.Rect.Empty():
		return ErrRegionOutside
	case r.Rect.Min.X < -maxCoord || r.Rect.Min.Y < -maxCoord || r.Rect.Max.X > maxCoord || r.Rect.Max.Y > maxCoord:
		return ErrRegionOutside
	}
	return nil
}

const maxCoord = 1 << 20

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

package visual

import (
	"image/color"

	"github.com/krometrail/krometrail/visual/internal/raster"
)

// The colours of labels and signs. Each sign also has a pattern or a word, so
// that nothing depends on telling colours apart.
var (
	colBack     = color.RGBA{0x12, 0x14, 0x18, 0xff}
	colPanel    = color.RGBA{0x1d, 0x21, 0x28, 0xff}
	colText     = color.RGBA{0xf4, 0xf6, 0xf9, 0xff}
	colMuted    = color.RGBA{0xae, 0xb6, 0xc2, 0xff}
	colLine     = color.RGBA{0x4a, 0x52, 0x60, 0xff}
	colGap      = color.RGBA{0xf0, 0xa8, 0x30, 0xff}
	colAnchor   = color.RGBA{0xff, 0xff, 0xff, 0xff}
	colObserver = color.RGBA{0x8a, 0xb4, 0xff, 0xff}
	colMarker   = color.RGBA{0x8f, 0xe3, 0x88, 0xff}
	colRegion   = color.RGBA{0x5f, 0xe0, 0xe6, 0xff}
)

const (
	gapPattern      = raster.Rising
	observerPattern = raster.Dots
	paddingPattern  = raster.Cross
	hatchPeriod     = 7
)

const (
	margin    = 22
	rowGap    = 14
	gutter    = 14
	wideGut   = 22
	lineH     = 19
	titleH    = 29
	minCell   = 208
	minCanvas = 640
)

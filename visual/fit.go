package visual

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/krometrail/krometrail/visual/internal/raster"
)

// FitSize is the size that Fit gives a picture of this size.
func FitSize(size image.Point, maxEdge, maxPixels int) image.Point {
	long := max(size.X, size.Y)
	for edge := min(long, maxEdge); edge > 0; edge-- {
		if box := fitInto(size, image.Pt(edge, edge)); box.X*box.Y <= maxPixels {
			return box
		}
	}
	return image.Point{}
}

// Fit scales an encoded JPEG or PNG down until it fits the bounds; one that fits is returned as it is. The format stays.
func Fit(ctx context.Context, data []byte, maxEdge, maxPixels int) ([]byte, error) {
	f := Frame{Data: data}
	limits, err := Options{}.resolve()
	if err != nil {
		return nil, err
	}
	if _, err := frameSize(&f, &limits); err != nil {
		return nil, err
	}
	img, err := decodeFull(&f)
	if err != nil {
		return nil, err
	}
	size := img.Bounds().Size()
	box := FitSize(size, maxEdge, maxPixels)
	switch box {
	case size:
		return data, nil
	case image.Point{}:
		return nil, invalid("bounds of %d and %d pixels", maxEdge, maxPixels)
	}
	dst := image.NewRGBA(image.Rectangle{Max: box})
	if err := raster.FromImage(img).Draw(dst, dst.Rect, image.Rectangle{Max: size}, ctx.Err); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if sniff(&f) == formatJPEG {
		err = jpeg.Encode(&out, dst, &jpeg.Options{Quality: 85})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, dst)
	}
	return out.Bytes(), err
}

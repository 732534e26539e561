package artifact

import (
	"context"
	"image"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/record"
	"github.com/krometrail/krometrail/visual"
)

// Picture shows an artifact; its pixels are read only when it is shown inline. Artifacts are drawn within
// the inline bounds.
func (s *Service) Picture(a record.Artifact) evidence.Picture {
	return evidence.Picture{
		Role: evidence.RoleTemporal, Kind: a.Kind, Width: a.Width, Height: a.Height, ArtifactID: a.ID, MediaType: a.MediaType,
		Load: func(ctx context.Context) ([]byte, error) { return s.store.ReadArtifact(ctx, a.ID) },
	}
}

// Bounds of a picture that is shown inline.
const (
	inlineEdge   = 1568
	inlinePixels = 1_150_000
)

// Frame shows a recorded frame, scaled down when it is above the inline bounds; its resource has the original.
func (s *Service) Frame(f record.Frame) evidence.Picture {
	size := visual.FitSize(image.Pt(f.Width, f.Height), inlineEdge, inlinePixels)
	p := evidence.Picture{
		Role: evidence.RoleSourceFrame, Kind: "frame", Width: size.X, Height: size.Y, FrameID: f.ID, MediaType: "image/" + f.Format,
		Load: func(ctx context.Context) ([]byte, error) {
			data, err := s.frames.Pixels(ctx, f)
			if err != nil || size.X == f.Width && size.Y == f.Height {
				return data, err
			}
			scaled, err := visual.Fit(ctx, data, inlineEdge, inlinePixels)
			if err != nil {
				return nil, Translate(ctx, err)
			}
			return scaled, nil
		},
	}
	if size.X > 0 && f.Viewport.Width > 0 {
		p.CSSPerPixel = f.Viewport.Width / float64(size.X)
		if f.Viewport.PageScale > 0 {
			p.CSSPerPixel /= f.Viewport.PageScale
		}
		p.Origin = &evidence.Origin{X: f.Viewport.ScrollX, Y: f.Viewport.ScrollY}
	}
	return p
}

// Resources are what an available outcome offers for reading.
func Resources(o evidence.ArtifactOutcome) []evidence.Resource {
	if o.Artifact == nil {
		return nil
	}
	a := *o.Artifact
	return []evidence.Resource{
		{Role: "artifact", URI: o.URI, Name: a.Kind, MediaType: a.MediaType, Bytes: a.Bytes},
		{Role: "manifest", URI: o.ManifestURI, Name: a.Kind + " manifest", MediaType: "application/json", Bytes: o.ManifestBytes},
	}
}

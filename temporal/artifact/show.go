package artifact

import (
	"context"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/record"
)

// Picture shows an artifact; its pixels are read only when it is shown inline. Artifacts are drawn within
// the inline bounds.
func (s *Service) Picture(a record.Artifact) evidence.Picture {
	return evidence.Picture{
		Role: evidence.RoleTemporal, Kind: a.Kind, Width: a.Width, Height: a.Height, ArtifactID: a.ID, MediaType: a.MediaType,
		Load: func(ctx context.Context) ([]byte, error) { return s.store.ReadArtifact(ctx, a.ID) },
	}
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

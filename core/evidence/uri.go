package evidence

import (
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/record"
)

// Resource collections of a page's evidence.
const (
	Artifacts    = "artifacts"
	Manifests    = "manifests"
	FramesPath   = "frames"
	Videos       = "videos"
	Observations = "observations"
)

// EvidenceURI is the one canonical spelling of a page's evidence resource.
func EvidenceURI(s id.Session, t id.Target, collection, name string) string {
	return "krometrail://evidence/" + string(s) + "/" + string(t) + "/" + collection + "/" + name
}

// DownloadURI is the one canonical spelling of a completed download.
func DownloadURI(s id.Session, d id.Download) string {
	return "krometrail://local/" + string(s) + "/downloads/" + string(d)
}

// ArtifactURI is where an artifact's file is read.
func ArtifactURI(a record.Artifact) string {
	collection := Artifacts
	if a.Kind == Video {
		collection = Videos
	}
	return EvidenceURI(a.SessionID, a.TargetID, collection, string(a.ID))
}

// ManifestURI is where an artifact's manifest is read.
func ManifestURI(a record.Artifact) string {
	return EvidenceURI(a.SessionID, a.TargetID, Manifests, string(a.ID))
}

// FrameURI is where a frame's image is read.
func FrameURI(f record.Frame) string {
	return EvidenceURI(f.SessionID, f.TargetID, FramesPath, string(f.ID))
}

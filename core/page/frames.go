package page

import (
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// MaxFrames bounds the frames acquired of one page.
const MaxFrames = 256

// ListFramesRequest asks for a page's document frames.
type ListFramesRequest struct{ Scope }

// ListFramesResult lists frames in preorder, the main frame first.
type ListFramesResult struct {
	Frames []Frame `json:"frames"`
	// Omitted counts frames beyond MaxFrames.
	Omitted  int            `json:"omitted"`
	Warnings []*fault.Error `json:"-"`
}

// Frame is one document frame.
type Frame struct {
	ID     id.DocumentFrame `json:"frame_id"`
	Parent id.DocumentFrame `json:"parent_id,omitempty"`
	Depth  int              `json:"depth"`
	// Access is main, same_origin (same process too), out_of_process, cross_origin or indeterminate.
	Access string `json:"access"`
	// Name is assigned by the author; bounded and free of control characters.
	Name   string `json:"name,omitempty"`
	Origin string `json:"origin"`
	// Path is present for the main document and same-origin frames only, without query or fragment.
	Path string `json:"path,omitempty"`
}

// ListAssetsRequest asks for the resources a page has loaded.
type ListAssetsRequest struct{ Scope }

// ListAssetsResult is complete up to its acquisition bound; presentation takes samples.
type ListAssetsResult struct {
	// Counts by kind, over all observed assets.
	Counts map[string]int `json:"counts"`
	Assets []Asset        `json:"assets"`
	// SourceOmitted counts assets that were observed but not acquired, PresentationOmitted those left out of this answer.
	SourceOmitted       int            `json:"source_omitted"`
	PresentationOmitted int            `json:"presentation_omitted"`
	Warnings            []*fault.Error `json:"-"`
}

// Asset is one loaded resource, without raw path or query.
type Asset struct {
	// Kind is document, script, stylesheet, image, font, media, fetch, xhr, frame or other.
	Kind      string `json:"kind"`
	Origin    string `json:"origin"`
	PathHash  string `json:"path_hash,omitempty"`
	Extension string `json:"extension,omitempty"`
	// TransferBytes and BodyBytes are absent when the page may not know them.
	TransferBytes *int64  `json:"transfer_bytes,omitempty"`
	BodyBytes     *int64  `json:"body_bytes,omitempty"`
	DurationMS    float64 `json:"duration_ms"`
}

package present

import (
	"context"
	"encoding/base64"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/krometrail/krometrail/core/capability"
	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
)

// Bounds of inline pictures.
const (
	// MaxSide bounds the longer side in pixels, MaxPixels the area: more is scaled down by hosts anyway.
	MaxSide   = 1568
	MaxPixels = 1_150_000
	// maxInline bounds how many pictures one answer carries, maxInlineBytes their encoded files together.
	maxInline      = 8
	maxInlineBytes = 4 << 20
)

// wanted is how many pictures an answer carries: by default one, where the tool shows pictures by default or the
// page is mostly pixels; when asked, all that fit.
func wanted(spec capability.Spec, out capability.Outcome, inline *bool) int {
	switch {
	case inline != nil && *inline:
		return maxInline
	case inline != nil:
		return 0
	case spec.PicturesByDefault, pictorial(out.Result):
		return 1
	}
	return 0
}

// pictures loads what is shown inline and describes all pictures. A picture that cannot be had becomes a fault.
func pictures(ctx context.Context, all []evidence.Picture, count int) (content []mcp.Content, shown []Image, failed *fault.Error) {
	left := maxInlineBytes
	for _, p := range all {
		described := Image{Picture: p}
		if len(content) < count && fits(p) && p.Load != nil {
			data, err := p.Load(ctx)
			switch {
			case err != nil:
				failed = fault.From(err)
			case len(data) <= left:
				left -= len(data)
				described.Inline = true
				content = append(content, mcp.NewImageContent(base64.StdEncoding.EncodeToString(data), p.MediaType))
			}
		}
		if described.Inline || readable(p) {
			shown = append(shown, described)
		}
	}
	return content, shown, failed
}

func fits(p evidence.Picture) bool {
	return p.Width > 0 && p.Height > 0 && max(p.Width, p.Height) <= MaxSide && p.Width*p.Height <= MaxPixels
}

// readable pictures can be had later by their identifier.
func readable(p evidence.Picture) bool {
	return p.ArtifactID != "" || p.FrameID != "" || p.ObservationID != ""
}

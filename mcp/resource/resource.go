// Package resource serves evidence and downloads under their canonical URIs.
package resource

import (
	"context"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/krometrail/krometrail/core/evidence"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Downloads is the collection of a session's downloads, beside those of core's evidence.
const Downloads = "downloads"

// Ref is a parsed URI.
type Ref struct {
	Session id.Session
	// Target is empty for downloads.
	Target id.Target
	// Collection is one of core's evidence collections, or Downloads.
	Collection string
	// Name is the identifier in the collection: art_, frm_, obs_ or dl_.
	Name string
}

// Content is what a resource holds.
type Content struct {
	// MediaType is what the client is told.
	MediaType string
	Data      []byte
}

// Reader finds resources. A resource that is not there (never was, was evicted, its session was deleted, a
// download of an ended session) is not_found, evidence_invalidated or session_ended; another fault is one of reading.
type Reader interface {
	Read(ctx context.Context, ref Ref) (Content, error)
}

const (
	evidenceRoot = "krometrail://evidence/"
	localRoot    = "krometrail://local/"
)

// Parse reads a URI. Only the one canonical spelling of a resource is valid.
func Parse(uri string) (Ref, error) {
	if rest, ok := strings.CutPrefix(uri, evidenceRoot); ok {
		return parseEvidence(rest)
	}
	if rest, ok := strings.CutPrefix(uri, localRoot); ok {
		return parseLocal(rest)
	}
	return Ref{}, unknown()
}

func parseEvidence(rest string) (Ref, error) {
	parts := strings.Split(rest, "/")
	if len(parts) != 4 {
		return Ref{}, unknown()
	}
	ref := Ref{Session: id.Session(parts[0]), Target: id.Target(parts[1]), Collection: parts[2], Name: parts[3]}
	if !is[id.Session](parts[0]) || !is[id.Target](parts[1]) || !named(ref.Collection, ref.Name) {
		return Ref{}, unknown()
	}
	return ref, nil
}

func parseLocal(rest string) (Ref, error) {
	parts := strings.Split(rest, "/")
	if len(parts) != 3 || parts[1] != Downloads || !is[id.Session](parts[0]) || !is[id.Download](parts[2]) {
		return Ref{}, unknown()
	}
	return Ref{Session: id.Session(parts[0]), Collection: Downloads, Name: parts[2]}, nil
}

func named(collection, name string) bool {
	switch collection {
	case evidence.Artifacts, evidence.Manifests, evidence.Videos:
		return is[id.Artifact](name)
	case evidence.FramesPath:
		return is[id.Frame](name)
	case evidence.Observations:
		return is[id.Observation](name)
	}
	return false
}

func is[T id.Typed](text string) bool {
	_, err := id.Parse[T](text)
	return err == nil
}

func unknown() error {
	return fault.New(fault.NotFound, "no resource has this URI").
		WithRecovery("use a URI exactly as a tool result gives it")
}

// Register adds the resource templates to a server.
func Register(proto *server.MCPServer, reader Reader) {
	handler := func(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		ref, err := Parse(request.Params.URI)
		if err != nil {
			return nil, err
		}
		content, err := reader.Read(ctx, ref)
		if err != nil {
			return nil, err
		}
		return []mcp.ResourceContents{contents(request.Params.URI, content)}, nil
	}
	for _, t := range templates() {
		proto.AddResourceTemplate(t, handler)
	}
}

func templates() []mcp.ResourceTemplate {
	template := func(collection, name, mediaType, description string) mcp.ResourceTemplate {
		options := []mcp.ResourceTemplateOption{mcp.WithTemplateDescription(description)}
		if mediaType != "" {
			options = append(options, mcp.WithTemplateMIMEType(mediaType))
		}
		return mcp.NewResourceTemplate(evidenceRoot+"{session}/{target}/"+collection+"/{id}", name, options...)
	}
	return []mcp.ResourceTemplate{
		template(evidence.Artifacts, "artifact", "image/png", "a generated picture (art_)"),
		template(evidence.Manifests, "manifest", "application/json", "what an artifact was made from (art_)"),
		template(evidence.FramesPath, "frame", "", "a recorded frame, jpeg or png (frm_)"),
		template(evidence.Videos, "video", "video/mp4", "a generated clip (art_)"),
		template(evidence.Observations, "observation", "image/jpeg", "a recent picture of a page, kept for a while (obs_)"),
		mcp.NewResourceTemplate(localRoot+"{session}/downloads/{id}", "download",
			mcp.WithTemplateDescription("a completed download of the running session (dl_)")),
	}
}

// contents sends text as text and everything else as base64.
func contents(uri string, c Content) mcp.ResourceContents {
	if isText(c) {
		return mcp.TextResourceContents{URI: uri, MIMEType: c.MediaType, Text: string(c.Data)}
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: c.MediaType, Blob: base64.StdEncoding.EncodeToString(c.Data)}
}

func isText(c Content) bool {
	return (strings.HasPrefix(c.MediaType, "text/") || c.MediaType == "application/json") && utf8.Valid(c.Data)
}

package stdio

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// Versions are the protocol versions that are served, newest first, and no other.
func Versions() []string {
	return []string{mcp.ProtocolVersion20260728, mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618}
}

const (
	modernVersion = mcp.ProtocolVersion20260728
	// latestLegacy is offered to a client that asks initialize for a version that is not served.
	latestLegacy = mcp.ProtocolVersion20251125
)

// era is the protocol version of one request.
type era struct {
	version string
	modern  bool
}

// resolveEra finds the version of a request. negotiated is the version that initialize settled, "" before.
func resolveEra(m message, meta object, negotiated string) (era, *rpcError) {
	if meta.has(mcp.MetaKeyProtocolVersion) {
		return modernEra(meta)
	}
	if meta.has(mcp.MetaKeyClientCapabilities) {
		return era{}, missingMeta(mcp.MetaKeyProtocolVersion)
	}
	if m.method == "initialize" {
		return legacyOffer(m.params)
	}
	if negotiated != "" {
		return era{version: negotiated}, nil
	}
	if m.method == "ping" {
		return era{version: latestLegacy}, nil
	}
	return era{}, missingMeta(mcp.MetaKeyProtocolVersion)
}

func modernEra(meta object) (era, *rpcError) {
	version, ok := meta.text(mcp.MetaKeyProtocolVersion)
	if !ok {
		return era{}, newError(codeInvalidParams, "params._meta[%q] must be a string", mcp.MetaKeyProtocolVersion)
	}
	if version != modernVersion {
		return era{}, unsupportedVersion(version)
	}
	capabilities, ok := meta.object(mcp.MetaKeyClientCapabilities)
	if !ok || capabilities == nil {
		return era{}, missingMeta(mcp.MetaKeyClientCapabilities)
	}
	return era{version: version, modern: true}, nil
}

// legacyOffer answers initialize: the version asked for when it is served, else the newest one it can settle.
func legacyOffer(params object) (era, *rpcError) {
	version, ok := params.text("protocolVersion")
	if !ok {
		return era{}, newError(codeInvalidParams, "params.protocolVersion must be a string")
	}
	if version == modernVersion || !slices.Contains(Versions(), version) {
		version = latestLegacy
	}
	return era{version: version}, nil
}

func missingMeta(key string) *rpcError {
	return newError(codeInvalidParams, "params._meta[%q] is missing or invalid; a %s request carries it, an older client sends initialize first", key, modernVersion)
}

// maxEcho bounds what an error repeats of the request.
const maxEcho = 2048

func unsupportedVersion(requested string) *rpcError {
	return newError(codeUnsupportedVersion, "unsupported protocol version").with(mcp.UnsupportedProtocolVersionData{
		Supported: Versions(), Requested: clip(requested),
	})
}

func clip(text string) string {
	if len(text) <= maxEcho {
		return text
	}
	cut := maxEcho
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut]
}

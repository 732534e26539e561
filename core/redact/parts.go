package redact

import "strings"

// parts is a URL taken apart by position, without decoding. Every text has parts: this never fails.
type parts struct {
	scheme    string // lower case, "" when there is none
	host      string // lower case with port, without credentials and without the scheme's default port
	path      string
	query     string
	authority bool // "//" was there
	user      bool
	hasQuery  bool
	hasHash   bool
}

// split takes a URL apart as a browser prints it.
func split(raw string) parts {
	raw = strings.TrimSpace(raw)
	var p parts
	if n := schemeLen(raw); n > 0 {
		p.scheme, raw = strings.ToLower(raw[:n]), raw[n+1:]
	}
	if i := strings.IndexByte(raw, '#'); i >= 0 {
		p.hasHash, raw = true, raw[:i]
	}
	if i := strings.IndexByte(raw, '?'); i >= 0 {
		p.hasQuery, p.query, raw = true, raw[i+1:], raw[:i]
	}
	if strings.HasPrefix(raw, "//") {
		p.authority = true
		raw = raw[2:]
		end := strings.IndexAny(raw, `/\`)
		if end < 0 {
			end = len(raw)
		}
		p.host, p.user = hostOf(p.scheme, raw[:end])
		raw = raw[end:]
	}
	p.path = raw
	return p
}

// schemeLen is the length of the scheme before its colon, or 0.
func schemeLen(raw string) int {
	for i := range len(raw) {
		c := raw[i]
		switch {
		case isLetter(c), i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case c == ':' && i > 0:
			return i
		default:
			return 0
		}
	}
	return 0
}

func hostOf(scheme, authority string) (host string, user bool) {
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, authority = true, authority[i+1:]
	}
	host = Name(strings.ToLower(authority), maxHost)
	if port := defaultPort(scheme); port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return host, user
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return ":80"
	case "https", "wss":
		return ":443"
	case "ftp":
		return ":21"
	}
	return ""
}

// maxHost bounds a host name with its port, in bytes.
const maxHost = 264

// origin is scheme://host for schemes with an authority, the inner origin for blob: URLs and "" for every
// other scheme, whose documents have an opaque origin.
func (p parts) origin() string {
	if p.scheme == "blob" || p.scheme == "filesystem" {
		inner := split(p.path)
		if inner.scheme == "blob" || inner.scheme == "filesystem" {
			return ""
		}
		return inner.origin()
	}
	if p.scheme == "" || p.scheme == "file" || !p.authority || p.host == "" {
		return ""
	}
	return p.scheme + "://" + p.host
}

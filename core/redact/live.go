package redact

import "strings"

// Bounds of what is shown of a URL, in bytes.
const (
	MaxLiveURL = 4096
	MaxPath    = 1024
)

// LiveURL is the URL of one of the agent's own pages as it may be shown in a live result: whole, at most
// MaxLiveURL bytes, without credentials and control characters. It is never stored.
func LiveURL(raw string) string {
	// Credentials can stand behind a nested scheme as well (blob:https://user@host/…).
	head, rest := "", strings.TrimSpace(raw)
	for range 3 {
		i := strings.Index(rest, "//")
		n := schemeLen(rest)
		if n > 0 && i != n+1 {
			head, rest = head+rest[:n+1], rest[n+1:]
			continue
		}
		if i == 0 || n > 0 && i == n+1 {
			head, rest = head+rest[:i+2], withoutUser(rest[i+2:])
		}
		break
	}
	return Name(head+rest, MaxLiveURL)
}

func withoutUser(rest string) string {
	end := strings.IndexAny(rest, `/\?#`)
	if end < 0 {
		end = len(rest)
	}
	if i := strings.LastIndexByte(rest[:end], '@'); i >= 0 {
		return rest[i+1:]
	}
	return rest
}

// Origin returns scheme://host[:port] of a URL, or "" when its document has an opaque origin.
func Origin(raw string) string { return split(raw).origin() }

// SameOrigin reports whether both URLs have one and the same origin that is not opaque.
func SameOrigin(a, b string) bool {
	origin := Origin(a)
	return origin != "" && origin == Origin(b)
}

// Path returns the path of a URL without query, fragment and credentials, at most MaxPath bytes and free of
// control characters. It may be shown only for a document that shares the origin and the process of the
// page's main document; whether it does is the caller's to know. Opaque URLs have no path.
func Path(raw string) string {
	p := split(raw)
	if !p.authority {
		return ""
	}
	return Name(p.path, MaxPath)
}

// Method returns an HTTP method of the common set in upper case; every other one is "other".
func Method(method string) string {
	switch upper := strings.ToUpper(method); upper {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE":
		return upper
	}
	return "other"
}

package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key makes path hashes that are equal for equal paths under the same key and that nobody without the key can
// find by trying likely paths. One key serves a process or a session; it is never stored or shown.
type Key struct{ secret [32]byte }

// NewKey returns a key from the system's secure random source.
func NewKey() *Key {
	k := &Key{}
	_, _ = rand.Read(k.secret[:])
	return k
}

// String hides the key from logs.
func (*Key) String() string { return Secret }

// GoString hides the key from logs.
func (*Key) GoString() string { return Secret }

// URLSummary is what is kept of a URL: enough to recognise it and to tell two apart, not its content.
type URLSummary struct {
	Scheme string `json:"scheme,omitzero"`
	// Origin is empty for schemes whose documents have an opaque origin (data, about, file).
	Origin string `json:"origin,omitzero"`
	// PathHash is keyed: it compares within one process only. Empty without a path.
	PathHash string `json:"path_hash,omitzero"`
	Segments int    `json:"segment_count"`
	// Extension is the file extension without its dot, if it is one of a fixed list.
	Extension      string `json:"extension,omitzero"`
	HadCredentials bool   `json:"had_credentials,omitzero"`
	HadQuery       bool   `json:"had_query,omitzero"`
	HadFragment    bool   `json:"had_fragment,omitzero"`
}

// Summarize never fails: text that is no URL becomes a summary with little in it. An empty raw gives the zero value.
func Summarize(raw string, key *Key) URLSummary {
	if raw == "" {
		return URLSummary{}
	}
	p := split(raw)
	u := URLSummary{Scheme: Name(p.scheme, 32), Origin: p.origin(), HadCredentials: p.user, HadQuery: p.hasQuery, HadFragment: p.hasHash}
	if p.scheme == "data" || p.path == "" {
		// The path of a data: URL is its content.
		return u
	}
	if p.scheme == "blob" || p.scheme == "filesystem" {
		inner := split(p.path)
		u.HadCredentials = u.HadCredentials || inner.user
		if inner.path != "" {
			p.path = inner.path
		}
	}
	u.PathHash = key.pathHash(p.path)
	if p.authority || u.Origin != "" {
		u.Segments, u.Extension = segments(p.path)
	}
	return u
}

func (k *Key) pathHash(path string) string {
	mac := hmac.New(sha256.New, k.secret[:])
	mac.Write([]byte("krometrail.url.path\x00"))
	mac.Write([]byte(path))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

func segments(path string) (count int, extension string) {
	last := ""
	for segment := range strings.SplitSeq(path, "/") {
		if segment != "" {
			count++
			last = segment
		}
	}
	if i := strings.LastIndexByte(last, '.'); i > 0 {
		extension = allowedExtension(strings.ToLower(last[i+1:]))
	}
	return count, extension
}

func allowedExtension(ext string) string {
	switch ext {
	case "html", "htm", "xhtml", "php", "asp", "aspx", "jsp",
		"js", "mjs", "cjs", "jsx", "ts", "tsx", "vue", "svelte", "map", "wasm",
		"css", "scss", "json", "xml", "webmanifest", "txt", "csv", "md", "pdf",
		"png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "bmp",
		"woff", "woff2", "ttf", "otf", "eot",
		"mp4", "webm", "mp3", "ogg", "wav", "m4a", "m3u8", "mpd", "zip", "gz":
		return ext
	}
	return ""
}

// String is the summary for people: "https://shop.example/… (3 segments, .js, path 9f86d081884c7d65, query)".
func (u URLSummary) String() string {
	if u.Scheme == "" && u.PathHash == "" {
		return "(no url)"
	}
	head := u.Origin
	if head == "" {
		head = u.Scheme + ":"
	}
	var notes []string
	note := func(when bool, text string) {
		if when {
			notes = append(notes, text)
		}
	}
	note(u.Segments == 1, "1 segment")
	note(u.Segments > 1, fmt.Sprintf("%d segments", u.Segments))
	note(u.Extension != "", "."+u.Extension)
	note(u.PathHash != "", "path "+u.PathHash)
	note(u.HadCredentials, "credentials")
	note(u.HadQuery, "query")
	note(u.HadFragment, "fragment")
	if len(notes) == 0 {
		return head
	}
	return head + "/… (" + strings.Join(notes, ", ") + ")"
}

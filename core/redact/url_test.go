package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/core/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSummarize(t *testing.T) {
	key := redact.NewKey()
	for _, c := range []struct {
		raw  string
		want redact.URLSummary
		path bool
	}{
		{"https://Shop.example:443/a/b/app.JS?x=1#y", redact.URLSummary{Scheme: "https", Origin: "https://shop.example", Segments: 3, Extension: "js", HadQuery: true, HadFragment: true}, true},
		{"http://bo:pw@shop.example:8080/", redact.URLSummary{Scheme: "http", Origin: "http://shop.example:8080", HadCredentials: true}, true},
		{"https://shop.example", redact.URLSummary{Scheme: "https", Origin: "https://shop.example"}, false},
		{"wss://[::1]:9/x.unknown", redact.URLSummary{Scheme: "wss", Origin: "wss://[::1]:9", Segments: 1}, true},
		{"data:text/html,<b>secret</b>?x", redact.URLSummary{Scheme: "data", HadQuery: true}, false},
		{"blob:https://shop.example/0c1e-22", redact.URLSummary{Scheme: "blob", Origin: "https://shop.example", Segments: 1}, true},
		{"about:blank", redact.URLSummary{Scheme: "about"}, true},
		{"file:///home/bo/x.html", redact.URLSummary{Scheme: "file", Segments: 3, Extension: "html"}, true},
		{"", redact.URLSummary{}, false},
		{"not a url", redact.URLSummary{}, true},
	} {
		got := redact.Summarize(c.raw, key)
		assert.Equal(t, c.path, got.PathHash != "", c.raw)
		got.PathHash = ""
		assert.Equal(t, c.want, got, c.raw)
	}
}

func TestPathHashIsKeyed(t *testing.T) {
	key, other := redact.NewKey(), redact.NewKey()
	hash := func(k *redact.Key, raw string) string { return redact.Summarize(raw, k).PathHash }
	assert.Equal(t, hash(key, "https://a.example/x?1"), hash(key, "http://b.example/x#2"), "equal paths, equal hashes")
	assert.NotEqual(t, hash(key, "https://a.example/x"), hash(key, "https://a.example/y"))
	assert.NotEqual(t, hash(key, "https://a.example/x"), hash(other, "https://a.example/x"), "not to be found without the key")
	assert.Equal(t, redact.Secret+redact.Secret, fmt.Sprintf("%v%#v", key, key), "a key does not print")
}

func TestSummaryShowsNoPart(t *testing.T) {
	key := redact.NewKey()
	rapid.Check(t, func(t *rapid.T) {
		secret := letters.Draw(t, "secret")
		shape := rapid.SampledFrom([]string{
			"https://%@h.example/", "https://u:%@h.example/a", "https://h.example/%", "https://h.example/a.%", "https://h.example/?%", "https://h.example/#%",
			"data:text/plain,%", "blob:https://u:%@h.example/x", "javascript:alert('%')", "about:%", "%/x/%", "file:///%/x", "mailto:%",
		}).Draw(t, "shape")
		raw := strings.ReplaceAll(shape, "%", secret)
		u := redact.Summarize(raw, key)
		text, err := json.Marshal(u)
		if err != nil || strings.Contains(string(text)+u.String(), secret) {
			t.Fatalf("summary of %q shows it: %s %s %v", raw, text, u, err)
		}
		if strings.Contains(shape, "@") && strings.Contains(redact.LiveURL(raw), secret) {
			t.Fatalf("LiveURL(%q) = %q", raw, redact.LiveURL(raw))
		}
	})
}

func TestSummaryFieldNamesAndText(t *testing.T) {
	u := redact.URLSummary{Scheme: "https", Origin: "https://a.example", PathHash: "00ff", Segments: 2, Extension: "js", HadCredentials: true, HadQuery: true, HadFragment: true}
	text, err := json.Marshal(u)
	require.NoError(t, err)
	assert.JSONEq(t, `{"scheme":"https","origin":"https://a.example","path_hash":"00ff","segment_count":2,"extension":"js","had_credentials":true,"had_query":true,"had_fragment":true}`, string(text))
	assert.Equal(t, "https://a.example/… (2 segments, .js, path 00ff, credentials, query, fragment)", u.String())
	assert.Equal(t, "(no url)", redact.URLSummary{}.String())
	assert.Equal(t, "data:", redact.URLSummary{Scheme: "data"}.String())
}

func TestLiveURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://bo:pw@a.example/x?y=1#z":  "https://a.example/x?y=1#z",
		"https://a.example/@bo?mail=b@c.d": "https://a.example/@bo?mail=b@c.d",
		"https://bo@a.example?x=@":         "https://a.example?x=@",
		"blob:https://bo:pw@a.example/1":   "blob:https://a.example/1",
		"about:blank":                      "about:blank",
		"data:text/html,x//a@b":            "data:text/html,x//a@b",
		"//bo@a.example/":                  "//a.example/",
		"":                                 "",
	} {
		assert.Equal(t, want, redact.LiveURL(raw), raw)
	}
	assert.Len(t, redact.LiveURL("data:,"+strings.Repeat("x", 1<<20)), redact.MaxLiveURL)
}

func TestPathAndOrigin(t *testing.T) {
	assert.Equal(t, "/a/b", redact.Path("https://bo:pw@a.example/a/b?c#d"))
	assert.Empty(t, redact.Path("data:text/html,secret"))
	assert.Empty(t, redact.Path("about:srcdoc"))
	assert.Len(t, redact.Path("https://a.example/"+strings.Repeat("x", 1<<16)), redact.MaxPath)
	assert.True(t, redact.SameOrigin("https://a.example/x", "https://A.example:443/y"))
	assert.False(t, redact.SameOrigin("https://a.example/", "http://a.example/"))
	assert.False(t, redact.SameOrigin("about:blank", "about:blank"), "opaque origins are never the same")
	assert.False(t, redact.SameOrigin("file:///x", "file:///x"))
	assert.Equal(t, "https://a.example", redact.Origin("blob:https://a.example/1"))
}

func TestMethod(t *testing.T) {
	assert.Equal(t, "POST", redact.Method("post"))
	assert.Equal(t, "other", redact.Method("X-SECRET"))
	assert.Equal(t, "other", redact.Method(""))
}

func FuzzURL(f *testing.F) {
	key := redact.NewKey()
	f.Add("https://u:p@h.example:443/a/b.js?c#d")
	f.Add("blob:blob:blob:https://x/")
	f.Fuzz(func(t *testing.T, raw string) {
		u := redact.Summarize(raw, key)
		if len(u.Origin) > 600 || len(redact.LiveURL(raw)) > redact.MaxLiveURL || len(redact.Path(raw)) > redact.MaxPath {
			t.Fatalf("not bounded: %q", raw)
		}
	})
}

func BenchmarkRedactURL(b *testing.B) {
	key := redact.NewKey()
	b.ReportAllocs()
	for b.Loop() {
		redact.Summarize("https://shop.example/assets/v2/app.3f2a.js?x=1", key)
	}
}

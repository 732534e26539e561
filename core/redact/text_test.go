package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/krometrail/krometrail/core/redact"
)

// pieces makes texts that are full of half and nested shapes.
var pieces = rapid.OneOf(
	rapid.SampledFrom([]string{
		"password", "token", "Cookie", "authorization", "session", "API key", "eyJ", "Bearer ", "Basic ", "-----BEGIN X-----", "-----END X-----",
		":", "=", " ", "  ", "\n", "\"", "'", "\\\"", "\\", "\\\\", "/", "//", "://", "https://", "file:", "data:", "blob:", "C:\\", "%3A%2F%2F", "%3D", "&", ";", ",", "{", "}", "[", "]", "(", ")", "<", ">",
		"[redacted]", "[redacted-url]", "[redac", "é", "世界", "\xff", "\xe4\xb8", "sk-", "ghp_", "a", "B", "1", "x.y", "null", "~/", "\\\\srv\\x", "+", "@", "：", "--password ",
	}),
	rapid.StringN(0, 6, 12),
)

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(pieces, 0, 24).Draw(t, "pieces"), "")
}

func TestTextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t)
		limit := rapid.IntRange(0, 120).Draw(t, "limit")
		checkText(t, s, limit)
	})
}

func checkText(t interface {
	Fatalf(format string, args ...any)
}, s string, limit int,
) {
	got := redact.Text(s, limit)
	switch {
	case len(got) > limit:
		t.Fatalf("Text(%q, %d) has %d bytes: %q", s, limit, len(got), got)
	case !utf8.ValidString(got):
		t.Fatalf("Text(%q, %d) is not UTF-8: %q", s, limit, got)
	}
	if again := redact.Text(got, limit); again != got {
		t.Fatalf("Text(%q, %d) is not stable: %q, then %q", s, limit, got, again)
	}
}

var letters = rapid.StringMatching(`[b-df-hj-np-tv-z0-9]{9,24}`)

// Whatever surrounds a secret of a recognised shape, the secret does not come out.
func TestTextHidesRandomSecrets(t *testing.T) {
	shapes := []string{
		"password=%", "token: %", `{"secret":"%"}`, `{"user":{"credentials":["%"]}}`, "Authorization: Bearer %", "Bearer x%1", "https://h.example/%", "/home/%/x", `C:\%\x`,
		"Cookie: a=%; b=1", "eyJ0eXAiOiJKV1Qi%.%.%", "-----BEGIN KEY-----\n%\n-----END KEY-----", `password="a % b"`, "sk-%0123456789ab", "blob:null/%", "apiKey => '%'", `\\srv\%\x`,
	}
	rapid.Check(t, func(t *rapid.T) {
		secret := letters.Draw(t, "secret")
		shape := rapid.SampledFrom(shapes).Draw(t, "shape")
		before := rapid.SampledFrom([]string{"", "login failed ", "x\n", "(", "é ", "a=1&", "[1] ", "note: "}).Draw(t, "before")
		limit := rapid.IntRange(0, 400).Draw(t, "limit")
		text := before + strings.ReplaceAll(shape, "%", secret) + " after"
		if got := redact.Text(text, limit); strings.Contains(got, secret[:8]) {
			t.Fatalf("Text(%q, %d) = %q shows the secret", text, limit, got)
		}
	})
}

func TestTextBounds(t *testing.T) {
	assert.Empty(t, redact.Text("x", 0))
	assert.Empty(t, redact.Text("x", -1))
	assert.Equal(t, "é", redact.Text("éé", 3), "a rune is never split")
	assert.Equal(t, "a", redact.Text("a\xff", 2), "the replacement of a broken byte counts")
	assert.Equal(t, "password=[redac", redact.Text("password=hunter2", 15))
	long := strings.Repeat("word ", 1<<20)
	assert.Len(t, redact.Text(long, 2048), 2048)
}

// Shapes that begin and never end must not make the scanner go over the rest of the text again and again.
func TestTextIsLinear(t *testing.T) {
	for _, piece := range []string{`"`, "{", "[", `\`, "bearer '", "password={", "basic [", "-----BEGIN ", "/a B", "'/x ", "eyJ", "password: ", "C:\\x ", "data:", ",", "a=", "[[\"token\",", "--x ", "%3a"} {
		s := strings.Repeat(piece, 1<<18/len(piece))
		checkText(t, s, len(s))
	}
}

func TestName(t *testing.T) {
	assert.Equal(t, "ab", redact.Name("a\x00\n\u202e\u200bb\xff", 10))
	assert.Equal(t, "é", redact.Name("ééé", 3))
	assert.Empty(t, redact.Name("x", 0))
}

func FuzzText(f *testing.F) {
	for _, r := range corpus(f) {
		f.Add(r.in, 64)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		checkText(t, s, int(uint16(limit)%4096))
	})
}

func BenchmarkRedactText(b *testing.B) {
	plain := strings.Repeat("Rendered 12 rows of table orders in 3.5 ms; status:ok, ratio 16:9. ", 2)[:120]
	secret := `POST /api/login failed: {"user":"bo","password":"hunter2"} see https://a.example/x?y=1 for more, retrying in 5 s now`
	blob := strings.Repeat("QmFzZTY0+/", 12<<10)
	for _, c := range []struct{ name, text string }{{"plain120", plain}, {"secrets112", secret}, {"blob120k", blob}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(min(len(c.text), 2048)))
			b.ReportAllocs()
			for b.Loop() {
				redact.Text(c.text, 2048)
			}
		})
	}
}

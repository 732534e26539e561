package segment

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func compareDecoders(t require.TestingT, text []byte) {
	want := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	got := make([]byte, len(want))
	n, err := base64.StdEncoding.Decode(want, text)
	m, ours := decodeBase64(got, text)
	require.Equal(t, err == nil, ours == nil, "%q", text)
	if err == nil {
		require.Equal(t, want[:n], got[:m], "%q", text)
	}
}

func TestDecodeLikeTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data")))
		compareDecoders(t, text)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			if len(text) > 0 {
				text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("A=\n\r-_ \x00\xff/")).Draw(t, "as")
			}
		}
		compareDecoders(t, text)
		compareDecoders(t, text[:rapid.IntRange(0, len(text)).Draw(t, "cut")])
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8="))
	f.Add([]byte("aGVsbG8gaGVs\nbG8gaGVsbG8gaGVsbG8"))
	f.Fuzz(func(t *testing.T, text []byte) { compareDecoders(t, text) })
}

func BenchmarkDecode(b *testing.B) {
	text := []byte(base64.StdEncoding.EncodeToString(make([]byte, 100_000)))
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	for name, decode := range map[string]func(dst, src []byte) (int, error){"ours": decodeBase64, "standard": base64.StdEncoding.Decode} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(100_000)
			for b.Loop() {
				_, _ = decode(out, text)
			}
		})
	}
}

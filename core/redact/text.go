package redact

import (
	"strings"
	"unicode/utf8"
)

// The placeholders Text writes.
const (
	Secret      = "[redacted]"
	URLMark     = "[redacted-url]"
	PathMark    = "[redacted-path]"
	maxPasses   = 6
	replacement = "\uFFFD"
)

// Text replaces recognised secrets, URLs and absolute paths of s by placeholders and then cuts the
// result at a UTF-8 boundary so that it has at most maxBytes bytes. The result is valid UTF-8, and
// Text of it is the same again. Text of text without any such shape is s itself, without allocation.
// The work is linear in the part of s that contributes to the result.
func Text(s string, maxBytes int) string {
	if maxBytes <= 0 || s == "" {
		return ""
	}
	// One pass can bring two harmless pieces together, and the cut can turn a longer shape into a shorter
	// one; so it is repeated until nothing changes. Almost every text needs one pass, or two when it had
	// something to hide.
	for range maxPasses {
		next := cut(pass(s, maxBytes), maxBytes)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// Name makes an author-assigned name (of a frame, a profile, a file) fit for one line: without control
// and other invisible format characters, at most maxBytes bytes of valid UTF-8. It hides nothing.
func Name(s string, maxBytes int) string {
	if maxBytes <= 0 {
		return ""
	}
	if len(s) > 8*maxBytes {
		s = s[:8*maxBytes]
	}
	clean := strings.Map(func(r rune) rune {
		if invisible(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	return cut(clean, maxBytes)
}

func invisible(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	}
	return r == 0xfeff || r == 0xad || r >= 0xe0000 && r <= 0xe007f
}

// cut shortens s to at most n bytes at a rune boundary and makes it valid UTF-8.
func cut(s string, n int) string {
	if len(s) > n {
		end := n
		for end > 0 && end > n-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	if utf8.ValidString(s) {
		return s
	}
	// The replacement character is longer than the byte it stands for.
	return cut(strings.ToValidUTF8(s, replacement), n)
}

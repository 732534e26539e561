package page

import (
	"strings"
	"unicode"
)

// Normalize is the form in which names and texts are compared: the supported invisible format characters
// are dropped, private-use icon glyphs count as separator space, and white space is collapsed and trimmed.
// A text of icons only becomes "", which matches nothing.
func Normalize(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		switch {
		case invisible(r):
		case unicode.IsSpace(r) || privateUse(r):
			space = true
		default:
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports printable ASCII without leading, trailing or doubled spaces: the common case.
func plain(text string) bool {
	previous := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || (c == ' ' && previous == ' ') {
			return false
		}
		previous = c
	}
	return text == "" || previous != ' '
}

// invisible are format characters that authors put into texts and nobody types.
func invisible(r rune) bool {
	switch r {
	case 0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF:
		return true
	}
	return (r >= 0x200B && r <= 0x200F) || (r >= 0x202A && r <= 0x202E) || (r >= 0x2060 && r <= 0x2064) || (r >= 0x2066 && r <= 0x206F) ||
		(r >= 0xFE00 && r <= 0xFE0F)
}

func privateUse(r rune) bool {
	return (r >= 0xE000 && r <= 0xF8FF) || (r >= 0xF0000 && r <= 0xFFFFD) || (r >= 0x100000 && r <= 0x10FFFD)
}

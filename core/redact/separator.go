package redact

import "strings"

// separated is the place of a value behind its key.
type separated struct {
	value   int
	colon   bool
	encoded bool // the text is percent-encoded
}

// separator finds what joins the key s[start:end] to a value: "=", ":", "=>", ":=", their full-width and
// percent-encoded forms, with or without blanks around it and behind a quote or bracket that closes the key.
func separator(s string, start, end int) (separated, bool) {
	p, quoted := closeKey(s, end)
	p = skip(s, p, quoted)
	c := at(s, p)
	switch {
	case c == ':' || c == '=':
		return sign(s, p, quoted)
	case c == '%' && p == end && p+3 <= len(s) && (equalFold(s[p:p+3], "%3d") || equalFold(s[p:p+3], "%3a")):
		return separated{value: p + 3, encoded: true}, true
	case c == 0xef && (strings.HasPrefix(s[p:], "：") || strings.HasPrefix(s[p:], "＝")):
		return separated{value: skip(s, p+3, quoted), colon: true}, true
	case c == ',' && quoted && at(s, openingQuote(s, start)-1) == '[':
		return separated{value: skip(s, p+1, true)}, true
	}
	return separated{}, false
}

func sign(s string, p int, quoted bool) (separated, bool) {
	colon := s[p] == ':'
	run := p
	for run < len(s) && run < p+3 && (s[run] == ':' || s[run] == '=' || s[run] == '>') {
		run++
	}
	if strings.HasPrefix(s[p:run], "::") {
		return separated{}, false
	}
	return separated{value: skip(s, run, quoted), colon: colon}, true
}

// closeKey steps over the quote or bracket that closes a key: "key", \"key\", form[key].
func closeKey(s string, p int) (next int, quoted bool) {
	q := p
	for q < len(s) && q < p+8 && s[q] == '\\' {
		q++
	}
	if q < len(s) && isQuote(s[q]) {
		p, quoted = q+1, true
	}
	if at(s, p) == ']' {
		p++
	}
	return p, quoted
}

// openingQuote is the position of the quote, with its backslashes, that stands before start.
func openingQuote(s string, start int) int {
	p := start - 1
	for p > 0 && p > start-8 && s[p-1] == '\\' {
		p--
	}
	return p
}

// skip steps over blanks, and over line ends too where JSON allows them.
func skip(s string, p int, lines bool) int {
	for p < len(s) && (s[p] == ' ' || s[p] == '\t' || lines && isSpace(s[p])) {
		p++
	}
	return p
}

func skipBlank(s string, p int) int { return skip(s, p, false) }

func indexFrom(s string, from int, sub string) int {
	if from >= len(s) {
		return len(s)
	}
	if i := strings.Index(s[from:], sub); i >= 0 {
		return from + i
	}
	return len(s)
}

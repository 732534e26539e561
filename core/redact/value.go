package redact

import "strings"

// value finds the secret that begins at p: s[from:to] is what a placeholder replaces, nothing when from is to.
// Quotes around it stay, brackets go with it. toLineEnd takes the rest of the line of an unquoted value.
func value(s string, p int, toLineEnd bool) (from, to int) {
	if p >= len(s) || s[p] == '\n' || s[p] == '\r' {
		return p, p
	}
	if open := quoteAt(s, p); open > p {
		return open, quotedEnd(s, open, s[p:open])
	}
	switch {
	case toLineEnd:
		to = lineEnd(s, p)
	case s[p] == '{' || s[p] == '[':
		to = bareEnd(s, balancedEnd(s, p))
	default:
		to = bareEnd(s, p)
		to = behindScheme(s, p, to)
	}
	if word := s[p:to]; word == "null" || word == "undefined" {
		return p, p
	}
	return p, to
}

// quoteAt returns the position behind the quote at p and its backslashes, or p when there is none.
func quoteAt(s string, p int) int {
	q := p
	for q < len(s) && q < p+8 && s[q] == '\\' {
		q++
	}
	if q < len(s) && isQuote(s[q]) {
		return q + 1
	}
	return p
}

// quotedEnd finds the quote that closes what open began: a quote behind as many backslashes, where every
// further pair at that depth of escaping stands for itself. Without one the value reaches to the end of the text.
func quotedEnd(s string, p int, open string) int {
	quote, depth := open[len(open)-1], len(open)-1
	for begin := p; ; {
		i := strings.IndexByte(s[min(p, len(s)):], quote)
		if i < 0 {
			return len(s)
		}
		end := p + i
		slashes := 0
		for end-slashes > begin && s[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes < depth || slashes%(2*depth+2) == depth {
			return end - min(slashes, depth)
		}
		p = end + 1
	}
}

func lineEnd(s string, p int) int {
	from := p
	for p < len(s) && s[p] != '\n' && s[p] != '\r' {
		p++
	}
	for p > from && isSpace(s[p-1]) {
		p--
	}
	return p
}

// balancedEnd returns the position behind the object or array that begins at p, or the end of the text.
func balancedEnd(s string, p int) int {
	depth := 0
	for p < len(s) {
		switch c := s[p]; {
		case isQuote(c):
			p = quotedEnd(s, p+1, s[p:p+1])
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return p + 1
			}
		}
		p++
	}
	return len(s)
}

// bareEnd returns the end of an unquoted value. Punctuation belongs to it unless what follows shows that
// the value is over: passwords contain commas and brackets.
func bareEnd(s string, p int) int {
	for ; p < len(s); p++ {
		switch c := s[p]; {
		case isSpace(c):
			return p
		case c == ',' || c == ';' || c == '&' || isQuote(c) || isCloser(c):
			if over(s, p+1) {
				return p
			}
		case c == '\\' && quoteAt(s, p) > p, c == '<' && (at(s, p+1) == '/' || isLetter(at(s, p+1))):
			return p
		}
	}
	return p
}

// over reports whether what begins at p cannot belong to an unquoted value that stands before it.
func over(s string, p int) bool {
	if p >= len(s) {
		return true
	}
	c := s[p]
	if isSpace(c) || isQuote(c) || isCloser(c) || strings.IndexByte(",;&:={[\\", c) >= 0 {
		return true
	}
	end := p
	for end < len(s) && end < p+64 && classes[s[end]] == wordByte {
		end++
	}
	next := at(s, end)
	return end > p && (next == '=' || next == ':' || next == '[')
}

// encodedEnd returns the end of a percent-encoded value.
func encodedEnd(s string, p int) int {
	for p < len(s) && !isSpace(s[p]) && s[p] != '&' && !isQuote(s[p]) && !strings.HasPrefix(s[p:], "%26") {
		p++
	}
	return p
}

// behindScheme extends a value that is only the name of an authentication scheme by its credentials.
func behindScheme(s string, from, to int) int {
	if !authScheme(s[from:to]) {
		return to
	}
	next := skipBlank(s, to)
	if next == to || next >= len(s) {
		return to
	}
	if open := quoteAt(s, next); open > next {
		return quotedEnd(s, open, s[next:open])
	}
	return bareEnd(s, next)
}

func authScheme(word string) bool {
	if len(word) < 3 || len(word) > 16 {
		return false
	}
	for _, scheme := range [...]string{"bearer", "basic", "digest", "negotiate", "ntlm", "token", "apikey", "oauth", "hawk", "bot", "aws4-hmac-sha256"} {
		if equalFold(word, scheme) {
			return true
		}
	}
	return false
}

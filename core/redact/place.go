package redact

import "strings"

// authorityFollows reports "://" at p, also with JSON-escaped slashes or percent-encoded.
func authorityFollows(s string, p int) bool {
	rest := s[p:]
	switch rest[0] {
	case ':':
		return strings.HasPrefix(rest, "://") || strings.HasPrefix(rest, `:\/\/`)
	case '%':
		return len(rest) >= 9 && equalFold(rest[:9], "%3a%2f%2f")
	case '+':
		// git+ssh:// and the like: the scheme goes on behind the plus sign.
		end := wordEnd(s, p+1)
		return end > p+1 && end-p <= 16 && end < len(s) && s[end] == ':' && authorityFollows(s, end)
	}
	return false
}

// schemeStart leaves out what the word has before the scheme's first letter ("--https", ".http").
func schemeStart(s string, start, end, floor int) int {
	for start < end && !isLetter(s[start]) {
		start++
	}
	return max(start, floor)
}

// opaqueURL reports data:, blob: and file: URLs, which have no authority. "data: 5" and "data:[1]" are none.
func opaqueURL(s string, start, end int) bool {
	if end-start != 4 {
		return false
	}
	word := s[start:end]
	if !equalFold(word, "data") && !equalFold(word, "blob") && !equalFold(word, "file") {
		return false
	}
	next := at(s, end+1)
	return next != 0 && !isSpace(next) && !isQuote(next) && !isCloser(next) && strings.IndexByte(`{[\:=;`, next) < 0
}

// drive reports a drive letter with a colon and a slash of either kind; text in code doubles backslashes.
func drive(s string, start, end int) bool {
	next := at(s, end+1)
	if end-start != 1 || !isLetter(s[start]) {
		return false
	}
	return next == '\\' || next == '/' && at(s, end+2) != '/'
}

// urlEnd returns the end of a URL or path of which s[from:p] is known. Brackets that open inside it close
// inside it; punctuation at its end belongs to the sentence.
func urlEnd(s string, from, p int) int {
	depth := 0
	quote := at(s, from-1)
scan:
	for ; p < len(s); p++ {
		switch c := s[p]; {
		case isSpace(c) || c < 0x20, c == '"' || c == '`' || c == '<' || c == '>' || c == '|':
			break scan
		case c == '\'' && (quote == '\'' || over(s, p+1)), c == '\\' && quoteAt(s, p) > p:
			break scan
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth < 0 {
				break scan
			}
		}
	}
	for p > from+1 && strings.IndexByte(".,;:!?", s[p-1]) >= 0 {
		p--
	}
	return p
}

// slash redacts an absolute POSIX path, or a URL that leaves out its scheme.
func (sc *scanner) slash(i int) int {
	s := sc.in
	switch {
	case !pathMayBegin(s, i):
		return i + 1
	case at(s, i+1) == '/':
		if end := wordEnd(s, i+2); end > i+2 && isAlnum(s[i+2]) && (strings.IndexByte(s[i+2:end], '.') > 0 || at(s, end) == '/') {
			return sc.replace(i, urlEnd(s, i, end), URLMark)
		}
		return i + 2
	case !pathByte(at(s, i+1)):
		return i + 1
	}
	return sc.replace(i, posixEnd(s, i), PathMark)
}

// tilde redacts a path below a home directory.
func (sc *scanner) tilde(i int) int {
	s := sc.in
	end := wordEnd(s, i+1)
	if !pathMayBegin(s, i) || at(s, end) != '/' || !pathByte(at(s, end+1)) {
		return i + 1
	}
	return sc.replace(i, posixEnd(s, i), PathMark)
}

// backslash redacts a UNC path: two or more backslashes, a server and a share.
func (sc *scanner) backslash(i int) int {
	s := sc.in
	p := i
	for at(s, p) == '\\' {
		p++
	}
	if p-i < 2 || !pathMayBegin(s, i) {
		return p
	}
	end := wordEnd(s, p)
	for end > p && (at(s, end) == '?' || at(s, end) == '@') {
		end = wordEnd(s, end+1)
	}
	if at(s, p) == '?' {
		end = p + 1
	}
	if end == p || at(s, end) != '\\' {
		return p
	}
	return sc.replace(i, windowsEnd(s, i), PathMark)
}

func pathByte(c byte) bool {
	return isAlnum(c) || c >= 0x80 || c != 0 && strings.IndexByte("._-@$%~", c) >= 0
}

// pathMayBegin looks at what stands before: in "and/or", "16/9" and "</b>" a slash begins nothing.
func pathMayBegin(s string, i int) bool {
	if i == 0 {
		return true
	}
	c := s[i-1]
	if c >= 0x80 {
		end := wordEnd(s, i+1)
		return end > i+1 && at(s, end) == '/'
	}
	return isSpace(c) || isQuote(c) || strings.IndexByte("([{=:,;|>&", c) >= 0
}

// posixEnd returns the end of a path. Blanks belong to it between quotes, behind a backslash, and where the
// next word is capitalised and goes on with a slash ("/Users/Ada Lovelace/notes").
func posixEnd(s string, i int) int {
	if end := quotedPathEnd(s, i, '/'); end > 0 {
		return end
	}
	end := urlEnd(s, i, i+1)
	for at(s, end) == ' ' {
		next := at(s, end+1)
		goesOn := s[end-1] == '\\' || next >= 'A' && next <= 'Z' && slashInWord(s, end+1, '/')
		if !goesOn {
			break
		}
		end = urlEnd(s, i, end+1)
	}
	return end
}

func windowsEnd(s string, i int) int {
	if end := quotedPathEnd(s, i, '\\'); end > 0 {
		return end
	}
	end := urlEnd(s, i, i+2)
	for at(s, end) == ' ' && slashInWord(s, end+1, '\\') {
		end = urlEnd(s, i, end+1)
	}
	return end
}

// quotedPathEnd returns the closing quote of a quoted path with at least two separators, or 0.
func quotedPathEnd(s string, i int, separator byte) int {
	quote := at(s, i-1)
	if !isQuote(quote) {
		return 0
	}
	seen := 0
	for p := i; p < len(s) && p < i+512 && s[p] != '\n'; p++ {
		switch s[p] {
		case quote:
			if seen >= 2 {
				return p
			}
			return 0
		case separator:
			seen++
		}
	}
	return 0
}

func slashInWord(s string, p int, separator byte) bool {
	for ; p < len(s) && !isSpace(s[p]) && !isQuote(s[p]); p++ {
		if s[p] == separator {
			return true
		}
	}
	return false
}

package redact

// class says what a byte can begin.
type class uint8

const (
	plain class = iota
	wordByte
	slash
	backslash
	tilde
)

var classes = [256]class{
	'/': slash, '\\': backslash, '~': tilde, '_': wordByte, '-': wordByte, '.': wordByte, '$': wordByte,
	'0': wordByte, '1': wordByte, '2': wordByte, '3': wordByte, '4': wordByte, '5': wordByte, '6': wordByte, '7': wordByte, '8': wordByte, '9': wordByte,
	'a': wordByte, 'b': wordByte, 'c': wordByte, 'd': wordByte, 'e': wordByte, 'f': wordByte, 'g': wordByte, 'h': wordByte, 'i': wordByte, 'j': wordByte,
	'k': wordByte, 'l': wordByte, 'm': wordByte, 'n': wordByte, 'o': wordByte, 'p': wordByte, 'q': wordByte, 'r': wordByte, 's': wordByte, 't': wordByte,
	'u': wordByte, 'v': wordByte, 'w': wordByte, 'x': wordByte, 'y': wordByte, 'z': wordByte,
	'A': wordByte, 'B': wordByte, 'C': wordByte, 'D': wordByte, 'E': wordByte, 'F': wordByte, 'G': wordByte, 'H': wordByte, 'I': wordByte, 'J': wordByte,
	'K': wordByte, 'L': wordByte, 'M': wordByte, 'N': wordByte, 'O': wordByte, 'P': wordByte, 'Q': wordByte, 'R': wordByte, 'S': wordByte, 'T': wordByte,
	'U': wordByte, 'V': wordByte, 'W': wordByte, 'X': wordByte, 'Y': wordByte, 'Z': wordByte,
}

// scanner walks the words of a text once, from left to right, and copies what stays.
type scanner struct {
	in     string
	out    []byte
	copied int // in[:copied] is dealt with
}

// pass redacts s once; it stops as soon as the first limit bytes of the result are known.
func pass(s string, limit int) string {
	sc := scanner{in: s}
	for i := 0; i < len(s) && len(sc.out)+i-sc.copied <= limit; {
		switch classes[s[i]] {
		case wordByte:
			end := wordEnd(s, i)
			i = sc.word(i, end)
		case slash:
			i = sc.slash(i)
		case backslash:
			i = sc.backslash(i)
		case tilde:
			i = sc.tilde(i)
		default:
			i++
		}
	}
	return sc.finish(limit)
}

// finish returns the result; what was never looked at lies behind limit and is left out.
func (sc *scanner) finish(limit int) string {
	if sc.out == nil {
		return sc.in
	}
	rest := sc.in[sc.copied:]
	if room := limit + 1 - len(sc.out); len(rest) > room {
		rest = rest[:max(room, 0)]
	}
	return string(append(sc.out, rest...))
}

// replace puts mark in the place of in[from:to] and returns to, the position to go on from.
func (sc *scanner) replace(from, to int, mark string) int {
	if sc.out == nil {
		sc.out = make([]byte, 0, min(len(sc.in)+len(mark), 4096))
	}
	sc.out = append(sc.out, sc.in[sc.copied:from]...)
	sc.out = append(sc.out, mark...)
	sc.copied = to
	return to
}

// word decides about the word in[start:end] and returns where to go on.
func (sc *scanner) word(start, end int) int {
	s := sc.in
	if end < len(s) && !proseFollows(s, start, end) {
		if authorityFollows(s, end) {
			from := schemeStart(s, start, end, sc.copied)
			return sc.replace(from, urlEnd(s, from, end), URLMark)
		}
		if from, to, ok := keyed(s, start, end); ok {
			return sc.replace(from, to, Secret)
		}
		if s[end] == ':' {
			if next, ok := sc.colon(start, end); ok {
				return next
			}
		}
	}
	if from, to, ok := token(s, start, end); ok {
		return sc.replace(from, to, Secret)
	}
	return end
}

// proseFollows is the common case: another word after one blank, and no option like --password.
func proseFollows(s string, start, end int) bool {
	return s[end] == ' ' && classes[at(s, end+1)] == wordByte && s[start] != '-'
}

// colon handles words whose colon begins something other than a keyed value.
func (sc *scanner) colon(start, end int) (int, bool) {
	s := sc.in
	switch {
	case opaqueURL(s, start, end):
		return sc.replace(start, urlEnd(s, start, end+1), URLMark), true
	case drive(s, start, end):
		return sc.replace(end-1, windowsEnd(s, end-1), PathMark), true
	}
	return 0, false
}

func wordEnd(s string, i int) int {
	for i < len(s) && classes[s[i]] == wordByte {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func isCloser(c byte) bool { return c == ')' || c == ']' || c == '}' || c == '>' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }

// at returns the byte at i, or 0 outside of s.
func at(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i]
}

// equalFold compares with an ASCII lower-case word.
func equalFold(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

package redact

import "strings"

// token recognises secrets by their own look: the credentials behind Bearer and Basic, JSON Web Tokens, PEM
// blocks and the prefixes with which providers mark their keys.
func token(s string, start, end int) (from, to int, ok bool) {
	word := s[start:end]
	switch word[0] {
	case '-':
		return pem(s, start)
	case 'b', 'B':
		if equalFold(word, "bearer") || equalFold(word, "basic") {
			return credentials(s, end, word[1]|0x20 == 'e')
		}
	case 'e':
		if len(word) >= 20 && strings.HasPrefix(word, "eyJ") {
			return start, padding(s, end), true
		}
	}
	if providerKey(word) {
		return start, padding(s, end), true
	}
	return 0, 0, false
}

func padding(s string, end int) int {
	for at(s, end) == '=' {
		end++
	}
	return end
}

// pem takes everything from a BEGIN line to its END line, or to the end of the text.
func pem(s string, start int) (from, to int, ok bool) {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	if !strings.HasPrefix(s[start:], begin) {
		return 0, 0, false
	}
	to = indexFrom(s, start+len(begin), end)
	if to < len(s) {
		to = indexFrom(s, to+len(end), dashes)
		to = min(to+len(dashes), len(s))
	}
	return start, to, true
}

// credentials finds what follows Bearer or Basic. Both are ordinary words as well ("basic settings"), so what
// follows has to look like credentials.
func credentials(s string, end int, bearer bool) (from, to int, ok bool) {
	p := end
	for p < len(s) && (s[p] == ' ' || s[p] == '\t' || s[p] == ':' || s[p] == '=') {
		p++
	}
	if p == end || p >= len(s) || s[p] == '[' || s[p] == '{' {
		return 0, 0, false
	}
	from, to = p, bareEnd(s, p)
	if open := quoteAt(s, p); open > p {
		from, to = open, quotedEnd(s, open, s[p:open])
	}
	if from == to {
		return 0, 0, false
	}
	word := strings.TrimRight(s[from:to], ".:!?)")
	if bearer {
		return from, to, !proseAfterBearer(word)
	}
	return from, to, opaque(word)
}

func proseAfterBearer(word string) bool {
	for _, prose := range [...]string{
		"token", "tokens", "auth", "authentication", "authorization", "scheme", "header", "of", "is", "was", "not",
		"and", "or", "in", "for", "required", "missing", "invalid", "expired", "realm",
	} {
		if equalFold(word, prose) {
			return true
		}
	}
	return false
}

// opaque reports whether a word looks like encoded data rather than like a word of a sentence.
func opaque(word string) bool {
	if strings.ContainsAny(word, " \t\n") {
		return false
	}
	if len(word) >= 20 {
		return true
	}
	for i := range len(word) {
		c := word[i]
		if isDigit(c) || c == '=' || c == '+' || c == '/' || i > 0 && c >= 'A' && c <= 'Z' && word[i-1] >= 'a' {
			return len(word) >= 4
		}
	}
	return false
}

// providerKey recognises the key formats of common providers by prefix and length.
func providerKey(word string) bool {
	if len(word) < 16 {
		return false
	}
	for _, known := range prefixes(word[0]) {
		if strings.HasPrefix(word, known) && len(word) >= len(known)+12 {
			return true
		}
	}
	return false
}

// prefixes lists the known ones that begin with c.
func prefixes(c byte) []string {
	if c < 'A' || c > 'z' {
		return nil
	}
	return providerPrefixes[c-'A']
}

var providerPrefixes = [...][]string{
	0:         {"AKIA", "ASIA", "AIza", "ATATT", "AGE-SECRET-KEY-"},
	'E' - 'A': {"EAACEdEose0cBA"},
	'G' - 'A': {"GOCSPX-"},
	'S' - 'A': {"SG."},
	'd' - 'A': {"dop_v1_", "doo_v1_", "dckr_pat_", "dapi"},
	'f' - 'A': {"figd_"},
	'g' - 'A': {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gsk_"},
	'h' - 'A': {"hf_", "hvs."},
	'l' - 'A': {"lin_api_"},
	'n' - 'A': {"npm_"},
	'p' - 'A': {"pk_live_", "pk_test_", "pypi-", "phx_"},
	'r' - 'A': {"rk_live_", "rk_test_"},
	's' - 'A': {"sk-", "sk_live_", "sk_test_", "shpat_", "shpss_", "shpca_", "sq0atp-", "sq0csp-", "sntrys_"},
	'w' - 'A': {"whsec_"},
	'x' - 'A': {"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-"},
	'y' - 'A': {"ya29."},
	'z' - 'A': nil,
}

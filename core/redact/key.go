package redact

import "strings"

// longestKey bounds what a key can be, in letters and digits.
const longestKey = 16

// secretKey reports whether a name in lower case and without punctuation holds a secret.
func secretKey(name string) bool {
	switch name {
	case "password", "passwd", "pwd", "token", "secret", "authorization", "apikey", "session", "cookie", "setcookie",
		"accesstoken", "refreshtoken", "idtoken", "authtoken", "bearertoken", "clientsecret", "apisecret",
		"privatekey", "secretkey", "sessionid", "sessiontoken", "credentials", "passphrase":
		return true
	case "passwords", "secrets", "cookies", "apikeys", "credential", "passcode", "jwt", "otp", "cvv", "cvc",
		"accesskey", "csrftoken", "xsrftoken", "sessionkey":
		return true
	}
	return false
}

// wholeSuffixes are keys so unlike other words that they count at the end of any name ("dbpassword").
var wholeSuffixes = [...]string{
	"password", "passwd", "passphrase", "apikey", "accesstoken", "refreshtoken", "authtoken",
	"clientsecret", "apisecret", "privatekey", "secretkey", "sessionid", "sessiontoken",
}

// SensitiveKey reports whether the value that belongs to name is a secret. Names compare in lower case and
// without punctuation, and the last parts of a longer name decide: "X-Api-Key", "user.password", "csrfToken".
func SensitiveKey(name string) bool {
	if len(name) > 4*longestKey {
		name = name[len(name)-4*longestKey:]
	}
	var letters [4 * longestKey]byte
	var begins [4 * longestKey]bool // begins[i]: a part of the name begins at letters[i]
	n := 0
	for i := range len(name) {
		c := name[i]
		if !isAlnum(c) {
			continue
		}
		begins[n] = partBegins(name, i)
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		letters[n] = c
		n++
	}
	for n > 0 && isDigit(letters[n-1]) { //nolint:gosec // n <= len(name), which was checked against the array
		n--
	}
	return suffixIsKey(letters[:n], begins[:n])
}

// partBegins tells words apart by punctuation and by capitals ("APIKey": API, Key).
func partBegins(name string, i int) bool {
	if i == 0 || !isAlnum(name[i-1]) {
		return true
	}
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	if !upper(name[i]) {
		return false
	}
	return !upper(name[i-1]) || isLetter(at(name, i+1)) && !upper(at(name, i+1))
}

func suffixIsKey(letters []byte, begins []bool) bool {
	for i := max(0, len(letters)-longestKey); i <= len(letters)-3; i++ {
		if begins[i] && secretKey(string(letters[i:])) {
			return true
		}
	}
	for _, suffix := range wholeSuffixes {
		if len(letters) > len(suffix) && string(letters[len(letters)-len(suffix):]) == suffix {
			return true
		}
	}
	return false
}

// keyed reports the value that belongs to the key in[start:end], if that is one and has one.
func keyed(s string, start, end int) (from, to int, ok bool) {
	sep, found := separator(s, start, end)
	switch {
	case found:
	case at(s, start-1) == '<' && s[end] == '>' && SensitiveKey(s[start:end]):
		to = indexFrom(s, end+1, "</")
		return end + 1, to, to > end+1
	case strings.HasPrefix(s[start:end], "--") && isSpace(s[end]) && at(s, end+1) != '-':
		sep = separated{value: skipBlank(s, end)}
	default:
		return 0, 0, false
	}
	name := keyName(s, start, end)
	if !SensitiveKey(name) {
		return 0, 0, false
	}
	if sep.encoded {
		from, to = sep.value, encodedEnd(s, sep.value)
	} else {
		from, to = value(s, sep.value, sep.colon && wholeLine(name))
	}
	return from, to, from < to
}

// keyName is the word, or that and the word before it where only both together make a key ("API key").
func keyName(s string, start, end int) string {
	word := s[start:end]
	if !equalFold(word, "key") && !equalFold(word, "id") && !equalFold(word, "phrase") && !equalFold(word, "code") {
		return word
	}
	if at(s, start-1) != ' ' {
		return word
	}
	first := start - 1
	for first > 0 && start-first < longestKey && classes[s[first-1]] == wordByte {
		first--
	}
	return s[first:end]
}

// wholeLine names the headers whose value has blanks and separators in it.
func wholeLine(name string) bool {
	n := len(name)
	return n >= 6 && equalFold(name[n-6:], "cookie") || n >= 13 && equalFold(name[n-13:], "authorization")
}

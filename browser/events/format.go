package events

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/redact"
)

// maxArgument bounds one argument before redaction; the text of all keeps far less.
const maxArgument = 64 << 10

// remote is a value of the page as the protocol describes it.
type remote struct {
	Type           string         `json:"type"`
	Subtype        string         `json:"subtype"`
	ClassName      string         `json:"className"`
	Value          jsontext.Value `json:"value"`
	Unserializable string         `json:"unserializableValue"`
	Description    string         `json:"description"`
	Preview        *preview       `json:"preview"`
}

type preview struct {
	Subtype     string         `json:"subtype"`
	Description string         `json:"description"`
	Overflow    bool           `json:"overflow"`
	Properties  []property     `json:"properties"`
	Entries     []previewEntry `json:"entries"`
}

type property struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

type previewEntry struct {
	Key   *preview `json:"key"`
	Value preview  `json:"value"`
}

// String prints the value roughly as a console shows it.
func (r remote) String() string {
	switch {
	case r.Type == "string":
		var s string
		if cdp.Unmarshal(r.Value, &s) == nil {
			return bounded(s)
		}
	case r.Type == "undefined":
		return "undefined"
	case r.Type == "function":
		return "[function]" // its description is source code
	case r.Unserializable != "":
		return r.Unserializable
	case r.Subtype == "null":
		return "null"
	case r.Subtype == "error":
		return bounded(r.Description)
	case r.Preview != nil:
		return r.Preview.String()
	case r.Description != "":
		return bounded(r.Description)
	}
	return bounded(string(r.Value))
}

// String prints the members that Chrome has sent.
func (p *preview) String() string {
	if len(p.Properties) == 0 && len(p.Entries) == 0 {
		return bounded(p.Description)
	}
	var b strings.Builder
	list := p.Subtype == "array" || p.Subtype == "typedarray"
	if !list && p.Description != "Object" {
		b.WriteString(p.Description + " ")
	}
	b.WriteString(pick(list, "[", "{"))
	for i, member := range p.members(list) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(member)
	}
	if p.Overflow {
		b.WriteString(", …")
	}
	b.WriteString(pick(list, "]", "}"))
	return b.String()
}

func (p *preview) members(list bool) []string {
	var members []string
	for _, m := range p.Properties {
		value := m.Value
		switch {
		case redact.SensitiveKey(m.Name) && value != "":
			value = redact.Secret
		case m.Type == "string":
			value = `"` + value + `"`
		case m.Type == "function":
			value = "[function]"
		}
		if !list {
			value = m.Name + ": " + value
		}
		members = append(members, value)
	}
	for _, e := range p.Entries {
		if e.Key == nil {
			members = append(members, e.Value.Description)
			continue
		}
		value := e.Value.Description
		if redact.SensitiveKey(e.Key.Description) {
			value = redact.Secret
		}
		members = append(members, e.Key.Description+" => "+value)
	}
	return members
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func bounded(s string) string {
	if len(s) > maxArgument {
		return s[:maxArgument]
	}
	return s
}

// message joins console arguments as a console would, with the substitutions of the first one.
func message(args []remote) string {
	if len(args) == 0 {
		return ""
	}
	first, rest := args[0].String(), args[1:]
	if args[0].Type == "string" && strings.Contains(first, "%") {
		first, rest = substitute(first, rest)
	}
	parts := append(make([]string, 0, len(args)), first)
	for _, a := range rest {
		value := a.String()
		// console.log("password", value): the key and its value are separate arguments.
		if last := parts[len(parts)-1]; len(last) < 64 && redact.SensitiveKey(strings.TrimRight(last, " :=")) {
			value = redact.Secret
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, " ")
}

// substitute replaces %s, %d, %i, %f, %o, %O and drops %c with its style; it returns the arguments left over.
func substitute(format string, args []remote) (string, []remote) {
	var b strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 >= len(format) {
			b.WriteString(format)
			return b.String(), args
		}
		b.WriteString(format[:i])
		verb := format[i+1]
		switch {
		case verb == '%':
			b.WriteByte('%')
		case strings.IndexByte("sdifoOc", verb) < 0 || len(args) == 0:
			b.WriteString(format[i : i+2])
		default:
			if verb != 'c' {
				b.WriteString(args[0].String())
			}
			args = args[1:]
		}
		format = format[i+2:]
	}
}

package present

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// at prints session time as +1.284 s.
func at(ns int64) string { return fmt.Sprintf("%+.3f s", float64(ns)/1e9) }

// facts prints any value as lines of key value pairs, without JSON: scalars of one object share a line, inner
// objects and list elements have lines of their own. It is how results without a layout of their own are shown,
// and it leaves nothing out.
func facts(v any) []string {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return layOut(raw, "")
}

// inline prints a value on one line.
func inline(raw json.RawMessage) string { return strings.Join(layOut(raw, ""), "; ") }

func layOut(raw json.RawMessage, indent string) []string {
	switch {
	case len(raw) > 0 && raw[0] == '{':
		return layOutObject(raw, indent, "")
	case len(raw) > 0 && raw[0] == '[':
		return layOutList(raw, indent, "")
	}
	return []string{indent + scalar("", raw)}
}

type member struct {
	key   string
	value json.RawMessage
}

// members keeps the order in which the fields were written.
func members(raw json.RawMessage) []member {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	var all []member
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return all
		}
		m := member{key: word(fmt.Sprint(key))} // a page's own object may have any text as a key
		if decoder.Decode(&m.value) != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

func layOutObject(raw json.RawMessage, indent, lead string) []string {
	var row []string
	var below []string
	for _, m := range members(raw) {
		switch value := bytes.TrimSpace(m.value); {
		case value[0] == '{':
			below = append(below, layOutObject(value, indent+"  ", m.key)...)
		case value[0] == '[' && flat(value):
			row = append(row, m.key+" "+flatList(value))
		case value[0] == '[':
			below = append(below, layOutList(value, indent+"  ", m.key)...)
		default:
			row = append(row, scalar(m.key, value))
		}
	}
	line := strings.Join(row, ", ")
	switch {
	case lead != "" && line != "":
		line = lead + ": " + line
	case lead != "":
		line = lead + ":"
	}
	if lead == "" && line == "" {
		return below
	}
	return append([]string{indent + line}, below...)
}

func layOutList(raw json.RawMessage, indent, lead string) []string {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	var lines []string
	if lead != "" {
		lines = append(lines, fmt.Sprintf("%s%s (%d):", indent, lead, len(elements)))
	}
	for _, e := range elements {
		inner := layOut(e, indent+"  ")
		if len(inner) > 0 {
			inner[0] = indent + "- " + strings.TrimLeft(inner[0], " ")
		}
		lines = append(lines, inner...)
	}
	return lines
}

// flat lists hold scalars only.
func flat(raw json.RawMessage) bool {
	return !bytes.ContainsAny(raw[1:], "{[")
}

func flatList(raw json.RawMessage) string {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil || len(elements) == 0 {
		return "none"
	}
	shown := make([]string, len(elements))
	for i, e := range elements {
		shown[i] = scalar("", e)
	}
	return strings.Join(shown, " ")
}

// scalar prints key and value; times in session nanoseconds become seconds, fractions have three digits.
func scalar(key string, raw json.RawMessage) string {
	value := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			value = word(s)
		}
	}
	if name, isTime := strings.CutSuffix(key, "_ns"); isTime {
		if ns, err := strconv.ParseInt(value, 10, 64); err == nil {
			return name + " " + at(ns)
		}
	}
	if value == "null" {
		value = "none"
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil && raw[0] != '"' && strings.ContainsAny(value, ".eE") {
		value = strconv.FormatFloat(math.Round(f*1000)/1000, 'f', -1, 64)
	}
	if key == "" {
		return value
	}
	return key + " " + value
}

// word leaves plain identifiers, addresses and numbers as they are and quotes everything else, so that text of a
// page stays on one line and cannot be taken for our own words.
func word(s string) string {
	for _, r := range s {
		if r <= ' ' || r == '"' || r == ',' || r == 0x2028 || r == 0x2029 || r == 0x85 {
			return strconv.Quote(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

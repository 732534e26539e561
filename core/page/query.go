package page

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/krometrail/krometrail/core/id"
)

// MaxQuery bounds a query's text in bytes.
const MaxQuery = 1024

// Query is a parsed semantic locator.
type Query struct {
	Role string
	Name *Matcher
	// Text is the container qualifier when there is a role or name, else the rendered text itself.
	Text   *Matcher
	Label  *Matcher
	TestID *Matcher
	// Within is a node reference; matches are its descendants.
	Within string
	Frame  id.DocumentFrame
}

// Matcher compares one text. Value is normalised.
type Matcher struct {
	Value    string
	Contains bool
	// Fold ignores case.
	Fold bool
}

// Match compares a text in its normalised form. The empty text never matches.
func (m *Matcher) Match(normalized string) bool {
	if normalized == "" {
		return false
	}
	text, value := normalized, m.Value
	if m.Fold {
		text, value = strings.ToLower(text), strings.ToLower(value)
	}
	if m.Contains {
		return strings.Contains(text, value)
	}
	return text == value
}

// Contained reports whether the query has a container qualifier.
func (q Query) Contained() bool { return q.Text != nil && (q.Role != "" || q.Name != nil) }

// exact reports whether any text matcher is exact.
func (q Query) exact() bool {
	for _, m := range []*Matcher{q.Name, q.Text, q.Label} {
		if m != nil && !m.Contains {
			return true
		}
	}
	return false
}

// relaxed is the query with every exact text matcher turned into contains.
func (q Query) relaxed() Query {
	loosen := func(m *Matcher) *Matcher {
		if m == nil {
			return nil
		}
		return &Matcher{Value: m.Value, Contains: true, Fold: m.Fold}
	}
	q.Name, q.Text, q.Label = loosen(q.Name), loosen(q.Text), loosen(q.Label)
	return q
}

// Semantic reports whether matching needs more than roles and names: rendered text, labels, test ids.
func (q Query) Semantic() bool {
	return q.Text != nil || q.Label != nil || q.TestID != nil || q.Within != ""
}

// ParseQuery reads the query grammar: terms key=value or key~=value (text keys only) separated by spaces,
// values bare or in double quotes with \" and \\, a closing i after a quoted value ignores case. Errors
// name the key and never hold the value.
func ParseQuery(text string) (Query, error) {
	if len(text) > MaxQuery {
		return Query{}, fmt.Errorf("at most %d bytes", MaxQuery)
	}
	if !utf8.ValidString(text) {
		return Query{}, errors.New("must be valid UTF-8")
	}
	s := scanner{rest: text}
	var q Query
	for s.space(); s.rest != ""; s.space() {
		t, err := s.term()
		if err != nil {
			return Query{}, err
		}
		if err := q.set(t); err != nil {
			return Query{}, err
		}
	}
	return q, q.check()
}

func (q *Query) check() error {
	kinds := 0
	for _, has := range []bool{q.Role != "" || q.Name != nil, q.Label != nil, q.TestID != nil} {
		if has {
			kinds++
		}
	}
	switch {
	case kinds == 0 && q.Text == nil:
		return errors.New(`say what to look for: role, name, label, text or test_id, such as role=button name="Save"`)
	case kinds > 1:
		return errors.New("role and name, label, and test_id are alternatives; text may qualify role and name only")
	case q.Text != nil && (q.Label != nil || q.TestID != nil):
		return errors.New("text may qualify role and name only")
	}
	return nil
}

type term struct {
	key      string
	value    string
	contains bool
	fold     bool
}

func (q *Query) set(t term) error {
	twice := fmt.Errorf("%s is given twice", t.key)
	if slot := q.matcher(t.key); slot != nil {
		if *slot != nil {
			return twice
		}
		m := &Matcher{Value: Normalize(t.value), Contains: t.contains, Fold: t.fold}
		if m.Value == "" {
			return fmt.Errorf("%s needs a visible text", t.key)
		}
		*slot = m
		return nil
	}
	if t.contains || t.fold {
		return fmt.Errorf("%s takes = and no i suffix", t.key)
	}
	return q.setPlain(t, twice)
}

func (q *Query) setPlain(t term, twice error) error {
	switch t.key {
	case "role":
		if q.Role != "" {
			return twice
		}
		if t.value == "" || strings.ToLower(t.value) != t.value {
			return errors.New("role takes a lower-case ARIA role")
		}
		q.Role = t.value
	case "within":
		if q.Within != "" {
			return twice
		}
		if _, err := ParseRef(t.value); err != nil {
			return errors.New("within takes a node reference such as e12@7")
		}
		q.Within = t.value
	case "frame":
		if q.Frame != "" {
			return twice
		}
		frame, err := id.Parse[id.DocumentFrame](t.value)
		if err != nil {
			return errors.New("frame takes an ifr_ identifier")
		}
		q.Frame = frame
	default:
		return errors.New("unknown key; keys are role, name, label, text, test_id, within, frame")
	}
	return nil
}

func (q *Query) matcher(key string) **Matcher {
	switch key {
	case "name":
		return &q.Name
	case "text":
		return &q.Text
	case "label":
		return &q.Label
	case "test_id":
		return &q.TestID
	}
	return nil
}

type scanner struct{ rest string }

func (s *scanner) space() { s.rest = strings.TrimLeft(s.rest, " \t\n\r") }

func (s *scanner) term() (term, error) {
	at := strings.IndexAny(s.rest, "=~ \"")
	if at <= 0 || s.rest[at] == ' ' || s.rest[at] == '"' {
		return term{}, errors.New(`expected key="value" or key~="value"`)
	}
	t := term{key: s.rest[:at]}
	s.rest = s.rest[at:]
	if s.rest[0] == '~' {
		t.contains = true
		s.rest = s.rest[1:]
	}
	if !strings.HasPrefix(s.rest, "=") {
		return term{}, errors.New("expected = or ~= after " + keyOrNothing(t.key))
	}
	s.rest = s.rest[1:]
	var err error
	if strings.HasPrefix(s.rest, `"`) {
		t.value, err = s.quoted()
		if err == nil {
			t.fold, err = s.suffix()
		}
		return t, err
	}
	t.value = s.bare()
	return t, nil
}

// keyOrNothing keeps arbitrary input out of messages.
func keyOrNothing(key string) string {
	switch key {
	case "role", "name", "label", "text", "test_id", "within", "frame":
		return key
	}
	return "the key"
}

func (s *scanner) bare() string {
	at := strings.IndexAny(s.rest, " \t\n\r")
	if at < 0 {
		at = len(s.rest)
	}
	value := s.rest[:at]
	s.rest = s.rest[at:]
	return value
}

func (s *scanner) quoted() (string, error) {
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; c {
		case '"':
			s.rest = s.rest[i+1:]
			return b.String(), nil
		case '\\':
			i++
			if i == len(s.rest) || (s.rest[i] != '"' && s.rest[i] != '\\') {
				return "", errors.New(`in quotes, \ stands only before " or \`)
			}
			b.WriteByte(s.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New(`a quoted value is not closed with "`)
}

func (s *scanner) suffix() (fold bool, err error) {
	if strings.HasPrefix(s.rest, "i") {
		fold = true
		s.rest = s.rest[1:]
	}
	if s.rest != "" && !strings.ContainsRune(" \t\n\r", rune(s.rest[0])) {
		return false, errors.New("expected a space after a quoted value")
	}
	return fold, nil
}

// String is a canonical spelling that parses to an equal query.
func (q Query) String() string {
	var terms []string
	add := func(key string, m *Matcher) {
		if m != nil {
			terms = append(terms, key+m.String())
		}
	}
	if q.Role != "" {
		terms = append(terms, "role="+quote(q.Role))
	}
	add("name", q.Name)
	add("label", q.Label)
	add("text", q.Text)
	add("test_id", q.TestID)
	if q.Within != "" {
		terms = append(terms, "within="+q.Within)
	}
	if q.Frame != "" {
		terms = append(terms, "frame="+string(q.Frame))
	}
	return strings.Join(terms, " ")
}

// String is operator, quoted value and suffix.
func (m *Matcher) String() string {
	op, suffix := "=", ""
	if m.Contains {
		op = "~="
	}
	if m.Fold {
		suffix = "i"
	}
	return op + quote(m.Value) + suffix
}

func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

package page_test

import (
	"testing"

	"github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestQueryGrammar(t *testing.T) {
	for text, want := range map[string]page.Query{
		`role=button name="Save"`:          {Role: "button", Name: &page.Matcher{Value: "Save"}},
		`role=row text~="Apollo"i`:         {Role: "row", Text: &page.Matcher{Value: "Apollo", Contains: true, Fold: true}},
		`label="E-mail"`:                   {Label: &page.Matcher{Value: "E-mail"}},
		`text~="saved"`:                    {Text: &page.Matcher{Value: "saved", Contains: true}},
		`test_id=pay`:                      {TestID: &page.Matcher{Value: "pay"}},
		`  name = "x"`:                     {},
		`name="say \"hi\" \\ now"`:         {Name: &page.Matcher{Value: `say "hi" \ now`}},
		`role=link within=e12@7`:           {Role: "link", Within: "e12@7"},
		`name="  spaced   out "`:           {Name: &page.Matcher{Value: "spaced out"}},
		`name=Save frame=ifr_0123456789ab`: {Name: &page.Matcher{Value: "Save"}, Frame: "ifr_0123456789ab"},
	} {
		got, err := page.ParseQuery(text)
		if want == (page.Query{}) {
			assert.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestQueryErrorsNameTheRuleAndNotTheValue(t *testing.T) {
	for text, says := range map[string]string{
		``: "what to look for", `secret`: "expected key", `role=Button`: "lower-case", `label="a" name="b"`: "alternatives", `label="a" text="b"`: "may qualify",
		`name="a" name="b"`: "twice", `name="secret`: "not closed", `name="a"b`: "space after", `role~=button`: "takes =", `within=42`: "e12@7",
		`name=""`: "visible text", "name=\"\uE001\"": "visible text", `frame=tgt_0123456789ab name=x`: "ifr_", `color="secret"`: "unknown key", `name~"x"`: "= or ~=",
	} {
		_, err := page.ParseQuery(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), says, text)
		assert.NotContains(t, err.Error(), "secret", text)
	}
}

func TestNormalize(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", " a \n\t b ": "a b", "a\u00a0b": "a b", "zero\u200bwidth": "zerowidth", "\uE001 Icon": "Icon", "Save\uE001": "Save", "a\uE001b": "a b",
		"\uE001\uF0A0": "", "soft\u00adhyphen": "softhyphen", "שלום\u200f": "שלום", "e\u0301": "e\u0301", "": "",
	} {
		assert.Equal(t, want, page.Normalize(text), "%q", text)
	}
}

func TestNormalizeIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := page.Normalize(rapid.String().Draw(t, "text"))
		assert.Equal(t, once, page.Normalize(once))
	})
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{`role=button name="Save"`, `text~="a\"b"i`, `test_id=x within=e1@2`, `name="`, "\x00=\xff", `label= x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := page.ParseQuery(text)
		if err != nil {
			return
		}
		again, err := page.ParseQuery(q.String())
		if len(q.String()) <= page.MaxQuery {
			require.NoError(t, err, q.String())
			assert.Equal(t, q, again)
		}
	})
}

func FuzzParseRef(f *testing.F) {
	f.Add("e42@7")
	f.Add("e0@1")
	f.Add("e01@1")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := page.ParseRef(text); err == nil {
			assert.Equal(t, text, r.String(), "only the canonical spelling is read")
		}
	})
}

func TestChords(t *testing.T) {
	for text, want := range map[string]page.Chord{
		"Enter": {Key: "Enter"}, "ctrl+shift+K": {Modifiers: []string{"control", "shift"}, Key: "K"}, "+": {Key: "+"}, "Control++": {Modifiers: []string{"control"}, Key: "+"},
		"cmd+a": {Modifiers: []string{"meta"}, Key: "a"}, "Esc": {Key: "Escape"}, "é": {Key: "é"}, "space": {Key: " "}, "Shift": {Key: "Shift"},
	} {
		got, err := page.ParseChord(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "Foo", "Foo+a", "Control+", "Control+Foo", "ab"} {
		_, err := page.ParseChord(text)
		assert.Error(t, err, text)
	}
}

func FuzzParseChord(f *testing.F) {
	f.Add("Control+Shift+K")
	f.Add("+++")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := page.ParseChord(text); err == nil {
			assert.NotEmpty(t, c.Key)
			assert.LessOrEqual(t, len(c.Modifiers), 4)
		}
	})
}

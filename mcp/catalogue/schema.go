package catalogue

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema infers the closed schema of a request type. It never holds references or root combinators, which
// several hosts reject.
func inputSchema(request reflect.Type) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(request, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Description: "any JSON value"},
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	}})
	if err != nil {
		return nil, err
	}
	return s, refine(request, s, "")
}

// refine walks a type and its inferred schema together and applies the tags.
func refine(t reflect.Type, s *jsonschema.Schema, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	notNull(s)
	switch {
	case t == reflect.TypeFor[json.RawMessage](), t == reflect.TypeFor[time.Time]():
		return nil
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return refine(t.Elem(), s.Items, path+"[]")
	case t.Kind() != reflect.Struct:
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, ok := jsonName(field)
		if !ok {
			continue
		}
		property := s.Properties[name]
		if property == nil {
			return fmt.Errorf("%s.%s: the schema lacks this property", path, name)
		}
		if err := refine(field.Type, property, path+"."+name); err != nil {
			return err
		}
		if err := applyTags(field, property); err != nil {
			return fmt.Errorf("%s.%s: %w", path, name, err)
		}
	}
	return nil
}

// notNull: absent is how an argument is left out; null is not.
func notNull(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

// jsonName is the field's name on the wire; embedded structs have none of their own.
func jsonName(field reflect.StructField) (string, bool) {
	if field.Anonymous || !field.IsExported() {
		return "", false
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" {
		return "", false
	}
	if name == "" {
		name = field.Name
	}
	return name, true
}

// tagRules maps each tag to what it does to a property. t is the field's type without pointers.
func tagRules() map[string]func(t reflect.Type, s *jsonschema.Schema, text string) error {
	return map[string]func(t reflect.Type, s *jsonschema.Schema, text string) error{
		"doc": func(_ reflect.Type, s *jsonschema.Schema, text string) error { s.Description = text; return nil },
		"type": func(_ reflect.Type, s *jsonschema.Schema, text string) error {
			s.Type, s.Description = text, ""
			return nil
		},
		"pattern": func(_ reflect.Type, s *jsonschema.Schema, text string) error { element(s).Pattern = text; return nil },
		"enum":    setEnum,
		"min": func(t reflect.Type, s *jsonschema.Schema, text string) error {
			return setBound(t, text, &s.MinItems, &s.Minimum)
		},
		"max": func(t reflect.Type, s *jsonschema.Schema, text string) error {
			return setBound(t, text, &s.MaxItems, &s.Maximum)
		},
		"minitems": func(_ reflect.Type, s *jsonschema.Schema, text string) error { return setCount(text, &s.MinItems) },
		"maxitems": func(_ reflect.Type, s *jsonschema.Schema, text string) error { return setCount(text, &s.MaxItems) },
		"minlen": func(_ reflect.Type, s *jsonschema.Schema, text string) error {
			return setCount(text, &element(s).MinLength)
		},
		"maxlen": func(_ reflect.Type, s *jsonschema.Schema, text string) error {
			return setCount(text, &element(s).MaxLength)
		},
		"default": setDefault,
	}
}

func applyTags(field reflect.StructField, s *jsonschema.Schema) error {
	t := field.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	rules := tagRules()
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		text, ok := field.Tag.Lookup(name)
		if !ok {
			continue
		}
		if err := rules[name](t, s, text); err != nil {
			return fmt.Errorf("tag %s: %w", name, err)
		}
	}
	return nil
}

// element is the schema of a list's elements, else the schema itself.
func element(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Items != nil {
		return s.Items
	}
	return s
}

func setEnum(_ reflect.Type, s *jsonschema.Schema, text string) error {
	target := element(s)
	for value := range strings.SplitSeq(text, ",") {
		target.Enum = append(target.Enum, value)
	}
	return nil
}

func setBound(t reflect.Type, text string, items **int, number **float64) error {
	if t.Kind() == reflect.Slice {
		return setCount(text, items)
	}
	value, err := strconv.ParseFloat(text, 64)
	*number = &value
	return err
}

func setCount(text string, target **int) error {
	value, err := strconv.Atoi(text)
	*target = &value
	return err
}

func setDefault(t reflect.Type, s *jsonschema.Schema, text string) error {
	raw := json.RawMessage(text)
	if t.Kind() == reflect.String {
		raw, _ = json.Marshal(text)
	}
	if !json.Valid(raw) {
		return fmt.Errorf("%q is no JSON value", text)
	}
	if t.Kind() == reflect.Bool && text == "false" {
		return nil // what everyone expects of a switch that is not mentioned
	}
	s.Default = raw
	return nil
}

package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compileClosed checks an input schema against the house rules too: one closed object without references,
// combinators at its root or open objects inside, because several hosts reject those.
func compileClosed(name string, schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	root, ok := doc.(map[string]any)
	if !ok || root["type"] != "object" {
		return nil, errors.New("the root must be of type object")
	}
	for _, combinator := range []string{"anyOf", "oneOf", "allOf", "not", "if"} {
		if _, has := root[combinator]; has {
			return nil, fmt.Errorf("the root must not use %s", combinator)
		}
	}
	if root["additionalProperties"] != false {
		return nil, errors.New("the root must be closed")
	}
	if err := checkSchema(root, "$"); err != nil {
		return nil, err
	}
	return compileDocument(name, doc)
}

// compile checks a schema against the meta-schema and returns its validator.
func compile(name string, schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	return compileDocument(name, doc)
}

func compileDocument(name string, doc any) (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	location := "krometrail:" + name
	if err := compiler.AddResource(location, doc); err != nil {
		return nil, err
	}
	return compiler.Compile(location)
}

// checkSchema walks a schema: every object in it must be closed.
func checkSchema(schema any, path string) error {
	s, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: a boolean schema", path)
	}
	for _, reference := range []string{"$ref", "$defs", "definitions", "$dynamicRef"} {
		if _, has := s[reference]; has {
			return fmt.Errorf("%s: uses %s", path, reference)
		}
	}
	properties, isObject := s["properties"].(map[string]any)
	if (isObject || s["additionalProperties"] != nil) && s["additionalProperties"] != false {
		return fmt.Errorf("%s: an open object", path)
	}
	for name, property := range properties {
		if err := checkSchema(property, path+"."+name); err != nil {
			return err
		}
	}
	if items, has := s["items"]; has {
		return checkSchema(items, path+"[]")
	}
	return nil
}

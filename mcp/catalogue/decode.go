package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/krometrail/krometrail/core/fault"
)

// Presentation is how a caller wants an answer shown.
type Presentation struct {
	// Detail is concise, expanded or full; "" counts as concise.
	Detail string `json:"detail"`
	// InlineImages overrides the tool's default when it is not nil.
	InlineImages *bool `json:"inline_images"`
}

// Decode checks arguments against the tool's schema and decodes them into a request of its operation. Absent
// arguments count as {}. The fault names the first bad argument by its path and the broken rule, never a value.
func (t *Tool) Decode(arguments json.RawMessage) (request any, shown Presentation, err error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	if path, twice := repeated(arguments); twice {
		return nil, shown, fault.Input(path, "is given twice")
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return nil, shown, fault.Input("arguments", "must be a JSON object")
	}
	if err := t.input.Validate(instance); err != nil {
		return nil, shown, t.explain(err)
	}
	request = t.Op.NewRequest()
	if err := json.Unmarshal(arguments, request); err != nil {
		return nil, shown, misfit(err)
	}
	if err := json.Unmarshal(arguments, &shown); err != nil {
		return nil, shown, misfit(err)
	}
	return request, shown, checkIDs(reflect.ValueOf(request), "")
}

// DecodeStep is Decode for a step of a batch, whose presentation is the batch's.
func (t *Tool) DecodeStep(arguments json.RawMessage) (any, error) {
	request, shown, err := t.Decode(arguments)
	switch {
	case err != nil:
		return nil, err
	case shown.Detail != "":
		return nil, fault.Input("detail", "belongs to the batch, not to a step")
	case shown.InlineImages != nil:
		return nil, fault.Input("inline_images", "belongs to the batch, not to a step; step_screenshots takes pictures")
	}
	return request, nil
}

// misfit explains what the schema let pass and the request type does not hold: 1.0 or a number beyond its type.
func misfit(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fault.Input(wrong.Field, "must be "+plainType(wrong.Type))
	}
	return fault.Input("arguments", "could not be read as this tool's arguments")
}

func plainType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "an integer in range, without fraction or exponent"
	case reflect.Float32, reflect.Float64:
		return "a number in range"
	}
	return "of the documented type"
}

// typed is implemented by every kind of identifier.
type typed interface{ Prefix() string }

// checkIDs reports the first identifier of a wrong kind or form. It stops at raw JSON.
func checkIDs(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkIDs(v.Elem(), path)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := checkIDs(v.Index(i), path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkFieldIDs(v, path)
	case reflect.String:
		kind, ok := reflect.TypeAssert[typed](v)
		if ok && v.Len() > 0 && !isID(v.String(), kind.Prefix()+"_") {
			return fault.Input(path, fmt.Sprintf("must be an identifier %s_ followed by 12 characters, as answers give it", kind.Prefix()))
		}
	}
	return nil
}

func checkFieldIDs(v reflect.Value, path string) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		inner := path
		if name, ok := jsonName(field); ok {
			inner = join(path, name)
		} else if !field.Anonymous {
			continue
		}
		if !field.IsExported() {
			continue
		}
		if err := checkIDs(v.Field(i), inner); err != nil {
			return err
		}
	}
	return nil
}

func isID(text, prefix string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok || len(rest) != 12 {
		return false
	}
	return strings.Trim(rest, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// repeated finds a member that an object has twice: decoders disagree about which one counts.
func repeated(raw json.RawMessage) (path string, twice bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return scan(decoder, "")
}

func scan(decoder *json.Decoder, path string) (string, bool) {
	token, err := decoder.Token()
	delim, isDelim := token.(json.Delim)
	if err != nil || !isDelim {
		return "", false
	}
	seen := map[string]bool{}
	for i := 0; decoder.More(); i++ {
		inner := path + "[" + strconv.Itoa(i) + "]"
		if delim == '{' {
			key, err := decoder.Token()
			name, _ := key.(string)
			if err != nil {
				return "", false
			}
			if inner = join(path, printable(name)); seen[name] {
				return inner, true
			}
			seen[name] = true
		}
		if found, twice := scan(decoder, inner); twice {
			return found, true
		}
	}
	_, _ = decoder.Token() // the closing delimiter
	return "", false
}

// printable keeps arbitrary text of a caller out of messages: argument names are words.
func printable(name string) string {
	if name == "" || len(name) > 48 {
		return "(a name)"
	}
	for _, b := range []byte(name) {
		if b != '_' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return "(a name)"
		}
	}
	return name
}

package catalogue

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/krometrail/krometrail/core/fault"
)

// explain turns a validation failure into a fault about the first bad argument.
func (t *Tool) explain(err error) error {
	var failure *jsonschema.ValidationError
	if !errors.As(err, &failure) {
		return fault.Input("arguments", "do not fit this tool")
	}
	leaf := firstLeaf(failure)
	path := instancePath(leaf.InstanceLocation)
	switch broken := leaf.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return t.unknown(path, slices.Sorted(slices.Values(broken.Properties))[0])
	case *kind.Required:
		return fault.Input(join(path, slices.Sorted(slices.Values(broken.Missing))[0]), "is required")
	default:
		if path == "" {
			path = "arguments"
		}
		return fault.Input(path, rule(broken))
	}
}

// firstLeaf picks one failure: unknown names first, since a misspelt name explains a missing one.
func firstLeaf(failure *jsonschema.ValidationError) *jsonschema.ValidationError {
	var leaves []*jsonschema.ValidationError
	var collect func(*jsonschema.ValidationError)
	collect = func(f *jsonschema.ValidationError) {
		if len(f.Causes) == 0 {
			leaves = append(leaves, f)
		}
		for _, cause := range f.Causes {
			collect(cause)
		}
	}
	collect(failure)
	slices.SortStableFunc(leaves, func(a, b *jsonschema.ValidationError) int {
		if byKind := weight(a) - weight(b); byKind != 0 {
			return byKind
		}
		return strings.Compare(instancePath(a.InstanceLocation), instancePath(b.InstanceLocation))
	})
	return leaves[0]
}

func weight(f *jsonschema.ValidationError) int {
	switch f.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return 0
	case *kind.Required:
		return 1
	}
	return 2
}

// unknown names an argument that the tool does not have, and at the top level those that it has.
func (t *Tool) unknown(path, name string) error {
	full := join(path, printable(name))
	f := fault.New(fault.InvalidInput, "argument %s: is unknown to %s", full, t.Op.Name)
	if path != "" {
		return f.WithRecovery("leave %s out", full)
	}
	if names := t.arguments(); len(names) > 0 {
		return f.WithRecovery("use only %s", strings.Join(names, ", "))
	}
	return f.WithRecovery("call %s without arguments", t.Op.Name)
}

func (t *Tool) arguments() []string {
	var names []string
	for name := range t.input.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// instancePath spells a location as steps[2].tool. Only names that the schema knows occur in it.
func instancePath(location []string) string {
	path := ""
	for _, token := range location {
		if _, err := strconv.Atoi(token); err == nil {
			path += "[" + token + "]"
			continue
		}
		path = join(path, printable(token))
	}
	return path
}

func rule(broken jsonschema.ErrorKind) string {
	switch k := broken.(type) {
	case *kind.Type:
		return "must be " + article(k.Want)
	case *kind.Enum:
		return "must be one of " + choices(k.Want)
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d elements", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d elements", k.Want)
	case *kind.Pattern:
		return "must match " + k.Want
	}
	return "does not fit its schema"
}

func article(types []string) string {
	var named []string
	for _, t := range types {
		switch t {
		case "boolean":
			named = append(named, "true or false")
		case "array":
			named = append(named, "a list")
		case "object", "integer":
			named = append(named, "an "+t)
		default:
			named = append(named, "a "+t)
		}
	}
	return strings.Join(named, " or ")
}

func choices(values []any) string {
	var named []string
	for _, v := range values {
		named = append(named, fmt.Sprint(v))
	}
	return strings.Join(named, ", ")
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return r.FloatString(3)
}

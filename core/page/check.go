package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krometrail/krometrail/core/fault"
)

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// oneOf fills in the first value as the default and checks the rest.
func oneOf(field *string, path string, values ...string) error {
	if *field == "" {
		*field = values[0]
	}
	if !slices.Contains(values, *field) {
		return fault.Input(path, "must be one of "+strings.Join(values, ", "))
	}
	return nil
}

// within fills in the default for 0 and checks the bounds.
func within(field *int, path string, low, high, standard int) error {
	if *field == 0 {
		*field = standard
	}
	return bounded(*field, path, low, high)
}

func bounded(value int, path string, low, high int) error {
	if value < low || value > high {
		return fault.Input(path, fmt.Sprintf("must lie in %d..%d", low, high))
	}
	return nil
}

// first returns the first failure.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// index is the path of a list's element.
func index(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

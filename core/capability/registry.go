package capability

import (
	"fmt"
	"slices"
	"strings"
)

// Registry holds the operations of the enabled capabilities. It is immutable and safe for concurrent use.
type Registry struct {
	selection Selection
	ops       []Op
	byName    map[string]int
}

// NewRegistry keeps the operations whose capability is enabled, sorted by name. Two operations of one
// name, an unknown capability or an incomplete declaration are programming errors and stop the start.
func NewRegistry(selection Selection, ops ...Op) (*Registry, error) {
	r := &Registry{selection: selection, byName: map[string]int{}}
	for _, op := range ops {
		if err := check(op); err != nil {
			return nil, err
		}
		if selection.Enabled(op.Capability) {
			r.ops = append(r.ops, op)
		}
	}
	slices.SortFunc(r.ops, func(a, b Op) int { return strings.Compare(a.Name, b.Name) })
	for i, op := range r.ops {
		if _, twice := r.byName[op.Name]; twice {
			return nil, fmt.Errorf("operation %s is registered twice", op.Name)
		}
		r.byName[op.Name] = i
	}
	return r, nil
}

func check(op Op) error {
	known := slices.ContainsFunc(definitions(), func(d definition) bool { return d.name == op.Capability })
	switch {
	case op.Name == "" || strings.Trim(op.Name, "abcdefghijklmnopqrstuvwxyz_") != "":
		return fmt.Errorf("operation name %q is not lower-case letters and underscores", op.Name)
	case !known:
		return fmt.Errorf("operation %s belongs to no defined capability", op.Name)
	case op.run == nil || op.Summary == "" || op.Kind == "" || op.Lane == "":
		return fmt.Errorf("operation %s is declared incompletely", op.Name)
	}
	return nil
}

// Ops lists the operations in name order.
func (r *Registry) Ops() []Op { return slices.Clone(r.ops) }

// Op finds one operation.
func (r *Registry) Op(name string) (Op, bool) {
	i, ok := r.byName[name]
	if !ok {
		return Op{}, false
	}
	return r.ops[i], true
}

// Selection is what the registry was built for.
func (r *Registry) Selection() Selection { return r.selection }

package capability

import (
	"slices"

	"github.com/krometrail/krometrail/core/fault"
)

// Selection is the resolved state of every capability. It is immutable.
type Selection struct{ statuses []Status }

// Select resolves what is enabled. asked lists the wanted capabilities, nil meaning all that can be had;
// unavailable maps a capability to the reason why this machine lacks it (no qualified encoder). Asking for
// an unknown name or one that no version offers is invalid_input; asking for one this machine lacks is not.
func Select(asked []Name, unavailable map[Name]string) (Selection, error) {
	var s Selection
	for _, name := range asked {
		if err := checkAsked(name); err != nil {
			return s, err
		}
	}
	for _, d := range definitions() {
		s.statuses = append(s.statuses, s.resolve(d, asked, unavailable))
	}
	return s, nil
}

func checkAsked(name Name) error {
	for _, d := range definitions() {
		if d.name != name {
			continue
		}
		if d.never != "" {
			return fault.New(fault.InvalidInput, "capability %s cannot be enabled: %s", d.name, d.never).
				WithRecovery("remove %s from the configured capabilities", d.name)
		}
		return nil
	}
	return fault.Input("capabilities", "names a capability that does not exist")
}

func (s Selection) resolve(d definition, asked []Name, unavailable map[Name]string) Status {
	switch {
	case d.never != "":
		return Status{d.name, Unavailable, d.never}
	case d.fixed:
		return Status{d.name, Enabled, ""}
	case asked != nil && !slices.Contains(asked, d.name):
		return Status{d.name, Disabled, "not among the configured capabilities"}
	}
	for _, need := range d.dependsOn {
		if !s.Enabled(need) {
			return Status{d.name, Disabled, "needs " + string(need)}
		}
	}
	if reason, ok := unavailable[d.name]; ok {
		return Status{d.name, Unavailable, reason}
	}
	return Status{d.name, Enabled, ""}
}

// Enabled reports whether the capability is on.
func (s Selection) Enabled(name Name) bool {
	for _, st := range s.statuses {
		if st.Name == name {
			return st.State == Enabled
		}
	}
	return false
}

// Statuses lists every capability in a fixed order.
func (s Selection) Statuses() []Status { return slices.Clone(s.statuses) }

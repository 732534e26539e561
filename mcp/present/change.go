package present

import "encoding/json"

// MarshalJSON puts the operation's own outcome and the observation side by side in one object: an agent that
// opened a page finds created beside page. Where both name a field, the observation is the later fact.
func (c Change) MarshalJSON() ([]byte, error) {
	fields := map[string]json.RawMessage{}
	for _, part := range []any{c.Action, c.Observation} {
		if err := mergeFields(fields, part); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}

// mergeFields adds the fields of an object. Anything else than an object has none.
func mergeFields(into map[string]json.RawMessage, part any) error {
	raw, err := json.Marshal(part)
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		return err
	}
	return json.Unmarshal(raw, &into)
}

// ownFacts are the facts of the operation's outcome that the observation does not repeat.
func (c Change) ownFacts() any {
	raw, err := json.Marshal(c.Action)
	if err != nil || c.Observation == nil || c.Observation.Navigation == nil {
		return c.Action
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return c.Action
	}
	delete(fields, "navigation")
	return fields
}

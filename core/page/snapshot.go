package page

import "github.com/krometrail/krometrail/core/id"

// Snapshot is the complete acquired structure of a page: one section for each document frame, the selected
// (main) document first. Projections to concise and expanded happen when it is shown.
type Snapshot struct {
	// Generation names the attached main document; unique in the browser session.
	Generation uint64 `json:"generation"`
	// Source is walk or accessibility_tree: what the structure was acquired from.
	Source   string    `json:"source"`
	Sections []Section `json:"frames"`
}

// Section is one document frame.
type Section struct {
	Frame      id.DocumentFrame `json:"frame_id,omitempty"`
	Origin     string           `json:"origin"`
	Main       bool             `json:"main,omitempty"`
	Generation uint64           `json:"generation"`
	Nodes      []Node           `json:"nodes"`
	// Unavailable says in one line why a child frame has no nodes: too_large, unresponsive, gone.
	Unavailable string `json:"unavailable,omitempty"`
	// OmittedNodes counts nodes that were not acquired.
	OmittedNodes int `json:"omitted_nodes,omitempty"`
}

// Node is one element or text of the structure, in preorder.
type Node struct {
	// Ref is set for actionable targets, e<node>@<generation>.
	Ref   string `json:"ref,omitempty"`
	Depth int    `json:"depth"`
	Role  string `json:"role"`
	Name  string `json:"name,omitempty"`
	// Value is [n chars] for secret fields.
	Value string `json:"value,omitempty"`
	// States holds the non-default ones: focused, disabled, checked, mixed, expanded, collapsed, selected,
	// pressed, required, readonly, invalid, opaque.
	States []string `json:"states,omitempty"`
	// Editable, Link and Focused drive the ranking of concise answers.
	Editable bool `json:"-"`
	Link     bool `json:"-"`
	// URL is set for links of the agent's own page; never stored.
	URL string `json:"url,omitempty"`
}

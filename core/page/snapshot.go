package page

import (
	"slices"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// Bounds of one acquired document. Only the main document's excess fails a call.
const (
	MaxDocumentNodes = 50_000
	MaxDocumentText  = 8 << 20
)

// The sources of a structure.
const (
	SourceWalk = "walk"
	SourceTree = "accessibility_tree"
)

// Snapshot is the complete acquired structure of a page: one section for each document frame, the selected
// (main) document first. Projections to concise and expanded happen when it is shown.
type Snapshot struct {
	// Generation names the attached main document; unique in the browser session.
	Generation uint64 `json:"generation"`
	// Source is walk or accessibility_tree: what the structure was acquired from.
	Source   string    `json:"source"`
	Sections []Section `json:"frames"`
	// FromViewport: what is on screen ranks before the rest.
	FromViewport bool `json:"-"`
	// Pictorial pages are mostly canvas or video: their answers carry the picture by default.
	Pictorial bool           `json:"pictorial,omitempty"`
	Warnings  []*fault.Error `json:"-"`
}

// Section is one document frame.
type Section struct {
	Frame      id.DocumentFrame `json:"frame_id,omitempty"`
	Origin     string           `json:"origin"`
	Main       bool             `json:"main,omitempty"`
	Generation uint64           `json:"generation,omitempty"`
	Nodes      []Node           `json:"nodes"`
	// Unavailable says in one line why a child frame has no nodes: too_large, unresponsive, gone.
	Unavailable string `json:"unavailable,omitempty"`
	// OmittedNodes counts nodes that were not acquired.
	OmittedNodes int `json:"omitted_nodes,omitempty"`
}

// RoleText is the role of a run of text.
const RoleText = "text"

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
	// pressed, required, readonly, invalid, opaque, modal, multiline.
	States []string `json:"states,omitempty"`
	// URL is set for links of the agent's own page; never stored.
	URL string `json:"url,omitempty"`

	// Editable, Link and OnScreen drive the ranking of concise answers.
	Editable bool `json:"-"`
	Link     bool `json:"-"`
	OnScreen bool `json:"-"`
	// Live marks alerts, status messages and other live regions; their text is a semantic outcome.
	Live string `json:"-"`

	// Rendered is the text this node adds to what is rendered, with the spaces around it; Label and TestID
	// are what label and test_id queries compare. They are acquired for semantic matching only.
	Rendered string `json:"-"`
	Label    string `json:"-"`
	TestID   string `json:"-"`
	// Field is set for controls of forms; the traces of actions know their targets by it.
	Field *Field `json:"-"`
	// Serial identifies the element in its document for scoping by within; 0 for text.
	Serial uint64 `json:"-"`
}

// Field is what tells the control of a form from another one of the same role and name.
type Field struct {
	// Type is an input's or button's type, and select for one. Group is the name of the nearest fieldset or group.
	Type, Group, Placeholder string
	// Name is the name attribute, Label the text of the labels.
	Name, Label string
}

// Has reports whether the node is in the state.
func (n Node) Has(state string) bool { return slices.Contains(n.States, state) }

// Targets counts the actionable nodes of all sections.
func (s Snapshot) Targets() int {
	count := 0
	for _, section := range s.Sections {
		count += section.targets()
	}
	return count
}

func (s Section) targets() int {
	count := 0
	for i := range s.Nodes {
		if s.Nodes[i].Ref != "" {
			count++
		}
	}
	return count
}

// Focused is the reference of the focused target, "" when none has the focus.
func (s Snapshot) Focused() string {
	for _, section := range s.Sections {
		for _, n := range section.Nodes {
			if n.Ref != "" && n.Has("focused") {
				return n.Ref
			}
		}
	}
	return ""
}

// SameAs reports whether both snapshots list the same frames with the same targets: references, roles,
// names, values and states.
func (s Snapshot) SameAs(other Snapshot) bool {
	if s.Generation != other.Generation || len(s.Sections) != len(other.Sections) {
		return false
	}
	for i := range s.Sections {
		if !s.Sections[i].sameAs(other.Sections[i]) {
			return false
		}
	}
	return true
}

func (s Section) sameAs(other Section) bool {
	if s.Frame != other.Frame || s.Generation != other.Generation || s.Unavailable != other.Unavailable || len(s.Nodes) != len(other.Nodes) {
		return false
	}
	for i, n := range s.Nodes {
		o := other.Nodes[i]
		if n.Ref != o.Ref || n.Role != o.Role || n.Name != o.Name || n.Value != o.Value || !slices.Equal(n.States, o.States) {
			return false
		}
	}
	return true
}

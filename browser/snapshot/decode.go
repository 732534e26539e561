package snapshot

import (
	"encoding/json"

	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

// walked is what the script's walk returns, column by column.
type walked struct {
	Depth  []int    `json:"depth"`
	Role   []string `json:"role"`
	Name   []string `json:"name"`
	Value  []string `json:"value"`
	States []int    `json:"states"`
	Flags  []int    `json:"flags"`
	Serial []uint64 `json:"serial"`
	URL    []string `json:"url"`
	// Live pairs the index of a live region with its text.
	Live     []liveText `json:"live"`
	Fields   []field    `json:"fields"`
	Rendered []string   `json:"rendered"`
	Label    []string   `json:"label"`
	Test     []string   `json:"test"`
	// Frames are the node numbers and depths of frame elements, in order.
	Frames [][2]uint64 `json:"frames"`
	// Over counts nodes beyond the limits, Deep elements beyond the depth that is walked.
	Over      int    `json:"over"`
	Deep      int    `json:"deep"`
	Title     string `json:"title"`
	Address   string `json:"address"`
	Origin    string `json:"origin"`
	Ready     string `json:"ready"`
	Pictorial bool   `json:"pictorial"`
	Suspects  int    `json:"suspects"`
}

// States in the order of the script's bits. secret and muted stay inside.
var stateNames = []string{
	"focused", "disabled", "checked", "mixed", "expanded", "collapsed", "selected", "pressed", "required", "readonly", "invalid",
	"opaque", "modal", "multiline", "", "current", "busy", "",
}

const (
	flagTarget = 1 << iota
	flagEditable
	flagLink
	flagScreen
)

// StateNames lists the states of a bit set of the script.
func StateNames(bits int) []string {
	if bits == 0 {
		return nil
	}
	var names []string
	for i, name := range stateNames {
		if bits&(1<<i) != 0 && name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (w *walked) nodes(generation uint64) []core.Node {
	nodes := make([]core.Node, len(w.Depth))
	for i := range nodes {
		n := &nodes[i]
		*n = core.Node{
			Depth: w.Depth[i], Role: w.Role[i], Name: w.Name[i], Value: w.Value[i], States: StateNames(w.States[i]),
			URL: redact.LiveURL(w.URL[i]), Serial: w.Serial[i], Rendered: column(w.Rendered, i), Label: column(w.Label, i), TestID: column(w.Test, i),
		}
		flags := w.Flags[i]
		n.Editable, n.Link, n.OnScreen = flags&flagEditable != 0, flags&flagLink != 0, flags&flagScreen != 0
		if flags&flagTarget != 0 {
			n.Ref = reference(n.Serial, generation)
		}
	}
	for _, l := range w.Live {
		if l.At >= 0 && l.At < len(nodes) {
			nodes[l.At].Live = l.Text
		}
	}
	for _, f := range w.Fields {
		if f.At >= 0 && f.At < len(nodes) {
			nodes[f.At].Field = &f.Field
		}
	}
	return nodes
}

// field is [index, type, group, placeholder, name, label] on the wire.
type field struct {
	At int
	core.Field
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *field) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&f.At, &f.Type, &f.Group, &f.Placeholder, &f.Name, &f.Label})
}

// liveText is [index, text] on the wire.
type liveText struct {
	At   int
	Text string
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *liveText) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&l.At, &l.Text})
}

func column(c []string, i int) string {
	if i < len(c) {
		return c[i]
	}
	return ""
}

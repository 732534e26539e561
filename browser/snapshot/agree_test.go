package snapshot_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// axNode is one node of the browser's accessibility tree.
type axNode struct {
	ID      string `json:"nodeId"`
	Parent  string `json:"parentId"`
	Ignored bool   `json:"ignored"`
	Backend int64  `json:"backendDOMNodeId"`
	Role    struct {
		Value string `json:"value"`
	} `json:"role"`
	Name struct {
		Value string `json:"value"`
	} `json:"name"`
	Properties []struct {
		Name  string `json:"name"`
		Value struct {
			Value any `json:"value"`
		} `json:"value"`
	} `json:"properties"`
}

// axRoles maps the browser's own names of roles to ours.
var axRoles = map[string]string{
	"image": "img", "InputTime": "time", "Date": "date", "DateTime": "datetime", "ColorWell": "color", "DisclosureTriangle": "button",
	"DisclosureTriangleGrouped": "button", "MenuListPopup": "listbox", "Canvas": "canvas", "Video": "video", "Iframe": "iframe", "PopUpButton": "combobox",
	"textbox": "textbox", "LabelText": "label", "EmbeddedObject": "embed", "Details": "group",
}

func (n axNode) role() string {
	if mapped, ok := axRoles[n.Role.Value]; ok {
		return mapped
	}
	return n.Role.Value
}

// states are those both sides speak of.
func (n axNode) states() []string {
	var list []string
	for _, p := range n.Properties {
		v := fmt.Sprint(p.Value.Value)
		switch {
		case p.Name == "checked" && v == "mixed", p.Name == "pressed" && v == "mixed":
			list = append(list, "mixed")
		case p.Name == "expanded" && v == "true":
			list = append(list, "expanded")
		case p.Name == "expanded":
			list = append(list, "collapsed")
		case p.Name == "invalid" && v == "true":
			list = append(list, "invalid")
		case v == "true" && slices.Contains([]string{"checked", "disabled", "pressed", "selected", "required", "readonly", "focused", "modal"}, p.Name):
			list = append(list, p.Name)
		}
	}
	slices.Sort(list)
	return list
}

var shared = []string{"checked", "mixed", "disabled", "pressed", "selected", "required", "readonly", "focused", "expanded", "collapsed", "modal"}

func comparable(states []string) []string {
	var list []string
	for _, s := range states {
		if slices.Contains(shared, s) {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}

// interactive are the roles whose nodes must be targets.
var interactive = []string{"button", "link", "checkbox", "radio", "switch", "textbox", "searchbox", "combobox", "listbox", "slider", "spinbutton", "menuitem",
	"menuitemcheckbox", "menuitemradio", "tab", "treeitem", "date", "time", "datetime", "color"}

func TestWalkAndAccessibilityTreeAgree(t *testing.T) {
	files, err := filepath.Glob("testdata/*.html")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.Contains(file, "huge") || strings.Contains(file, "07-") {
			continue // its size, or its dialog, is another test's
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			agree(t, browsertest.Page(t, string(raw)))
		})
	}
}

func agree(t *testing.T, s *page.Session) {
	r := snapshot.NewRegistry()
	a, err := r.Acquire(t.Context(), s, snapshot.Options{Frames: "main", Explore: true})
	require.NoError(t, err)
	d := a.Documents[0]
	seen := map[int64]bool{}
	for _, n := range a.Sections[0].Nodes {
		if n.Ref == "" {
			continue
		}
		ax, ok := axOf(t, d, n)
		if !ok {
			continue
		}
		seen[ax.Backend] = true
		if ax.Ignored || ax.role() == "generic" || n.Role == "generic" {
			continue // listed for its pointer or listener; the tree has no name for such elements
		}
		where := n.Line()
		assert.Equal(t, ax.role(), roleForTree(n), where)
		assert.Equal(t, core.Normalize(ax.Name.Value), core.Normalize(n.Name), where)
		states := ax.states()
		if n.Role == "combobox" && !n.Has("collapsed") {
			// A native select is closed by default; saying so of each one would tell nothing.
			states = slices.DeleteFunc(states, func(s string) bool { return s == "collapsed" })
		}
		assert.Equal(t, comparable(states), comparable(n.States), where)
	}
	tree := fullTree(t, s)
	parts := browserParts(tree)
	for _, ax := range tree {
		if !ax.Ignored && ax.Backend != 0 && !parts[ax.ID] && slices.Contains(interactive, ax.role()) {
			assert.True(t, seen[ax.Backend], "the walk misses %s %q", ax.Role.Value, ax.Name.Value)
		}
	}
}

// browserParts are the nodes inside the browser's own controls, such as the parts of a date field: the control is one target.
func browserParts(tree []axNode) map[string]bool {
	parts := map[string]bool{}
	roles := map[string]string{}
	for _, n := range tree {
		roles[n.ID] = n.Role.Value
		switch parent := roles[n.Parent]; {
		case parts[n.Parent], n.Role.Value == "MenuListPopup":
			parts[n.ID] = true
		case slices.Contains([]string{"Date", "InputTime", "DateTime", "ColorWell", "spinbutton", "textbox", "searchbox"}, parent):
			parts[n.ID] = true
		}
	}
	return parts
}

// roleForTree is the role under which the tree knows what we call by a name of its own.
func roleForTree(n core.Node) string {
	switch n.Role {
	case "file":
		return "button"
	case "month", "week":
		return "datetime"
	}
	return n.Role
}

func axOf(t *testing.T, d *snapshot.Document, n core.Node) (axNode, bool) {
	t.Helper()
	h := d.Hold()
	defer h.Release()
	handle, err := h.Node(context.Background(), n.Serial)
	require.NoError(t, err)
	var reply struct {
		Nodes []axNode `json:"nodes"`
	}
	require.NoError(t, d.Session.Send(t.Context(), "Accessibility.getPartialAXTree", map[string]any{"objectId": handle, "fetchRelatives": false}, &reply))
	if len(reply.Nodes) == 0 {
		return axNode{}, false
	}
	return reply.Nodes[0], true
}

func fullTree(t *testing.T, s *page.Session) []axNode {
	t.Helper()
	var reply struct {
		Nodes []axNode `json:"nodes"`
	}
	require.NoError(t, s.SendWithin(t.Context(), snapshot.AcquireDeadline, "Accessibility.getFullAXTree", map[string]any{}, &reply))
	return reply.Nodes
}

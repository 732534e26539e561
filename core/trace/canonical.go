package trace

import (
	"encoding/binary"
	"slices"

	"github.com/krometrail/krometrail/core/page"
)

// Canonical serializes a page's structure for the state fingerprint: what it says and offers, in document
// order, without references, generations and focus, which change without the page's content changing.
// The result is never nil.
func Canonical(s *page.Snapshot) []byte {
	out := make([]byte, 0, 4096)
	text := func(t string) {
		out = binary.AppendUvarint(out, uint64(len(t)))
		out = append(out, t...)
	}
	if s == nil {
		return out
	}
	for _, section := range s.Sections {
		text(section.Origin)
		text(section.Unavailable)
		out = binary.AppendUvarint(out, uint64(section.OmittedNodes))
		out = binary.AppendUvarint(out, uint64(len(section.Nodes)))
		for _, node := range section.Nodes {
			out = binary.AppendUvarint(out, uint64(max(node.Depth, 0)))
			text(node.Role)
			text(node.Name)
			text(node.Value)
			text(node.URL)
			states := slices.DeleteFunc(slices.Clone(node.States), func(state string) bool { return state == "focused" })
			slices.Sort(states)
			out = binary.AppendUvarint(out, uint64(len(states)))
			for _, state := range states {
				text(state)
			}
		}
	}
	return out
}

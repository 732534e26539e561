package page

import (
	"errors"
	"strconv"
	"strings"
)

// Ref names one node of one attached document. Text form: e<node>@<generation>, both decimal, from 1.
type Ref struct {
	Node       uint64
	Generation uint64
}

var errRef = errors.New("not a node reference")

// ParseRef reads the canonical text form and nothing else.
func ParseRef(text string) (Ref, error) {
	rest, ok := strings.CutPrefix(text, "e")
	if !ok {
		return Ref{}, errRef
	}
	node, generation, ok := strings.Cut(rest, "@")
	if !ok {
		return Ref{}, errRef
	}
	n, err1 := strconv.ParseUint(node, 10, 53)
	g, err2 := strconv.ParseUint(generation, 10, 53)
	r := Ref{Node: n, Generation: g}
	if err1 != nil || err2 != nil || n == 0 || g == 0 || r.String() != text {
		return Ref{}, errRef
	}
	return r, nil
}

// String is the text form.
func (r Ref) String() string {
	b := make([]byte, 0, 24)
	b = append(b, 'e')
	b = strconv.AppendUint(b, r.Node, 10)
	b = append(b, '@')
	return string(strconv.AppendUint(b, r.Generation, 10))
}

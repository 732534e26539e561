package observe

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
	"github.com/krometrail/krometrail/core/redact"
)

const (
	maxFrameName = 120
	maxFramePath = 512
)

type frameNode struct {
	ID     string `json:"id"`
	Parent string `json:"parentId"`
	Name   string `json:"name"`
	URL    string `json:"url"`
}

type frameTree struct {
	Frame    frameNode   `json:"frame"`
	Children []frameTree `json:"childFrames"`
}

// tree is the frame tree of one session; its root may lie below a frame of another session.
type tree struct {
	session *page.Session
	root    frameTree
}

// Frames lists the page's document frames in preorder.
func (o *Observer) Frames(ctx context.Context, r core.ListFramesRequest) (core.ListFramesResult, error) {
	out := core.ListFramesResult{Frames: []core.Frame{}}
	s, err := o.pages.Page(r.Target)
	if err != nil {
		return out, err
	}
	main, err := treeOf(ctx, s)
	if err != nil {
		return out, err
	}
	remote := map[string][]tree{}
	for _, child := range s.Children() {
		t, err := treeOf(ctx, child)
		if err != nil {
			out.Warnings = append(out.Warnings, fault.New(fault.FrameOmittedFromSnapshot, "an out-of-process frame did not answer and is missing from the list"))
			continue
		}
		remote[t.root.Frame.Parent] = append(remote[t.root.Frame.Parent], t)
	}
	o.list(ctx, &out, s, main, remote)
	return out, nil
}

func treeOf(ctx context.Context, s *page.Session) (tree, error) {
	var reply struct {
		Tree frameTree `json:"frameTree"`
	}
	err := s.Send(ctx, "Page.getFrameTree", nil, &reply)
	return tree{s, reply.Tree}, err
}

func (o *Observer) list(ctx context.Context, out *core.ListFramesResult, s *page.Session, main tree, remote map[string][]tree) {
	qualified := o.qualified(ctx, s)
	var visit func(t tree, f frameTree, depth int)
	visit = func(t tree, f frameTree, depth int) {
		if len(out.Frames) >= core.MaxFrames {
			out.Omitted++
		} else {
			out.Frames = append(out.Frames, o.row(s, t, f.Frame, depth, qualified))
		}
		for _, child := range f.Children {
			visit(t, child, depth+1)
		}
		for _, child := range remote[f.Frame.ID] {
			visit(child, child.root, depth+1)
		}
	}
	visit(main, main.root, 0)
}

func (o *Observer) row(s *page.Session, t tree, f frameNode, depth int, qualified map[string]string) core.Frame {
	row := core.Frame{
		ID: o.snapshots.FrameName(s.Target(), f.ID), Depth: depth, Name: cleanName(f.Name), Origin: origin(f.URL),
	}
	if f.Parent != "" {
		row.Parent = o.snapshots.FrameName(s.Target(), f.Parent)
	}
	switch {
	case t.session != s:
		row.Access = "out_of_process"
	case depth == 0:
		row.Access = "main"
	default:
		if row.Access = qualified[f.ID]; row.Access == "" {
			row.Access = "indeterminate"
		}
	}
	if row.Access == "main" || row.Access == "same_origin" {
		row.Path = clip(redact.Path(f.URL), maxFramePath)
	}
	return row
}

// qualified says of each frame in the page's own process whether it shares the main document's origin. It needs
// the page to answer; frames that it does not tell of are indeterminate.
func (o *Observer) qualified(ctx context.Context, s *page.Session) map[string]string {
	access := map[string]string{}
	acquired, err := o.snapshots.Acquire(ctx, s, snapshot.Options{Frames: "all"})
	if err != nil {
		return access
	}
	for _, d := range acquired.Documents {
		ok, err := o.snapshots.Qualified(ctx, d)
		switch {
		case errors.Is(err, snapshot.ErrGone) || err != nil:
		case ok:
			access[d.FrameID] = "same_origin"
		default:
			access[d.FrameID] = "cross_origin"
		}
	}
	return access
}

// cleanName bounds an author's name and frees it of control characters.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	return clip(name, maxFrameName)
}

func origin(address string) string {
	if o := redact.Origin(address); o != "" {
		return o
	}
	return "opaque"
}

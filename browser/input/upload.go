package input

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/krometrail/krometrail/browser/snapshot"
	"github.com/krometrail/krometrail/core/fault"
	core "github.com/krometrail/krometrail/core/page"
)

func prepareUpload(ctx context.Context, d *Driver, c *call) error {
	r, ok := c.action.Request.(*core.UploadRequest)
	if !ok {
		return wrongRequest(c)
	}
	c.parameters = map[string]any{"files": len(r.Files), "locator": describeElement(r.Element)}
	files, err := canonical(r.Files)
	if err != nil {
		return err
	}
	l, err := d.Snapshots.Locate(ctx, c.session, r.Element)
	if err != nil {
		return err
	}
	var in struct {
		Stale bool   `json:"stale"`
		Node  uint64 `json:"node"`
		Why   string `json:"why"`
		Count int    `json:"count"`
	}
	if err := l.Document.Call(ctx, &in, "uploadInput", l.Node, len(files)); err != nil {
		return err
	}
	if in.Stale {
		return snapshot.Stale(c.session.Target())
	}
	if in.Why != "" {
		return noInput(in.Why, in.Count)
	}
	l.Node = in.Node
	if err := c.concern(ctx, l); err != nil {
		return err
	}
	c.run = func(ctx context.Context, sending func()) (any, error) { return d.upload(ctx, c, l, files, sending) }
	return nil
}

func noInput(why string, n int) error {
	switch why {
	case "single":
		return fault.Input("files", "the file input takes only one file")
	case "several":
		return fault.New(fault.LocatorNotUnique, "no files were given: %d native file inputs (input type=file) belong to the element's surroundings", n).
			WithRecovery("name the native input[type=file] itself with css")
	case "disabled":
		return unreachable(aimed{Why: "disabled"})
	}
	return fault.New(fault.ReferenceNotActionable, "no files were given: the element leads to no native file input (input type=file)").
		WithRecovery("name the native input[type=file] with css; a page may create it only once its button is clicked")
}

// canonical resolves the caller's paths. Errors name the position and never the path.
func canonical(files []string) ([]string, error) {
	out := make([]string, len(files))
	for i, f := range files {
		path, err := filepath.Abs(f)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			return nil, fault.Input(fmt.Sprintf("files[%d]", i), "no such file")
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil, fault.Input(fmt.Sprintf("files[%d]", i), "is not a regular file")
		}
		opened, err := os.Open(path)
		if err != nil {
			return nil, fault.Input(fmt.Sprintf("files[%d]", i), "is not readable")
		}
		_ = opened.Close()
		out[i] = path
	}
	return out, nil
}

func (d *Driver) upload(ctx context.Context, c *call, l snapshot.Located, files []string, sending func()) (any, error) {
	held := l.Document.Hold()
	defer held.Release()
	handle, err := held.Node(ctx, l.Node)
	if err != nil {
		return nil, err
	}
	if handle == "" {
		return nil, snapshot.Stale(c.session.Target())
	}
	sending()
	if err := l.Document.Session.Send(ctx, "DOM.setFileInputFiles", map[string]any{"files": files, "objectId": handle}, nil); err != nil {
		return nil, err
	}
	return core.UploadResult{Files: len(files), Input: l.Ref()}, nil
}

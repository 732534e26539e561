package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/browser/page"
	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
)

// AcquireDeadline bounds one call into a document.
const AcquireDeadline = 20 * time.Second

// ErrGone is the failure of a call into a document that has been replaced.
var ErrGone = errors.New("the document has been replaced")

// Document is one attached document of one frame, with the script of this package in its isolated world.
type Document struct {
	// Session serves the frame: the page's own, or that of an out-of-process frame.
	Session *page.Session
	// FrameID is the browser's name of the frame, Frame ours.
	FrameID string
	Frame   id.DocumentFrame
	// Generation is unique in the browser session.
	Generation uint64
	// World is the execution context of the isolated world.
	World int64
	// Main is set for the page's root frame.
	Main bool

	holds atomic.Uint64
	// replaced is set once another document answered under the number of World: every renderer process counts its
	// execution contexts for itself.
	replaced atomic.Bool
}

// remoteObject is a protocol value that may stay in the page.
type remoteObject struct {
	ObjectID string `json:"objectId"`
	Type     string `json:"type"`
	Subtype  string `json:"subtype"`
}

type exception struct {
	Text      string `json:"text"`
	Exception struct {
		ClassName   string `json:"className"`
		Description string `json:"description"`
	} `json:"exception"`
}

// Call runs a method of the script and decodes its result into out unless that is nil. It fails with ErrGone
// when the document has been replaced, and else like page.Session.Send.
func (d *Document) Call(ctx context.Context, out any, method string, args ...any) error {
	return d.CallWithin(ctx, AcquireDeadline, out, method, args...)
}

// CallWithin is Call with a deadline of its own.
func (d *Document) CallWithin(ctx context.Context, limit time.Duration, out any, method string, args ...any) error {
	var reply struct {
		Result struct {
			Value struct {
				Gone  bool `json:"gone"`
				Value any  `json:"value"`
			} `json:"value"`
		} `json:"result"`
		Exception *exception `json:"exceptionDetails"`
	}
	reply.Result.Value.Value = out
	err := d.Session.SendWithin(ctx, limit, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": invoke, "executionContextId": d.World, "returnByValue": true, "awaitPromise": true,
		"arguments": d.arguments(method, args),
	}, &reply)
	switch {
	case err != nil:
		return gone(err)
	case reply.Result.Value.Gone:
		d.replaced.Store(true)
		return ErrGone
	case reply.Exception != nil:
		return fault.New(fault.PageObservationFailed, "reading the page failed").
			Because(fmt.Errorf("script %s: %s %s", method, reply.Exception.Text, reply.Exception.Exception.Description))
	}
	return nil
}

func (d *Document) arguments(method string, args []any) []any {
	list := []any{map[string]any{"value": d.Generation}, map[string]any{"value": method}}
	for _, a := range args {
		if object, ok := a.(objectArg); ok {
			list = append(list, map[string]any{"objectId": string(object)})
			continue
		}
		list = append(list, map[string]any{"value": a})
	}
	return list
}

// objectArg passes a protocol object.
type objectArg string

// Handles are protocol handles of one piece of work. They are released together, and no other work's are.
type Handles struct {
	*Document
	group string
}

// Hold begins a piece of work with handles; Release must be called.
func (d *Document) Hold() *Handles {
	return &Handles{Document: d, group: fmt.Sprintf("krometrail-%d-%d", d.Generation, d.holds.Add(1))}
}

// Release frees the handles.
func (h *Handles) Release() {
	_ = h.Session.Post("Runtime.releaseObjectGroup", map[string]any{"objectGroup": h.group})
}

// Node returns a handle of a node in the isolated world, "" when the node is gone.
func (h *Handles) Node(ctx context.Context, node uint64) (objectID string, err error) {
	return h.object(ctx, "node", node)
}

// object runs a method whose result stays in the page and returns its handle, "" for null.
func (h *Handles) object(ctx context.Context, method string, args ...any) (string, error) {
	var reply struct {
		Result    remoteObject `json:"result"`
		Exception *exception   `json:"exceptionDetails"`
	}
	err := h.Session.SendWithin(ctx, AcquireDeadline, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": lookup, "executionContextId": h.World, "objectGroup": h.group,
		"arguments": h.arguments(method, args),
	}, &reply)
	if err != nil {
		return "", gone(err)
	}
	if reply.Exception != nil {
		return "", fault.New(fault.PageObservationFailed, "reading the page failed").Because(errors.New(reply.Exception.Text))
	}
	return reply.Result.ObjectID, nil
}

// Ref is the reference of a node of this document.
func (d *Document) Ref(node uint64) string { return reference(node, d.Generation) }

// gone recognises refusals that mean a replaced document.
func gone(err error) error {
	var refusal *cdp.Error
	if errors.As(err, &refusal) && refusal.Code == -32000 {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}
